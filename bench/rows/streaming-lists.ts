/**
 * Compares 100 streaming lists of 10,000 objects with 100 plain lists of the same objects, and 50 informers of
 * `orch/client` with and without streaming lists. In these rows, the bare limit is the same server with plain lists.
 */
import { spawnSync } from 'node:child_process'
import { request } from 'node:https'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { collection } from '../objects.ts'
import { type Bench, fetchBytes, type Side, token } from '../servers.ts'
import { megabytes, type Row, short } from '../table.ts'
import { cpuOf, memoryOf, resetPeak } from '../usage.ts'

const lists = 100
/** Emulates a version that supports streaming lists. */
const version = '--emulated-version=1.36'
const streaming =
  '?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion='
const endOfInitialEvents = Buffer.from('initial-events-end')
const root = dirname(dirname(import.meta.dirname))

export const streamingListRows = {
  name: 'streaming-lists',
  async run(bench: Bench): Promise<Row[]> {
    const large = await bench.fill(10_000)
    const plain = await measured(bench, large, collection)
    const streamed = await measured(bench, large, `${collection}${streaming}`)
    const small = await bench.startOrch(await bench.fill(1_000), [version])
    const informers = { plain: startInformers(small, false), streamed: startInformers(small, true) }
    await small.stop()
    return [timeRow(streamed, plain), memoryRow(streamed, plain), informerRow(informers)]
  },
}

interface Figures {
  /** Milliseconds until all clients have all objects. */
  readonly ms: number
  /** Seconds of the server's CPU time. */
  readonly cpu: number
  /** Increase in the server's peak memory in bytes. */
  readonly memory: number
  readonly bytes: number
}

/** Sends the requests simultaneously to a newly started server that has already sent the objects once. */
async function measured(bench: Bench, directory: string, path: string): Promise<Figures> {
  const side = await bench.startOrch(directory, [version])
  await fetchBytes(side, collection)
  await setTimeout(1000)
  resetPeak(side.pid)
  const before = memoryOf(side.pid).resident
  const cpu = cpuOf(side.pid).total
  const began = performance.now()
  const counts = await Promise.all(Array.from({ length: lists }, () => receiveAll(side, path)))
  const ms = performance.now() - began
  const figures = { ms, cpu: cpuOf(side.pid).total - cpu, memory: memoryOf(side.pid).peak - before }
  await side.stop()
  return { ...figures, bytes: counts.reduce((sum, count) => sum + count, 0) }
}

/**
 * Resolves with the number of received bytes when the list has ended or, for a streaming list, when its bookmark has
 * arrived.
 */
function receiveAll({ port }: Side, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const options = { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false } as const
    const sent = request(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${response.statusCode}`))
      let bytes = 0
      let tail: Buffer = Buffer.alloc(0)
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        tail = Buffer.concat([tail.subarray(-endOfInitialEvents.length), chunk])
        if (!tail.includes(endOfInitialEvents)) return
        resolve(bytes)
        sent.destroy()
      })
      response.on('end', () => resolve(bytes))
    })
    sent.on('error', reject)
    sent.end()
  })
}

function timeRow(streamed: Figures, plain: Figures): Row {
  const text = ({ ms, bytes }: Figures) => `${short(ms)} ms, ${megabytes(bytes)}`
  return {
    name: `${lists} streaming lists of 10,000, beside plain lists`,
    ours: text(streamed),
    bare: text(plain),
    ratio: plain.ms / streamed.ms,
    byCpu: plain.cpu / streamed.cpu,
    cpu: `${short((streamed.cpu / lists) * 1000)} / ${short((plain.cpu / lists) * 1000)} ms`,
    note: 'until the last client has all objects',
    figures: { ours: streamed.ms, bare: plain.ms, oursCpu: streamed.cpu, bareCpu: plain.cpu },
  }
}

function memoryRow(streamed: Figures, plain: Figures): Row {
  return {
    name: `${lists} streaming lists of 10,000: growth of memory`,
    ours: megabytes(streamed.memory),
    bare: megabytes(plain.memory),
    ratio: plain.memory / streamed.memory,
    note: 'peak; bare: plain lists',
    figures: { ours: streamed.memory, bare: plain.memory },
  }
}

interface InformerFigures {
  readonly requests: number
  readonly bytes: number
  readonly ms: number
  /** Milliseconds of CPU time of the client and of the server. */
  readonly clientCpu: number
  readonly serverCpu: number
}

/** Starts 50 informers of 1,000 objects each in a separate process. */
function startInformers(side: Side, streamingLists: boolean): InformerFigures {
  const program = join(root, 'bench/informers-program.ts')
  const before = cpuOf(side.pid).total
  const { status, stdout, stderr } = spawnSync(join(root, 'bin/node'), [program, side.origin, String(streamingLists)], {
    encoding: 'utf8',
    env: { ...process.env, BENCH_TOKEN: token },
  })
  if (status !== 0) throw new Error(`bench/informers-program.ts failed: ${stderr}`)
  return { ...JSON.parse(stdout), serverCpu: (cpuOf(side.pid).total - before) * 1000 }
}

function informerRow({ streamed, plain }: { readonly [side in 'streamed' | 'plain']: InformerFigures }): Row {
  const text = ({ requests, bytes, ms }: InformerFigures) =>
    `${requests} requests, ${megabytes(bytes)}, ${short(ms)} ms`
  const cpu = ({ clientCpu, serverCpu }: InformerFigures) => clientCpu + serverCpu
  return {
    name: 'start of 50 informers with streaming lists, beside plain lists',
    ours: text(streamed),
    bare: text(plain),
    ratio: plain.ms / streamed.ms,
    byCpu: cpu(plain) / cpu(streamed),
    note: `CPU of client and server: ${[streamed, plain].map((each) => `${short(each.clientCpu)} + ${short(each.serverCpu)} ms`).join(' / ')}`,
    figures: Object.fromEntries(
      Object.entries({ streamed, plain }).flatMap(([side, figures]) =>
        Object.entries(figures).map(([name, value]) => [`${side}.${name}`, value]),
      ),
    ),
  }
}
