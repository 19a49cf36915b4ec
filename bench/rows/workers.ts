/**
 * Measures `--workers`. Compares the gain from two and four event loops with that of a bare Node.js server with the
 * same number of threads. Also measures the cost of additional workers: CPU time per request, the latency of a single
 * durable create, and memory. Finally, measures a server with more workers than cores, and a server with `auto`, which
 * starts with one worker and has time to add others before the measurement.
 */
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { cpuPair, type Drive, http1, limitOf, type Measured, measure, run } from '../load.ts'
import { collection, nameOf, objectJson, pathOf } from '../objects.ts'
import { type Bench, fetchBytes, type Side, token } from '../servers.ts'
import { megabytes, perSecond, type Row, short } from '../table.ts'
import { cpuOf, memoryOf } from '../usage.ts'
import { creates } from './writes.ts'

const counts = [1, 2, 4, 'auto'] as const
type Count = (typeof counts)[number]
/** Time in seconds to keep `auto` under load before the measurement, so that it adds its workers. */
const scalingSeconds = 15
const objects = 10_000
const seconds = 4
const script = new URL('../writes.lua', import.meta.url).pathname

interface Rates {
  readonly get: Measured
  readonly list: Measured
  readonly create: Measured
  readonly lone: Measured
  readonly bare: Measured
  /** Fan-out results by number of writers. */
  readonly fanOut: { readonly [writers: number]: FanOut }
  /** Private memory of the idle server in bytes. */
  readonly memory: number
}

export const workerRows = {
  name: 'workers',
  async run(bench: Bench): Promise<Row[]> {
    const measured: Rates[] = []
    for (const workers of counts) measured.push(await ratesOf(bench, workers))
    return counts.flatMap((workers, i) => rowsOf(workers, measured[i]!, measured[0]!))
  },
}

async function ratesOf(bench: Bench, workers: Count): Promise<Rates> {
  const directory = await bench.fill(objects)
  const side = await bench.startOrch(directory, [`--workers=${workers}`])
  const memory = await atRest(side)
  const path = pathOf(5000)
  const bareSide = await bench.startBare(directory, { get: await fetchBytes(side, path), workers: threadsOf(workers) })
  const get = http1(path, { connections: 64 })
  if (workers === 'auto') await get(side, scalingSeconds)
  const rates = {
    memory,
    get: await warmed(side, get),
    bare: await warmed(bareSide, get),
    list: await warmed(side, http1(`${collection}?limit=500`, { connections: 16 })),
    lone: await measure(side, loneCreates, seconds),
    create: await warmedCreates(side),
    fanOut: { 1: await fanOut(side, 1), 16: await fanOut(side, 16) },
  }
  await Promise.all([side.stop(), bareSide.stop()])
  return rates
}

function threadsOf(workers: Count): number {
  return workers === 'auto' ? availableParallelism() : workers
}

async function warmed(side: Side, drive: Drive): Promise<Measured> {
  await drive(side, 2)
  return await measure(side, drive, seconds)
}

async function warmedCreates(side: Side): Promise<Measured> {
  await creates('warm-')(side, 2)
  return await measure(side, creates('made-'), seconds)
}

const loneCreates: Drive = (side, time) =>
  http1(collection, { connections: 1, script, scriptArgs: ['create', 'lone-', objectJson('NAME', 'TEXT')] })(side, time)

async function atRest(side: Side): Promise<number> {
  for (let i = 0; i < 20; i++) await fetchBytes(side, `${collection}?limit=500`)
  await setTimeout(1500)
  return memoryOf(side.pid).own
}

interface FanOut {
  /** Total number of events per second sent to all watchers. */
  readonly delivered: number
  /** Microseconds of the server's CPU time per event. */
  readonly cpu: number
}

const watchers = 300
const watchSeconds = 12

/**
 * Opens a separate connection for each watcher. Several writers send writes, and each of them waits for the response
 * before it sends the next write.
 */
