/**
 * Measures the delivery of events to 300 watchers, each with its own HTTP/1.1 connection. The events come from one
 * writer or from 16 concurrent writers. Compares the delivery with a bare server that writes the same bytes to the same
 * number of connections. The number of bytes that h2load received proves that no watcher missed events.
 */
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { noticed, run } from '../load.ts'
import { type Bench, token } from '../servers.ts'
import { atLeast, perSecond, type Row, short } from '../table.ts'
import { cpuOf } from '../usage.ts'
import { type FanOut, startBare, startOurs, watchOthers } from './watch.ts'

const watchers = 300
const writerCounts = [1, 16] as const
const writeMs = 4000
/** Time in milliseconds until all watches have started. */
const settleMs = 1000

export const fanOutRows = {
  name: 'fan-out',
  async run(bench: Bench): Promise<Row[]> {
    const directory = await bench.filled(1000)
    const rows: Row[] = []
    for (const writers of writerCounts) {
      const ours = await figuresOf(await startOurs(bench, directory), writers)
      const bare = await figuresOf(await startBare(bench, directory), writers)
      rows.push(row(writers, ours, bare))
    }
    return rows
  },
}

interface Figures {
  /** Total number of events per second sent to all watchers. */
  readonly delivered: number
  /** Microseconds of the server's CPU time per event and watcher. */
  readonly cpu: number
  /** Fraction of the expected bytes that the watchers received. */
  readonly received: number
  /** Number of CPUs that other programs used during the run. */
  readonly others: number
}

async function figuresOf(target: FanOut, writers: number): Promise<Figures> {
  const { side } = target
  const others = watchOthers(side)
  const crowd = receivedBytes(target, watchers)
  const single = receivedBytes(target, 1)
  await setTimeout(settleMs)
  const client = await Client.connect(side)
  const before = cpuOf(side.pid).total
  const events = (await writeFor(target, client, writers)) * watchers
  const received = (await crowd) / ((await single) * watchers)
  // Measure until the watches end, because a server may send its last events only then.
  const cpu = cpuOf(side.pid).total - before
  client.close()
  const delivered = events * received
  const figures = { delivered: delivered / (writeMs / 1000), cpu: (cpu / delivered) * 1e6, received, others: others() }
  await side.stop()
  return figures
}

/** Resolves with the number of bytes that all watchers received, once the server has ended the watches. */
async function receivedBytes({ side, path }: FanOut, count: number): Promise<number> {
  const output = await run('h2load', [
    ...['--h1', '-t1', `-c${count}`, `-n${count}`, '-H', `authorization: Bearer ${token}`, `${side.origin}${path}`],
  ])
  return Number(/\((\d+)\) data/.exec(output)?.[1] ?? Number.NaN)
}

/** Writes as fast as possible for a fixed time. Returns the number of writes. */
async function writeFor({ write }: FanOut, client: Client, writers: number): Promise<number> {
  const end = performance.now() + writeMs
  let writes = 0
  const work = async () => {
    while (performance.now() < end) await write(client, writes++)
  }
  await Promise.all(Array.from({ length: writers }, work))
  return writes
}

function row(writers: number, ours: Figures, bare: Figures): Row {
  const byRate = ours.delivered / bare.delivered
  const byCpu = bare.cpu / ours.cpu
  return {
    name: `${watchers} watchers, ${writers === 1 ? 'one writer' : `${writers} writers`}: events delivered`,
    ours: perSecond(ours.delivered),
    bare: perSecond(bare.delivered),
    ...atLeast(0.5, Math.max(ours.others, bare.others) >= noticed ? byCpu : byRate),
    ratio: byRate,
    byCpu,
    cpu: `${short(ours.cpu)} / ${short(bare.cpu)} µs`,
    note: `per event and watcher; received ${short(ours.received * 100)}% / ${short(bare.received * 100)}%`,
    figures: { ours: ours.delivered, bare: bare.delivered, oursCpu: ours.cpu, bareCpu: bare.cpu },
  }
}
