/**
 * Generates external load: `wrk` for HTTP/1.1 and `h2load` for HTTP/2, each on one thread. If every HTTP/2 body must be
 * different, this process sends the load itself. The two compared servers get the same load alternately, so that other
 * load on the machine affects both.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from './client.ts'
import { type Side, token } from './servers.ts'
import { atLeast, perSecond, quantile, type Row, short } from './table.ts'
import { type Cpu, cpuOf, cpuOfGenerators, cpuOfMachine } from './usage.ts'

export interface Load {
  readonly requests: number
  readonly failed: number
  readonly seconds: number
  /** Latency in milliseconds. Undefined if the tool does not report it. */
  readonly p50?: number | undefined
  readonly p99?: number | undefined
}

/** Duration in whole seconds, because the tools accept no fractions. */
export type Drive = (side: Side, seconds: number) => Promise<Load>

export interface Measured extends Load {
  readonly perSecond: number
  /** Microseconds of the server's CPU time per request. */
  readonly cpu: number
  /** Number of CPUs used by the server's event loop, by the whole server, and by the load generator. */
  readonly loop: number
  readonly server: number
  readonly generator: number
  /** Number of CPUs that other programs use during the benchmark. */
  readonly others: number
}

const packages = { wrk: 'wrk', h2load: 'nghttp2-client' } as const

export async function run(tool: keyof typeof packages, args: readonly string[]): Promise<string> {
  const child = spawn(tool, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const missing = new Error(`${tool} is missing: on Debian it is in the package ${packages[tool]}`)
  const [code] = await once(child, 'close').catch(() => {
    throw missing
  })
  if (code !== 0) throw new Error(`${tool} ended with ${code}:\n${output}`)
  return output
}

export interface Http1Options {
  readonly connections: number
  /** Accept header of the requests. Defaults to JSON. */
  readonly accept?: string
  /** Bearer token of the requests. Defaults to the token of the benchmark's superuser. */
  readonly bearer?: string
  readonly script?: string
  readonly scriptArgs?: readonly string[]
}

export function http1(
  path: string,
  { connections, accept = 'application/json', bearer = token, script, scriptArgs = [] }: Http1Options,
): Drive {
  return async ({ origin }, seconds) => {
    const output = await run('wrk', [
      ...['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout=10s', '--latency'],
      ...['-H', `authorization: Bearer ${bearer}`, '-H', `accept: ${accept}`],
      ...(script === undefined ? [] : ['-s', script]),
      `${origin}${path}`,
      ...(scriptArgs.length === 0 ? [] : ['--', ...scriptArgs]),
    ])
    const done = /(\d+) requests in ([\d.]+)(ms|s|m)/.exec(output)
    return {
      requests: Number(done?.[1]),
      seconds: milliseconds(done?.[2], done?.[3]) / 1000,
      failed: Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0) + socketErrors(output),
      p50: latency(output, '50%'),
      p99: latency(output, '99%'),
    }
  }
}

function latency(output: string, part: string): number {
  const match = new RegExp(`^\\s+${part}\\s+([\\d.]+)(us|ms|s|m)`, 'm').exec(output)
  return milliseconds(match?.[1], match?.[2])
}

const units: { readonly [unit: string]: number } = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

function milliseconds(value = 'NaN', unit = 'ms'): number {
  return Number(value) * units[unit]!
}

function socketErrors(output: string): number {
  const match = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output)
  return match ? match.slice(1).reduce((sum, count) => sum + Number(count), 0) : 0
}

export interface Http2Options {
  readonly connections: number
  /** Accept header of the requests. Defaults to JSON. */
  readonly accept?: string
  readonly streams: number
}

