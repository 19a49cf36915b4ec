/**
 * Attacks a server from a separate process, so that the attacks do not disturb the measurements of the test. The
 * program prepares the attacks when it receives a target, attacks when it receives the names of attacks and a duration,
 * and finally returns a summary.
 */
import { spawnSync } from 'node:child_process'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { answerRaw, floods } from '../support/raw-answers.ts'
import { type Attack, Attacker, attacks, closeHeldConnections, prepare, type Target } from './attacks.ts'

/** The message that the test sends when the server is ready for the attacks. */
export interface Order {
  readonly names: readonly string[]
  readonly seconds: number
}

/** The webhook that the attacker controls. */
export interface Prepared {
  readonly url: string
  readonly caBundle: string
}

export interface AttackCount {
  runs: number
  bytes: number
  /** Number of attacks that the server or the network ended with an error. */
  failed: number
  lastError?: string
}

export type AttackOutcome = { [name: string]: AttackCount }

const webhookBytes = 4 * 1024 * 1024
/** The period over which the attacks are started, so that they do not all start at once. */
const spreadMs = 2_500
const lowestPriority = 19

/**
 * Gives this process only CPU time that no other process uses. A real attacker would use separate machines, so the test
 * must measure the server rather than how the kernel divides the cores (docs/decisions/0043). Even a process with the
 * lowest priority may finish its time slice of a few milliseconds before the server gets the core. The idle policy of
 * Linux avoids this delay.
 */
function yieldCores(): void {
  const chrt = spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(process.pid)])
  if (chrt.status !== 0) setPriority(lowestPriority)
}

yieldCores()

interface Times {
  readonly begin: number
  readonly end: number
}

async function repeat(attacker: Attacker, { gapMs, run }: Attack, { begin, end }: Times): Promise<AttackCount> {
  const count: AttackCount = { runs: 0, bytes: 0, failed: 0 }
  await delay(Math.max(0, begin - performance.now()))
  for (; performance.now() < end; await delay(gapMs)) {
    const turn = count.runs++
    try {
      count.bytes += await run(attacker, turn)
    } catch (error) {
      count.failed++
      count.lastError = String(error)
    }
  }
  return count
}

async function attack(attacker: Attacker, { names, seconds }: Order): Promise<AttackOutcome> {
  const now = performance.now()
  const counts = await Promise.all(
    names.map(async (name, i) => {
      const times = { begin: now + (i * spreadMs) / names.length, end: now + seconds * 1000 }
      return [name, await repeat(attacker, attacks[name]!, times)] as const
    }),
  )
  closeHeldConnections()
  return Object.fromEntries(counts)
}

process.once('message', async (target: Target) => {
  const attacker = new Attacker(target)
  await prepare(attacker)
  const webhook = await answerRaw({ after: () => {} }, (socket) => void floods.trailers!(socket, webhookBytes))
  process.once('message', async (order: Order) => {
    process.send!(await attack(attacker, order), () => process.exit())
  })
  process.send!({ url: `${webhook.url}/`, caBundle: webhook.caBundle } satisfies Prepared)
})
