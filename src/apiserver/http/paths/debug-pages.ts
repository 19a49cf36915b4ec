/**
 * `/debug/pprof/`: profiles of the running server, like Go's pprof. The files open in Chrome DevTools.
 *
 *   /debug/pprof/profile?seconds=30   CPU profile (.cpuprofile)
 *   /debug/pprof/heap?seconds=30      sampled allocation profile (.heapprofile)
 *   /debug/pprof/snapshot             all objects in memory (.heapsnapshot); pauses the server meanwhile
 *
 * Only one profile runs at a time. A snapshot contains everything in memory, including secrets. Permission for the path
 * is therefore not enough: the user must be a member of `system:masters`.
 */
import type { Session } from 'node:inspector/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { badRequest, forbiddenError, tooManyRequests } from '../../../api/model/api-error.ts'
import { superusers } from '../../../api/model/user.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import type { Exchange } from '../request/exchange.ts'
import { sendPageNotFound, sendText } from '../response/responses.ts'

const root = '/debug/pprof'
const defaultSeconds = 30
/** Maximum duration of a profile in seconds, which is shorter than the request timeout. */
const maxSeconds = 50

type Take = (session: Session, exchange: Exchange, seconds: number) => Promise<void>

const pages: ReadonlyMap<string, Take> = new Map([
  ['profile', takeProfile],
  ['heap', takeHeapProfile],
  ['snapshot', takeSnapshot],
])

/** Serves the profiling paths. */
export function debugPages(): PathHandler {
  let isTaking = false
  return (exchange, { path, verb, query }) => {
    if (path !== root && !path.startsWith(`${root}/`)) return false
    if (verb !== 'get') throw notAllowed()
    if (!exchange.user.groups.includes(superusers))
      throw forbiddenError(undefined, '', `only members of ${superusers} can read profiles`)
    const name = path.slice(root.length + 1)
    const take = pages.get(name)
    if (take === undefined) return name === '' ? sendText(exchange, 200, index) : sendPageNotFound(exchange)
    const seconds = secondsIn(query)
    if (isTaking) throw tooManyRequests('another profile is already being recorded; try again later', seconds)
    isTaking = true
    return withSession((session) => take(session, exchange, seconds)).finally(() => {
      isTaking = false
    })
  }
}

const index = `${[...pages.keys()].map((name) => `${root}/${name}`).join('\n')}\n`

function secondsIn(query: URLSearchParams): number {
  const text = query.get('seconds') ?? String(defaultSeconds)
  if (!/^\d{1,3}$/.test(text) || Number(text) < 1 || Number(text) > maxSeconds)
    throw badRequest(`seconds must be a whole number from 1 to ${maxSeconds}`)
  return Number(text)
}

async function withSession(run: (session: Session) => Promise<void>): Promise<void> {
  // Load the profiler only when it is needed, because most servers never record a profile.
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    await run(session)
  } finally {
    session.disconnect()
  }
}

/** Waits for the given time or until the client disconnects. */
async function record(exchange: Exchange, seconds: number): Promise<void> {
  await pause(seconds * 1000, undefined, { signal: exchange.abandoned }).catch(() => {})
}

async function takeProfile(session: Session, exchange: Exchange, seconds: number): Promise<void> {
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await record(exchange, seconds)
  const { profile } = await session.post('Profiler.stop')
  await sendFile(exchange, 'orch.cpuprofile', JSON.stringify(profile))
}

async function takeHeapProfile(session: Session, exchange: Exchange, seconds: number): Promise<void> {
  await session.post('HeapProfiler.enable')
  await session.post('HeapProfiler.startSampling')
  await record(exchange, seconds)
  const { profile } = await session.post('HeapProfiler.stopSampling')
  await sendFile(exchange, 'orch.heapprofile', JSON.stringify(profile))
}

/** Sends a heap snapshot. The snapshot is serialized while it is sent, no faster than the client reads. */
async function takeSnapshot(_: Session, exchange: Exchange): Promise<void> {
  const { getHeapSnapshot } = await import('node:v8')
  nameFile(exchange, 'orch.heapsnapshot')
  exchange.open(200, 'application/json')
  for await (const chunk of getHeapSnapshot()) {
    if (exchange.disconnected) return
    exchange.sentBytes += chunk.length
    await exchange.transport.pass(chunk)
  }
  exchange.transport.end()
  exchange.complete = true
}

function sendFile(exchange: Exchange, name: string, text: string): void | Promise<void> {
  nameFile(exchange, name)
  return exchange.send(200, 'application/json', Buffer.from(text))
}

function nameFile(exchange: Exchange, name: string): void {
  exchange.setHeader('content-disposition', `attachment; filename="${name}"`)
}
