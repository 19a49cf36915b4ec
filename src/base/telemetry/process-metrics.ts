/**
 * Metrics of the process: memory, CPU, open files, the event loop and garbage collection. Names, help texts and labels
 * are the same as in the prom-client package, because dashboards for Node.js expect them. Observing the event loop and
 * garbage collection has a constant cost, even without scrapes. Observation therefore starts at the first scrape. Each
 * thread has its own metrics.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { Gauge, Histogram, type Metric } from './metrics.ts'

type Values = Iterable<readonly [labels: readonly string[], value: number]>

/** Returns the metrics of this process. The first call starts the observers. */
export function processMetrics(): readonly Metric[] {
  observed ??= [
    ...cpuMetrics(),
    one('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', () => startTime),
    ...memoryMetrics(),
    ...fileMetrics(),
    ...eventLoopMetrics(),
    ...activeMetrics(),
    ...heapMetrics(),
    ...heapSpaceMetrics(),
    versionMetric(),
    garbageCollectionMetric(),
  ]
  return observed
}

let observed: readonly Metric[] | undefined

const startTime = Math.round(Date.now() / 1000 - process.uptime())

/** Returns a gauge without labels. The gauge has no value if `read` returns undefined. */
function one(name: string, help: string, read: () => number | undefined): Metric {
  return new Gauge({ name, help, labels: [] }, () => {
    const value = read()
    return value === undefined ? [] : [[[], value]]
  })
}

function cpuMetrics(): Metric[] {
  const total = (name: string, help: string, read: (usage: NodeJS.CpuUsage) => number): Metric => ({
    name,
    help,
    type: 'counter',
    *samples() {
      yield { labels: {}, value: read(process.cpuUsage()) / 1e6 }
    },
  })
  return [
    total('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', ({ user }) => user),
    total('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', ({ system }) => system),
    total(
      'process_cpu_seconds_total',
      'Total user and system CPU time spent in seconds.',
      ({ user, system }) => user + system,
    ),
  ]
}

function memoryMetrics(): Metric[] {
  const resident = () => statusBytes('VmRSS') ?? process.memoryUsage.rss()
  return [
    one('process_resident_memory_bytes', 'Resident memory size in bytes.', resident),
    ...ifLinux(
      one('process_virtual_memory_bytes', 'Virtual memory size in bytes.', () => statusBytes('VmSize')),
      one('process_heap_bytes', 'Process heap size in bytes.', () => statusBytes('VmData')),
    ),
  ]
}

function fileMetrics(): Metric[] {
  // The number of open files excludes the file descriptor that is needed to read the directory.
  const open = () => ifReadable(() => readdirSync('/proc/self/fd').length - 1)
  const max = () => numberIn('/proc/self/limits', /^Max open files +(\d+)/m)
  return ifLinux(
    one('process_open_fds', 'Number of open file descriptors.', open),
    one('process_max_fds', 'Maximum number of open file descriptors.', max),
  )
}

function ifLinux(...metrics: Metric[]): Metric[] {
  return process.platform === 'linux' ? metrics : []
}

function statusBytes(name: string): number | undefined {
  const kibibytes = numberIn('/proc/self/status', new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))
  return kibibytes === undefined ? undefined : kibibytes * 1024
}

function numberIn(file: string, pattern: RegExp): number | undefined {
  const numberText = ifReadable(() => pattern.exec(readFileSync(file, 'utf8'))?.[1])
  return numberText === undefined ? undefined : Number(numberText)
}

/** Reads a value. Returns undefined if the file is not readable, as in some containers. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const nanosecond = 1e-9

/**
 * Returns metrics of the event loop delay since the last scrape. The first metric contains the delay that was measured
 * at the previous scrape. The other metrics have no value if no delay has been recorded since that scrape.
 */