export function http2(path: string, { connections, streams, accept = 'application/json' }: Http2Options): Drive {
  return async ({ origin }, seconds) => {
    const output = await run('h2load', [
      ...['-t1', `-c${connections}`, `-m${streams}`, `-D${seconds}`],
      ...['-H', `authorization: Bearer ${token}`, '-H', `accept: ${accept}`, `${origin}${path}`],
    ])
    const [, requests, failed] = /requests: .* (\d+) succeeded, (\d+) failed/.exec(output) ?? []
    return { requests: Number(requests), failed: Number(failed), seconds }
  }
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** Sends sequential requests from several clients that share connections, as the clients within one program do. */
export function http2Each(next: (index: number) => Sent, { connections, streams }: Http2Options): Drive {
  return async (side, seconds) => {
    const clients = await Promise.all(Array.from({ length: connections }, () => Client.connect(side)))
    const end = performance.now() + seconds * 1000
    let sent = 0
    let failed = 0
    const work = async (client: Client) => {
      while (performance.now() < end) {
        const { method, path, body } = next(sent++)
        await client.send(method, path, body).catch(() => failed++)
      }
    }
    await Promise.all(clients.flatMap((client) => Array.from({ length: streams }, () => work(client))))
    for (const client of clients) client.close()
    return { requests: sent - failed, failed, seconds }
  }
}

const warmUp = 3

export interface Rounds {
  /** Duration of one round in whole seconds. */
  readonly seconds: number
  /**
   * Number of rounds per server. On a shared machine, many short rounds give a more reliable ratio than a few long
   * ones.
   */
  readonly rounds: number
}

const usualRounds: Rounds = { seconds: 2, rounds: 2 }

export async function compare(
  ours: { readonly side: Side; readonly drive: Drive },
  bare: { readonly side: Side; readonly drive: Drive },
  { seconds, rounds } = usualRounds,
): Promise<{ ours: Measured; bare: Measured }> {
  for (const { side, drive } of [ours, bare]) await drive(side, warmUp)
  const measured = { ours: [] as Measured[], bare: [] as Measured[] }
  // The two servers alternate, and each goes first in every other round, so that trends over time affect both.
  for (let round = 0; round < rounds; round++)
    for (const one of round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
      const { side, drive } = { ours, bare }[one]
      measured[one].push(await measure(side, drive, seconds))
    }
  return { ours: mean(measured.ours), bare: mean(measured.bare) }
}

export async function measure(side: Side, drive: Drive, seconds: number): Promise<Measured> {
  const before = cpuOfSide(side)
  const generatorBefore = cpuOfGenerators()
  const machineBefore = cpuOfMachine()
  const load = await drive(side, seconds)
  const after = cpuOfSide(side)
  if (!(load.requests > 0) || load.failed > load.requests / 1000)
    throw new Error(`the load failed: ${load.failed} failures beside ${load.requests} answers`)
  const server = (after.total - before.total) / load.seconds
  const generator = (cpuOfGenerators() - generatorBefore) / load.seconds
  return {
    ...load,
    perSecond: load.requests / load.seconds,
    cpu: ((after.total - before.total) / load.requests) * 1e6,
    loop: (after.main - before.main) / load.seconds,
    server,
    generator,
    others: Math.max(0, (cpuOfMachine() - machineBefore) / load.seconds - server - generator),
  }
}

/** Returns the CPU time of a server and its helper processes. */
function cpuOfSide({ pid, helpers = [] }: Side): Cpu {
  const { total, main } = cpuOf(pid)
  return { total: helpers.reduce((sum, helper) => sum + cpuOf(helper).total, total), main }
}

/** Returns the mean of several rounds, weighted by their requests, and the median of their latencies. */
export function mean(measured: readonly Measured[]): Measured {
  const sum = (of: (one: Measured) => number) => measured.reduce((total, one) => total + of(one), 0)
  const average = (of: (one: Measured) => number) => sum(of) / measured.length
  const median = (of: (one: Measured) => number | undefined) => {
    const values = measured.map(of).filter((value) => value !== undefined)
    return values.length === 0 ? undefined : quantile(values, 0.5)
  }
  const requests = sum(({ requests }) => requests)
  const seconds = sum(({ seconds }) => seconds)
  return {
    ...measured.at(-1)!,
    requests,
    seconds,
    failed: sum(({ failed }) => failed),
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    perSecond: requests / seconds,
    cpu: sum((one) => one.cpu * one.requests) / requests,
    loop: average(({ loop }) => loop),
    server: average(({ server }) => server),
    generator: average(({ generator }) => generator),
    others: average(({ others }) => others),
  }
}

const full = 0.85
/** A rate is considered unreliable if other programs use more than this number of CPUs. */
export const noticed = 0.2

/** Returns the bottleneck of the measurement: the server's event loop, the load generator or other programs. */
export function limitOf({ loop, server, generator, others }: Measured): string {
  if (loop >= full) return 'its loop'
  if (generator >= full) return 'the generator'
  if (others >= noticed) return `other programs (${others.toFixed(1)} processors)`
  return server + generator >= 2 * full ? 'the processors' : 'waiting'
}

/** Returns a note with the latencies if the load generator reports them. */
export function latencies({ p50, p99 }: Load): string {
  return p50 === undefined || p99 === undefined ? '' : `p50 ${short(p50)} ms, p99 ${short(p99)} ms; `
}

export function limits(ours: Measured, bare: Measured): string {
  const one = limitOf(ours)
  const other = limitOf(bare)
  return one === other ? `limit: ${one}` : `limit: ${one} / ${other}`
}

/**
 * Returns the columns that compare two servers under the same load. On a shared machine, the CPU time is the decisive
 * column.
 */
export function compared(bound: number, ours: Measured, bare: Measured): Omit<Row, 'name' | 'note'> {
  const byRate = ours.perSecond / bare.perSecond
  const byCpu = bare.cpu / ours.cpu
  const shared = Math.max(ours.others, bare.others) >= noticed
  return {
    ours: perSecond(ours.perSecond),
    bare: perSecond(bare.perSecond),
    ...atLeast(bound, shared ? byCpu : byRate),
    ratio: byRate,
    byCpu,
    cpu: cpuPair(ours, bare),
    figures: { ours: ours.perSecond, bare: bare.perSecond, oursCpu: ours.cpu, bareCpu: bare.cpu, others: ours.others },
  }
}

export function cpuPair(ours: Measured, bare?: Measured): string {
  return bare ? `${Math.round(ours.cpu)} / ${Math.round(bare.cpu)} µs` : `${Math.round(ours.cpu)} µs`
}