async function fanOut(side: Side, writers: number): Promise<FanOut> {
  const watching = h2loadWatchers(side)
  const clients = await Promise.all(Array.from({ length: writers }, () => Client.connect(side)))
  while ((await watchersOf(side)) < watchers) await setTimeout(100)
  const before = cpuOf(side.pid).total
  const end = performance.now() + seconds * 1000
  let written = 0
  const write = async (client: Client) => {
    for (; performance.now() < end; written++)
      await client.send('PUT', pathOf(written % 100), objectJson(nameOf(written % 100), `event ${written}`))
  }
  await Promise.all(clients.map(write))
  for (const client of clients) client.close()
  await watching
  const events = written * watchers
  return { delivered: events / seconds, cpu: ((cpuOf(side.pid).total - before) / events) * 1e6 }
}

async function h2loadWatchers(side: Side): Promise<void> {
  const list = JSON.parse((await fetchBytes(side, `${collection}?limit=1`)).toString('utf8'))
  const query = `watch=1&resourceVersion=${list.metadata.resourceVersion}&timeoutSeconds=${watchSeconds}`
  const path = `${side.origin}${collection}?${query}`
  await run('h2load', ['-t1', `-c${watchers}`, '-m1', `-n${watchers}`, '-H', `authorization: Bearer ${token}`, path])
}

async function watchersOf(side: Side): Promise<number> {
  const text = (await fetchBytes(side, '/metrics', 'text/plain')).toString('utf8')
  return Number(/^apiserver_registered_watchers\{.*kind="ConfigMap".*\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

function fanOutRow(workers: Count, writers: number, { now, one }: { now: FanOut; one: FanOut }): Row {
  return {
    name: `fan-out to ${watchers} connections, ${writers} writers, --workers=${workers}`,
    ours: perSecond(now.delivered),
    bare: '',
    ratio: now.delivered / one.delivered,
    byCpu: one.cpu / now.cpu,
    cpu: `${short(now.cpu)} µs per event`,
    figures: { delivered: now.delivered, cpu: now.cpu },
  }
}

function rowsOf(workers: Count, now: Rates, one: Rates): Row[] {
  const row = (what: 'get' | 'list' | 'create' | 'lone', title: string): Row => ({
    name: `${title}, --workers=${workers}`,
    ours: perSecond(now[what].perSecond),
    bare: what === 'get' ? perSecond(now.bare.perSecond) : '',
    ratio: now[what].perSecond / one[what].perSecond,
    byCpu: one[what].cpu / now[what].cpu,
    cpu: cpuPair(now[what], what === 'get' ? now.bare : undefined),
    note: `beside one worker; p50 ${short(now[what].p50!)} ms, p99 ${short(now[what].p99!)} ms; limit: ${limitOf(now[what])}, others ${short(now[what].others)}${what === 'get' ? `; bare gains ${short(now.bare.perSecond / one.bare.perSecond)}` : ''}`,
    figures: { rate: now[what].perSecond, cpu: now[what].cpu, p50: now[what].p50!, p99: now[what].p99! },
  })
  return [
    row('get', 'GET 1 kB, 64 clients'),
    row('list', 'LIST of 500, 16 clients'),
    row('create', 'create, 64 clients'),
    row('lone', 'create, one client'),
    ...[1, 16].map((writers) => fanOutRow(workers, writers, { now: now.fanOut[writers]!, one: one.fanOut[writers]! })),
    {
      name: `memory with ${objects} objects, --workers=${workers}`,
      ours: megabytes(now.memory),
      bare: '',
      note: furtherMemory(workers, now.memory - one.memory),
      figures: { own: now.memory },
    },
  ]
}

/** Returns the additional memory that the workers need. `auto` is measured while it has only one worker. */
function furtherMemory(workers: Count, more: number): string {
  if (workers === 1) return ''
  return workers === 'auto'
    ? `${megabytes(more)} more than one worker`
    : `${megabytes(more / (workers - 1))} for each further worker`
}
