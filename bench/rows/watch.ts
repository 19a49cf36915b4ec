/**
 * Measures 1,000 watchers that receive the events of one writer, compared with a bare server that writes the same bytes
 * to the same number of streams.
 *
 * h2load opens 960 of the watchers, so that a slow load generator is not the bottleneck. This process opens and times
 * the other 40. First, the writer writes as fast as events arrive, with a few writes in flight. Then, it writes at half
 * that rate, to measure the lag from a write to its event. The number of bytes that h2load received proves that no
 * watcher missed events.
 */
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { noticed, run } from '../load.ts'
import { collection, nameOf, objectJson, pathOf } from '../objects.ts'
import { type Bench, fetchBytes, type Side, token } from '../servers.ts'
import { atLeast, atMost, perSecond, quantile, type Row, short } from '../table.ts'
import { cpuOf, cpuOfGenerators, cpuOfMachine } from '../usage.ts'

const connections = 4
const streams = 240
const samples = 40
const watchers = connections * streams + samples
const underWay = 8
const phaseMs = 3000
const lifetime = 12
/** Time in milliseconds to wait until buffered events of the fast writer have arrived. */
const settleMs = 1500

/** The server to watch, the path of the watch, and a function that writes an object. */
export interface FanOut {
  readonly side: Side
  readonly path: string
  /** Accept header. Defaults to JSON. */
  readonly accept?: string
  write(client: Client, index: number): Promise<void>
}

export interface Figures {
  /** Total number of events per second sent to all watchers. */
  readonly delivered: number
  /** Microseconds of the server's CPU time per event and watcher. */
  readonly cpu: number
  readonly loop: number
  readonly p50: number
  readonly p99: number
  /** Fraction of the expected events that h2load's watchers received. */
  readonly received: number
  /** Number of CPUs that other programs used during the run. */
  readonly others: number
}

export const watchRows = {
  name: 'watch',
  async run(bench: Bench): Promise<Row[]> {
    const directory = await bench.filled(1000)
    const ours = await figuresOf(await startOurs(bench, directory))
    const bare = await figuresOf(await startBare(bench, directory))
    return [deliveredRow(ours, bare), lagRow(ours, bare)]
  },
}

export async function startOurs(bench: Bench, directory: string): Promise<FanOut> {
  const side = await bench.startOrch(directory)
  const list = JSON.parse((await fetchBytes(side, `${collection}?limit=1`)).toString('utf8'))
  const query = `watch=1&resourceVersion=${list.metadata.resourceVersion}&timeoutSeconds=${lifetime}`
  const write = (client: Client, index: number) =>
    client.send('PUT', pathOf(index % 100), objectJson(nameOf(index % 100), `event ${index}`))
  return { side, path: `${collection}?${query}`, write }
}

export async function startBare(bench: Bench, directory: string): Promise<FanOut> {
  const side = await bench.startBare(directory)
  const event = `${JSON.stringify({ type: 'MODIFIED', object: 'x'.repeat(1000) })}\n`
  return {
    side,
    path: `/watch?timeoutSeconds=${lifetime}`,
    write: (client) => client.send('POST', '/event', event),
  }
}

export async function figuresOf(target: FanOut): Promise<Figures> {
  const others = watchOthers(target.side)
  const crowd = watchWithH2load(target)
  const client = await Client.connect(target.side)
  const arrivals = new Arrivals()
  await Promise.all(
    Array.from({ length: samples }, (_, i) => client.watch(target.path, arrivals.receiver(i), target.accept)),
  )
  await setTimeout(700)
  const writer = await Client.connect(target.side)

  const before = cpuOf(target.side.pid)
  const start = performance.now()
  await writeFast(target, writer, arrivals)
  await arrivals.all()
  const seconds = (performance.now() - start) / 1000
  const after = cpuOf(target.side.pid)
  const fast = arrivals.sent.length

  await setTimeout(settleMs)
  await writePaced(target, writer, { arrivals, rate: fast / seconds / 2 })
  await arrivals.all()
  const lags = arrivals.lagsAfter(fast)
  const dataBytes = await crowd
  writer.close()
  client.close()
  const othersBusy = others()
  await target.side.stop()
  return {
    delivered: (fast / seconds) * watchers,
    cpu: ((after.total - before.total) / (fast * watchers)) * 1e6,
    loop: (after.main - before.main) / seconds,
    p50: quantile(lags, 0.5),
    p99: quantile(lags, 0.99),
    received: dataBytes / ((arrivals.bytes / samples) * connections * streams),
    others: othersBusy,
  }
}

/**
 * Returns a function that reports how many CPUs other programs used. Call the function when all load generators have
 * exited.
 */
export function watchOthers({ pid }: Side): () => number {
  const used = () => cpuOfMachine() - cpuOf(pid).total - cpuOfGenerators()
  const before = used()
  const start = performance.now()
  return () => Math.max(0, (used() - before) / ((performance.now() - start) / 1000))
}

