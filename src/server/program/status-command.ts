/**
 * `orch status`: shows whether a server is ready, how long it has been running, its versions, the location and size of
 * its data, and the time of the last backup. It uses only the server's health checks and metrics, so it also works from
 * another machine.
 */
import { type Flags, flag, parseFlags, text, UsageError } from '../../base/flags/flags.ts'
import { parserFor } from '../../client/node/config-parser.ts'
import { HttpTransport } from '../../client/node/http-transport.ts'
import { readClientConfig } from '../../client/node/kubeconfig.ts'
import { processEnvironment, usualFiles } from '../../client/node/kubeconfig-files.ts'
import { errorOf } from '../../client/requests/status-error.ts'
import type { Transport } from '../../client/requests/transport.ts'
import { connectionSentence } from '../../tools/cli/program/explain-error.ts'
import { bytesText } from '../backup/progress-line.ts'

export const statusFlags = {
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: 'kubeconfig of a user who may read /metrics; defaults to the kubeconfig that orchctl uses',
  }),
} satisfies Flags

const timeoutMs = 10_000
const maxBytes = 32 * 1024 * 1024

interface Status {
  readonly report: string
  readonly ready: boolean
}

/** Runs `orch status`. Returns the report and whether the server is ready. */
export async function statusCommand(args: readonly string[]): Promise<Status> {
  const { kubeconfig } = parseFlags(statusFlags, args)
  try {
    return await readStatus(kubeconfig)
  } catch (error) {
    const sentence = connectionSentence(error)
    throw sentence === undefined ? error : new UsageError(sentence)
  }
}

async function readStatus(kubeconfig: string): Promise<Status> {
  const files = kubeconfig === '' ? usualFiles(processEnvironment()) : [kubeconfig]
  const { transport: config } = readClientConfig({ files, parse: await parserFor(files) })
  const transport = new HttpTransport(config)
  try {
    const [version, health, metrics] = await Promise.all(
      ['/version', '/readyz?verbose', '/metrics'].map((path) => readText(transport.send, path)),
    )
    for (const answer of [version!, metrics!]) if (answer.status !== 200) throw errorOf(answer.status, answer.text)
    const rows = statusRows({ version: JSON.parse(version!.text), health: health!, metrics: metrics!.text })
    const width = Math.max(...rows.map(([title]) => title.length))
    const lines = [['server', config.server] as const, ...rows].map(
      ([title, value]) => `${title.padEnd(width)}  ${value}\n`,
    )
    return { report: lines.join(''), ready: health!.status === 200 }
  } finally {
    transport.close()
  }
}

interface Answer {
  readonly status: number
  readonly text: string
}

async function readText(send: Transport, path: string): Promise<Answer> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { status, body } = await send({ method: 'GET', path, headers: {}, body: undefined, signal })
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > maxBytes) throw new Error(`the response of ${path} is larger than ${bytesText(maxBytes)}`)
    parts.push(part)
  }
  return { status, text: Buffer.concat(parts).toString('utf8') }
}

interface Answers {
  readonly version: { readonly gitVersion?: string }
  readonly health: Answer
  readonly metrics: string
}

function statusRows({ version: { gitVersion = '' }, health, metrics }: Answers): (readonly [string, string])[] {
  const failing = health.text.split('\n').filter((line) => line.startsWith('[-]'))
  const notes = health.text.split('\n').filter((line) => /^\[\+\]\w+ ok, but /.test(line))
  const [kubernetes, ours = ''] = gitVersion.split('+')
  const started = number(metrics, 'process_start_time_seconds')
  const backup = number(metrics, 'orch_last_backup_timestamp_seconds')
  const size = number(metrics, 'etcd_db_total_size_in_bytes')
  return [
    ['ready', health.status === 200 ? 'yes' : `no: ${failing.join(', ')}`],
    ...notes.map((line) => ['note', line.replace(/^\[\+\]/, '')] as const),
    ['version', `${ours.replace('orch.', 'orch ')}, emulates Kubernetes ${kubernetes!.replace(/^v/, '')}`],
    ['started', started === undefined ? 'unknown' : timeText(started)],
    ['data', location(metrics) ?? 'in memory'],
    ['size', size === undefined ? 'unknown' : bytesText(size)],
    ['objects', String(storedObjects(metrics))],
    ['space', number(metrics, 'orch_store_full') === 1 ? 'full: writes are rejected' : 'available'],
    ['last backup', backup === undefined ? 'none in --backup-dir' : timeText(backup)],
  ]
}

function number(metrics: string, name: string): number | undefined {
  const line = metrics.split('\n').find((each) => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

/**
 * Returns the location of the store. Label values can be parsed as JSON strings, because Prometheus escapes quotes,
 * backslashes and line breaks.
 */
function location(metrics: string): string | undefined {
  const label = /^orch_store_info\{location=("(?:[^"\\\n]|\\.)*")\} 1$/m.exec(metrics)?.[1]
  return label === undefined ? undefined : (JSON.parse(label) as string)
}

function storedObjects(metrics: string): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith('apiserver_storage_objects{'))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** Formats a time, such as `2026-03-01 12:00:00 UTC (2 hours ago)`. */
function timeText(seconds: number): string {
  const age = Math.max(0, Math.floor(Date.now() / 1000) - seconds)
  const [unit, length] = units.find(([, each]) => age >= each) ?? units.at(-1)!
  const count = Math.floor(age / length)
  const time = new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
  return `${time} UTC (${count} ${unit}${count === 1 ? '' : 's'} ago)`
}
