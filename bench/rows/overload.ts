/**
 * Measures the cost of priority and fairness without queueing: GET and create by a user who is not exempt, compared
 * with a server without limits. Also measures the benefit: the latency of a quiet user while another user floods the
 * server.
 */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { compare, compared, type Drive, http1, limits } from '../load.ts'
import { collection, objectJson } from '../objects.ts'
import { type Bench, quietToken, readerToken, type Side } from '../servers.ts'
import { quantile, type Row, short } from '../table.ts'

export const allowed = ['--authorization-mode=AlwaysAllow']
export const unlimited = [
  ...allowed,
  '--enable-priority-and-fairness=false',
  '--max-requests-inflight=0',
  '--max-mutating-requests-inflight=0',
]
const script = join(import.meta.dirname, '../writes.lua')
export const path = `${collection}/one`

export const overloadRows = {
  name: 'overload',
  async run(bench: Bench): Promise<Row[]> {
    const on = await prepare(bench, allowed)
    const off = await prepare(bench, unlimited)
    const rows = [
      await costRow('GET 1 kB, fairness on', http1(path, { connections: 32, bearer: readerToken }), { on, off }),
      await costRow('create 1 kB, fairness on', creates(), { on, off }),
      await neighbourRow(on),
    ]
    await Promise.all([on.stop(), off.stop()])
    return rows
  },
}

/** Starts a server with one object for the rows to read. */
export async function prepare(bench: Bench, flags: readonly string[]): Promise<Side> {
  const side = await bench.startOrch(bench.newDirectory(), flags)
  const client = await Client.connect(side)
  await client.send('POST', collection, objectJson('one', 'TEXT'))
  client.close()
  return side
}

/** Returns a load that creates objects. Each run uses new names. */
export function creates(): Drive {
  let driven = 0
  return (side, seconds) => {
    const scriptArgs = ['create', `r${driven++}-`, objectJson('NAME', 'TEXT')]
    return http1(collection, { connections: 32, bearer: readerToken, script, scriptArgs })(side, seconds)
  }
}

/**
 * Applies the same load to two servers, one with a feature enabled and one with the feature disabled, and compares the
 * results.
 */
export async function costRow(
  name: string,
  drive: Drive,
  { on, off }: { readonly on: Side; readonly off: Side },
  beside = 'beside no limits',
): Promise<Row> {
  const { ours, bare } = await compare({ side: on, drive }, { side: off, drive })
  return { name, ...compared(0.9, ours, bare), note: `${beside}; ${limits(ours, bare)}` }
}

const floodSeconds = 8
/**
 * Time in milliseconds for the flooding client to open its connections before the measurement begins, because the
 * measurement must not include handshakes.
 */
const handshakesMs = 3000

/**
 * Measures the latency of a quiet user who reads ten times a second. Meanwhile, another user writes from 400
 * connections as fast as responses arrive.
 */
async function neighbourRow(side: Side): Promise<Row> {
  const client = await Client.connect(side, quietToken)
  const quiet = await waits(client, 2)
  const body = objectJson('NAME', 'TEXT')
  const flood = http1(collection, { connections: 400, bearer: readerToken, script, scriptArgs: ['create', 'n-', body] })
  const flooding = flood(side, floodSeconds)
  await setTimeout(handshakesMs)
  const crowded = await waits(client, floodSeconds - handshakesMs / 1000 - 1)
  const { requests, failed } = await flooding
  client.close()
  const p99 = quantile(crowded, 0.99)
  const before = quantile(quiet, 0.99)
  return {
    name: 'GET of a quiet user during a flood, p99',
    ours: `${short(p99)} ms`,
    bare: `${short(before)} ms`,
    note: `bare: without the flood; of the flood ${requests} were answered, ${failed} of them with 429`,
    figures: { p99, before, requests, failed },
  }
}

async function waits(client: Client, seconds: number): Promise<number[]> {
  const waitTimes: number[] = []
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await setTimeout(100)) {
    const begin = performance.now()
    await client.send('GET', path, '')
    waitTimes.push(performance.now() - begin)
  }
  return waitTimes
}