/** Resolves with the number of event bytes that h2load's watchers received, once the server has ended the watches. */
async function watchWithH2load({ side, path, accept = 'application/json' }: FanOut): Promise<number> {
  const output = await run('h2load', [
    ...['-t1', `-c${connections}`, `-m${streams}`, `-n${connections * streams}`],
    ...['-H', `authorization: Bearer ${token}`, '-H', `accept: ${accept}`, `${side.origin}${path}`],
  ])
  return Number(/\((\d+)\) data/.exec(output)?.[1] ?? Number.NaN)
}

async function writeFast({ write }: FanOut, writer: Client, arrivals: Arrivals): Promise<void> {
  const end = performance.now() + phaseMs
  const one = async () => {
    while (performance.now() < end) {
      const index = arrivals.begin()
      await write(writer, index)
      await arrivals.has(index)
    }
  }
  await Promise.all(Array.from({ length: underWay }, one))
}

interface Pace {
  readonly arrivals: Arrivals
  readonly rate: number
}

async function writePaced({ write }: FanOut, writer: Client, { arrivals, rate }: Pace): Promise<void> {
  const start = performance.now()
  const writes: Promise<void>[] = []
  for (let i = 0; i < (phaseMs / 1000) * rate; i++) {
    await setTimeout(Math.max(0, start + (i * 1000) / rate - performance.now()))
    writes.push(write(writer, arrivals.begin()))
  }
  await Promise.all(writes)
}

const patience = 15_000

/** Send times of the writes and arrival times of their events. The k-th event belongs to the k-th write. */
class Arrivals {
  readonly sent: number[] = []
  bytes = 0
  readonly #receiveTimes: number[][] = Array.from({ length: samples }, () => [])
  #waiting: { readonly index: number; readonly resolve: () => void }[] = []

  /** Records the current time as the send time of a write. */
  begin(): number {
    return this.sent.push(performance.now()) - 1
  }

  receiver(sample: number): (count: number, bytes: number) => void {
    const receiveTimes = this.#receiveTimes[sample]!
    return (count, bytes) => {
      this.bytes += bytes
      const now = performance.now()
      for (let i = 0; i < count; i++) receiveTimes.push(now)
      if (count > 0 && this.#waiting.length > 0) this.#wake()
    }
  }

  /** Resolves when every timed watcher has received the event for this write. */
  has(index: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = globalThis.setTimeout(() => reject(new Error('an event did not arrive')), patience)
      this.#waiting.push({
        index,
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
      })
      this.#wake()
    })
  }

  all(): Promise<void> {
    return this.has(this.sent.length - 1)
  }

  /** Returns the lag of each event in milliseconds, skipping the first `count` writes. */
  lagsAfter(count: number): number[] {
    return this.#receiveTimes.flatMap((receiveTimes) =>
      receiveTimes.slice(count).map((at, i) => at - this.sent[count + i]!),
    )
  }

  #wake(): void {
    const least = Math.min(...this.#receiveTimes.map((receiveTimes) => receiveTimes.length))
    for (const { index, resolve } of this.#waiting) if (index < least) resolve()
    this.#waiting = this.#waiting.filter(({ index }) => index >= least)
  }
}

function deliveredRow(ours: Figures, bare: Figures): Row {
  const byRate = ours.delivered / bare.delivered
  const byCpu = bare.cpu / ours.cpu
  return {
    name: '1,000 watchers: events delivered',
    ours: perSecond(ours.delivered),
    bare: perSecond(bare.delivered),
    ...atLeast(0.5, Math.max(ours.others, bare.others) >= noticed ? byCpu : byRate),
    ratio: byRate,
    byCpu,
    cpu: `${short(ours.cpu)} / ${short(bare.cpu)} µs`,
    note: `per event and watcher; received ${short(ours.received * 100)}% / ${short(bare.received * 100)}%; loop ${short(ours.loop * 100)}% / ${short(bare.loop * 100)}% full`,
    figures: { ours: ours.delivered, bare: bare.delivered, oursCpu: ours.cpu, bareCpu: bare.cpu },
  }
}

function lagRow(ours: Figures, bare: Figures): Row {
  return {
    name: '1,000 watchers: p99 lag at half load',
    ours: `${short(ours.p99)} ms`,
    bare: `${short(bare.p99)} ms`,
    ratio: bare.p99 / ours.p99,
    ...atMost(50, ours.p99, 'ms'),
    note: `p50 ${short(ours.p50)} / ${short(bare.p50)} ms; ours commits each write; other programs ${ours.others.toFixed(1)} / ${bare.others.toFixed(1)} processors`,
    figures: { ours: ours.p99, bare: bare.p99, oursP50: ours.p50, bareP50: bare.p50 },
  }
}
