/**
 * /livez, /readyz and /healthz: whether the server is alive, and whether it should be sent requests. Machines read the
 * status code alone; `?verbose` lists each check, `?exclude=NAME` leaves one out, `/livez/NAME` asks for one.
 */
import { shorten } from '../base/shorten.ts'
import { notAllowed, type PathHandler } from './dispatch.ts'
import type { Exchange } from './exchange.ts'
import { sendPageNotFound, sendText } from './responses.ts'

/** A check that passes, or says what is wrong. */
export interface HealthCheck {
  readonly name: string
  readonly check: () => string | undefined | Promise<string | undefined>
  /** What people should know although it passes; shown where the checks are listed. */
  readonly note?: () => string | undefined
}

/** Passes whenever it can be asked. */
const ping: HealthCheck = { name: 'ping', check: () => undefined }

interface Endpoint {
  readonly name: string
  readonly checks: readonly HealthCheck[]
  /** The status code when a check fails. */
  readonly failure: number
}

/** Serves `/livez`, `/readyz` and `/healthz`. */
export function healthPaths(live: readonly HealthCheck[], ready: readonly HealthCheck[]): PathHandler {
  const endpoints: readonly Endpoint[] = [
    { name: 'livez', checks: [ping, ...live], failure: 500 },
    { name: 'readyz', checks: [ping, ...live, ...ready], failure: 503 },
    { name: 'healthz', checks: [ping, ...live, ...ready], failure: 500 },
  ]
  return (exchange, { path, verb, query }) => {
    const endpoint = endpoints.find(({ name }) => path === `/${name}` || path.startsWith(`/${name}/`))
    if (endpoint === undefined) return false
    if (verb !== 'get' && verb !== 'head') throw notAllowed()
    exchange.setHeader('x-content-type-options', 'nosniff')
    if (path === `/${endpoint.name}`) return answerAll(exchange, endpoint, query)
    return answerOne(exchange, endpoint, path.slice(endpoint.name.length + 2))
  }
}

async function answerOne(exchange: Exchange, { checks, failure }: Endpoint, name: string): Promise<void> {
  const found = checks.find((check) => check.name === name)
  const fault = await found?.check()
  if (found === undefined) sendPageNotFound(exchange)
  else if (fault === undefined) sendText(exchange, 200, 'ok')
  else sendText(exchange, failure, `internal server error: ${fault}\n`)
}

async function answerAll(
  exchange: Exchange,
  { name, checks, failure }: Endpoint,
  query: URLSearchParams,
): Promise<void> {
  const excluded = new Set(query.getAll('exclude'))
  const results = await Promise.all(
    checks.map(async (check) => ({
      name: check.name,
      excluded: excluded.has(check.name),
      fault: excluded.has(check.name) ? undefined : await check.check(),
      note: check.note?.(),
    })),
  )
  const unknown = [...excluded].filter((each) => !checks.some((check) => check.name === each))
  const failed = results.some(({ fault }) => fault !== undefined)
  if (!failed && !query.has('verbose')) {
    sendText(exchange, 200, 'ok')
    return
  }
  const lines = results.map(
    (result) => `${result.fault === undefined ? '[+]' : '[-]'}${result.name} ${resultText(result)}\n`,
  )
  if (unknown.length > 0) lines.push(warning(unknown))
  sendText(exchange, failed ? failure : 200, `${lines.join('')}${name} check ${failed ? 'failed' : 'passed'}\n`)
}

const toldNames = 10

/** A client that excludes an unknown check may have meant another one. */
function warning(unknown: readonly string[]): string {
  const names = unknown.slice(0, toldNames).map((each) => JSON.stringify(shorten(each, 100)))
  const more = unknown.length > toldNames ? ` and ${unknown.length - toldNames} more` : ''
  return `warn: some health checks cannot be excluded: no matches for ${names.join(', ')}${more}\n`
}

interface Result {
  readonly excluded: boolean
  readonly fault: string | undefined
  readonly note: string | undefined
}

function resultText({ excluded, fault, note }: Result): string {
  if (excluded) return 'excluded: ok'
  if (fault !== undefined) return `failed: ${fault}`
  return note === undefined ? 'ok' : `ok, but ${note}`
}
