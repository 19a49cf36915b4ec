/**
 * /livez, /readyz and /healthz report whether the server is alive and whether it can handle requests. Probes check only
 * the status code. `?verbose` lists each check, `?exclude=NAME` skips a check, and `/livez/NAME` runs a single check.
 *
 * If a check fails, the response is a 500. /readyz returns a 503 if the server is running but temporarily cannot handle
 * requests. Only /readyz and the single-check paths report the reason for a failed check.
 */
import { shorten } from '../../../base/text/shorten.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import type { HealthMetrics } from '../health-metrics.ts'
import type { Exchange } from '../request/exchange.ts'
import { sendPageNotFound, sendText } from '../response/responses.ts'

/** A health check. `check` returns undefined if the check passes, or an error message. */
export interface HealthCheck {
  readonly name: string
  readonly check: () => string | undefined | Promise<string | undefined>
  /** Returns extra text to print in the verbose output when the check passes. */
  readonly note?: () => string | undefined
  /**
   * Whether the server cannot handle any requests while this check fails. If so, /readyz returns 503 instead of 500.
   */
  readonly unavailable?: boolean
}

/** A health check that always passes. */
const ping: HealthCheck = { name: 'ping', check: () => undefined }

interface Endpoint {
  readonly name: string
  readonly checks: readonly HealthCheck[]
}

/** The readiness endpoint, the only one that reports why a check failed. */
const readiness = 'readyz'

/** Returns the status code for a set of failed checks. */
function failureOf(endpoint: string, failed: readonly HealthCheck[]): number {
  return endpoint === readiness && failed.some(({ unavailable }) => unavailable) ? 503 : 500
}

/**
 * Serves `/livez`, `/readyz` and `/healthz`. Requests for a whole endpoint record the results of all checks. Requests
 * for a single check record nothing.
 */
export function healthPaths(
  live: readonly HealthCheck[],
  ready: readonly HealthCheck[],
  metrics?: HealthMetrics,
): PathHandler {
  const endpoints: readonly Endpoint[] = [
    { name: 'livez', checks: [ping, ...live] },
    { name: readiness, checks: [ping, ...live, ...ready] },
    { name: 'healthz', checks: [ping, ...live, ...ready] },
  ]
  return (exchange, { path, verb, query }) => {
    const endpoint = endpoints.find(({ name }) => path === `/${name}` || path.startsWith(`/${name}/`))
    if (endpoint === undefined) return false
    if (verb !== 'get' && verb !== 'head') throw notAllowed()
    exchange.setHeader('x-content-type-options', 'nosniff')
    if (path === `/${endpoint.name}`) return answerAll(exchange, endpoint, { query, metrics })
    return answerOne(exchange, endpoint, path.slice(endpoint.name.length + 2))
  }
}

async function answerOne(exchange: Exchange, endpoint: Endpoint, name: string): Promise<void> {
  const matchingCheck = endpoint.checks.find((check) => check.name === name)
  const fault = await matchingCheck?.check()
  if (matchingCheck === undefined) sendPageNotFound(exchange)
  else if (fault === undefined) sendText(exchange, 200, 'ok')
  else sendText(exchange, failureOf(endpoint.name, [matchingCheck]), `internal server error: ${fault}\n`)
}

async function answerAll(
  exchange: Exchange,
  { name, checks }: Endpoint,
  { query, metrics }: { readonly query: URLSearchParams; readonly metrics: HealthMetrics | undefined },
): Promise<void> {
  const excluded = new Set(query.getAll('exclude'))
  const results = await Promise.all(
    checks.map(async (check) => ({
      check,
      excluded: excluded.has(check.name),
      fault: excluded.has(check.name) ? undefined : await check.check(),
      note: check.note?.(),
    })),
  )
  for (const { check, excluded, fault } of results)
    if (!excluded) metrics?.record(check.name, name, fault === undefined ? 'success' : 'error')
  const unknown = [...excluded].filter((each) => !checks.some((check) => check.name === each))
  const failed = results.filter(({ fault }) => fault !== undefined).map(({ check }) => check)
  if (failed.length === 0 && !query.has('verbose')) {
    sendText(exchange, 200, 'ok')
    return
  }
  const lines = results.map((result) => lineOf(result, { tellsWhy: name === readiness }))
  if (unknown.length > 0) lines.push(warning(unknown))
  const [status, outcome] = failed.length > 0 ? [failureOf(name, failed), 'failed'] : [200, 'passed']
  sendText(exchange, status, `${lines.join('')}${name} check ${outcome}\n`)
}

const toldNames = 10

/** Returns a warning about excluded names that match no check and may be misspelled. */
function warning(unknown: readonly string[]): string {
  const names = unknown.slice(0, toldNames).map((each) => JSON.stringify(shorten(each, 100)))
  const more = unknown.length > toldNames ? ` and ${unknown.length - toldNames} more` : ''
  return `warn: some health checks cannot be excluded: no matches for ${names.join(', ')}${more}\n`
}

interface Result {
  readonly check: HealthCheck
  readonly excluded: boolean
  readonly fault: string | undefined
  readonly note: string | undefined
}

function lineOf({ check, excluded, fault, note }: Result, { tellsWhy }: { readonly tellsWhy: boolean }): string {
  if (fault !== undefined) return `[-]${check.name} failed: ${tellsWhy ? fault : 'reason withheld'}\n`
  if (excluded) return `[+]${check.name} excluded: ok\n`
  return `[+]${check.name} ok${note === undefined ? '' : `, but ${note}`}\n`
}