function eventLoopMetrics(): Metric[] {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  let lag = 0
  const measure = () => {
    const begin = performance.now()
    setImmediate(() => {
      lag = (performance.now() - begin) / 1000
    })
    return lag
  }
  const delay = (part: string, help: string, read: () => number) =>
    one(`nodejs_eventloop_lag_${part}_seconds`, help, () => (delays.count === 0 ? undefined : read() * nanosecond))
  const percentile = (part: number) =>
    delay(`p${part}`, `The ${part}th percentile of the recorded event loop delays.`, () => delays.percentile(part))
  const last = () => {
    const value = delays.percentile(99)
    delays.reset()
    return value
  }
  return [
    one('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', measure),
    delay('min', 'The minimum recorded event loop delay.', () => delays.min),
    delay('max', 'The maximum recorded event loop delay.', () => delays.max),
    delay('mean', 'The mean of the recorded event loop delays.', () => delays.mean),
    delay('stddev', 'The standard deviation of the recorded event loop delays.', () => delays.stddev),
    percentile(50),
    percentile(90),
    // The delay metric must be read last, because reading it starts the next measurement period.
    delay('p99', 'The 99th percentile of the recorded event loop delays.', last),
  ]
}

/** Undocumented functions of Node.js, any of which may be missing. */
interface ActiveObjects {
  _getActiveHandles?(): readonly object[]
  _getActiveRequests?(): readonly object[]
}

function activeMetrics(): Metric[] {
  const { _getActiveHandles: handles, _getActiveRequests: requests } = process as ActiveObjects
  const byClass = (what: string) =>
    `Number of active libuv ${what}s grouped by ${what} type. Every ${what} type is C++ class name.`
  const resources =
    'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.'
  return [
    ...byType('resources', resources, () => process.getActiveResourcesInfo()),
    ...(handles === undefined ? [] : byType('handles', byClass('handle'), () => handles().map(classOf))),
    ...(requests === undefined ? [] : byType('requests', byClass('request'), () => requests().map(classOf))),
  ]
}

function classOf(value: object): string {
  return value.constructor.name
}

function byType(what: string, help: string, list: () => readonly string[]): Metric[] {
  const name = `nodejs_active_${what}`
  return [
    new Gauge({ name, help, labels: ['type'] }, () => counted(list())),
    one(`${name}_total`, `Total number of active ${what}.`, () => list().length),
  ]
}

function* counted(types: readonly string[]): Values {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  for (const [type, count] of counts) yield [[type], count]
}

function heapMetrics(): Metric[] {
  const { memoryUsage } = process
  return [
    one('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', () => memoryUsage().heapTotal),
    one('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', () => memoryUsage().heapUsed),
    one('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', () => memoryUsage().external),
  ]
}

function heapSpaceMetrics(): Metric[] {
  const sizes = { total: 'space_size', used: 'space_used_size', available: 'space_available_size' } as const
  return Object.entries(sizes).map(([size, key]) => {
    const name = `nodejs_heap_space_size_${size}_bytes`
    const help = `Process heap space size ${size} from Node.js in bytes.`
    return new Gauge({ name, help, labels: ['space'] }, () =>
      getHeapSpaceStatistics().map((space) => [[space.space_name.replace(/_space$/, '')], space[key]]),
    )
  })
}

function versionMetric(): Metric {
  const { version } = process
  const numbers = version.slice(1).split('.')
  const labels = ['version', 'major', 'minor', 'patch']
  return new Gauge({ name: 'nodejs_version_info', help: 'Node.js version info.', labels }, () => [
    [[version, ...numbers], 1],
  ])
}

const gcKinds: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

/** A performance entry for a garbage collection. The Node.js types lack its `detail` property. */
type GcEntry = PerformanceEntry & { readonly detail?: { readonly kind?: number } }

function garbageCollectionMetric(): Metric {
  const name = 'nodejs_gc_duration_seconds'
  const help = 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.'
  const histogram = new Histogram({ name, help, labels: ['kind'] }, [0.001, 0.01, 0.1, 1, 2, 5])
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as GcEntry[])
      histogram.at(gcKinds.get(entry.detail?.kind) ?? 'unknown').observe(entry.duration / 1000)
  })
  observer.observe({ entryTypes: ['gc'] })
  return histogram
}
