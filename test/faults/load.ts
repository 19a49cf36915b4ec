/**
 * Shared code for the fault tests under load: writers, watches that resume, and the log with which all results are
 * compared.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { RandomSource } from '../storage/store/random-source.ts'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import type { Change, Write } from './history.ts'
import type { Recorder } from './recorder.ts'

const keys = Array.from({ length: 200 }, (_, i) => `key-${i}`)

/**
 * Delay in milliseconds for writers that continue during a fault. Without the delay, the writers would keep every core
 * busy.
 */
export const restMs = long ? 0 : 15

interface Load {
  readonly random: RandomSource
  readonly signal: AbortSignal
  readonly reader?: Recorder
  /** Delay after each call, in milliseconds. Undefined means no delay. */
  readonly restMs?: number
}

/**
 * Writes and reads at random, in sequence, until the signal aborts. Often reads a value back immediately with `reader`,
 * to detect a server that lags behind another server.
 */
export async function workload(recorder: Recorder, { random, signal, reader, restMs = 0 }: Load): Promise<void> {
  while (!signal.aborted) {
    const key = random.pick(keys)
    const die = random.below(100)
    if (die < 35) await recorder.create(key)
    else if (die < 65) await recorder.update(key)
    else if (die < 80) await recorder.delete(key)
    else if (die < 98) await recorder.get(key)
    else await recorder.list()
    if (reader !== undefined && die < 80) await (random.chance(0.2) ? reader.list() : reader.get(key))
    // While the server is down, every call fails immediately.
    if (recorder.writes.at(-1)?.outcome === 'ambiguous') await delay(20)
    else if (restMs > 0) await delay(restMs)
  }
}

/** A watch that resumes whenever it breaks, and ends at a revision. */
export class Follower {
  readonly receivedChanges: Change[] = []
  readonly #stop = new AbortController()
  readonly #done: Promise<void>
  #until = Number.POSITIVE_INFINITY

  /**
   * Starts to watch. If `clients` is set, each connection lasts a second, and the next connection uses the next client.
   */
  constructor(recorder: Recorder, start: number, clients?: readonly HttpClient[]) {
    this.#done = this.#follow(recorder.watch(start, this.#stop.signal, clients ? { clients, seconds: 1 } : {}))
  }

  /** Stops the watch immediately, even if it has not received all events. */
  stop(): void {
    this.#stop.abort()
  }

  /** Resolves when the watch has reached this revision. Fails if the watch never reaches it. */
  async reach(revision: number): Promise<void> {
    this.#until = revision
    if ((this.receivedChanges.at(-1)?.revision ?? 0) >= revision) this.#stop.abort()
    await this.#done
  }

  async #follow(changes: AsyncIterable<Change>): Promise<void> {
    for await (const change of changes) {
      this.receivedChanges.push(change)
      if (change.revision >= this.#until) return
    }
  }
}

/** Reads the whole log, up to a final write that is made for this purpose. */
export async function readLog(recorder: Recorder, start: number): Promise<Change[]> {
  await recorder.create('last')
  const last = recorder.writes.at(-1)!.revision
  const follower = new Follower(recorder, start)
  await follower.reach(last)
  assert.equal(follower.receivedChanges.at(-1)?.revision, last)
  return follower.receivedChanges
}

/**
 * Measures how long it takes until a server acknowledges a new write, in milliseconds. These writes are not recorded.
 * Each has a timeout of one second, because a write that an etcd member has forwarded to a dead leader waits for seven
 * seconds.
 */
export async function untilWritable(client: HttpClient, patienceMs = 60_000): Promise<number> {
  const path = '/api/v1/namespaces/default/secrets?timeout=1s'
  const started = performance.now()
  for (;;) {
    const { status, text } = await client.post(path, { metadata: { generateName: 'p-' } })
    const passed = performance.now() - started
    if (status === 201) return passed
    assert.ok(passed < patienceMs, `nothing is written: ${text}`)
    await delay(20)
  }
}

/**
 * Waits until the given number of further writes is acknowledged. Counting writes rather than time makes the load
 * independent of other programs.
 */
export async function acknowledged(recorder: Recorder, more: number): Promise<void> {
  const goal = outcomes(recorder.writes).acknowledged + more
  while (outcomes(recorder.writes).acknowledged < goal) await delay(2)
}

export async function revisionOf(client: HttpClient): Promise<number> {
  const { body } = await client.get('/api/v1/namespaces/default/configmaps')
  return Number(body.metadata.resourceVersion)
}

export function outcomes(writes: readonly Write[]): { [O in Write['outcome']]: number } {
  const counts = { acknowledged: 0, refused: 0, ambiguous: 0 }
  for (const { outcome } of writes) counts[outcome]++
  return counts
}

export function report(t: TestContext, counts: { readonly [name: string]: number }): void {
  t.diagnostic(
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', '),
  )
}
