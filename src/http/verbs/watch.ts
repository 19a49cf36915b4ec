/**
 * GET with `watch`: a stream of events until its time is over, the client is gone or cannot keep up.
 * All that is queued goes out as one write; a write waits until the client has taken the last one.
 */
import { withDeadline } from '../../base/abort.ts'
import type { Watcher } from '../../cache/watcher.ts'
import { ApiError, failure } from '../../model/api-error.ts'
import { formatVersion } from '../../model/resource-version.ts'
import type { Resource } from '../../registry/resource.ts'
import { toldUpTo, type Watching, watch } from '../../registry/watch.ts'
import type { Exchange } from '../exchange.ts'
import { checkVersionMatch, readSelection } from '../list-options.ts'
import { text, wholeNumber } from '../query.ts'
import { isTrue } from '../request-info.ts'
import type { Handler, ResourceRequest } from '../resource-request.ts'

export const handleWatch: Handler = async (request) => {
  const { exchange, info, resource } = request
  checkVersionMatch(info.query, resource.vendor, true)
  const selection = readSelection(request)
  const lifetime = lifetimeMs(info.query)
  // A signal of its own: those that are combined from others, or wait for a time, outlive the watch by that time.
  await withDeadline({ ms: lifetime, outer: exchange.transport.signal, late: timeIsOver }, async (over) => {
    const watching = await begin(request, {
      selection,
      resourceVersion: text(info.query, 'resourceVersion'),
      form: request.events,
      signal: over,
    })
    if (watching === undefined) return
    const bookmarks = isTrue(info.query, 'allowWatchBookmarks') ? bookmarkTimes(lifetime) : undefined
    await stream(request, watching, { over, bookmarks })
  })
}

function timeIsOver(): Error {
  return new Error('the time of the watch is over')
}

/** A start that is too old is told in the stream, as clients expect: a 200 with one ERROR event. */
async function begin(
  { exchange, resource }: ResourceRequest,
  query: Parameters<typeof watch>[1],
): Promise<Watching | undefined> {
  try {
    return await watch(resource, query)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 410) throw error
    exchange.open(200, exchange.form.mediaType)
    await exchange.transport.write(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: failure(error) })}\n`))
    exchange.transport.end()
    return undefined
  }
}

interface Ending {
  readonly over: AbortSignal
  /** Milliseconds from the start at which a bookmark is due. */
  readonly bookmarks: Iterator<number> | undefined
}

async function stream(
  request: ResourceRequest,
  { watcher, before }: Watching,
  { over, bookmarks }: Ending,
): Promise<void> {
  const { exchange } = request
  const end = () => watcher.close()
  let cutting: NodeJS.Timeout | undefined
  watcher.onEnd = () => {
    cutting = setTimeout(() => exchange.transport.cut(), lastWriteMs)
  }
  over.addEventListener('abort', end)
  if (over.aborted) end()
  const bookmarking = bookmarks && startBookmarks(request, watcher, bookmarks)
  try {
    exchange.open(200, exchange.form.mediaType)
    for (const chunk of gather(before)) await exchange.transport.write(chunk)
    await forward(exchange, watcher)
  } finally {
    bookmarking?.stop()
    over.removeEventListener('abort', end)
    watcher.close()
    clearTimeout(cutting)
    exchange.transport.end()
  }
}

/** When a watch is over, a client that reads has the last of it by then; one that does not would never let go of it. */
const lastWriteMs = 2000

async function forward(exchange: Exchange, watcher: Watcher): Promise<void> {
  while (!watcher.closed) {
    await watcher.ready()
    const events = watcher.take()
    if (events.length > 0) await exchange.transport.write(events.length === 1 ? events[0]! : Buffer.concat(events))
  }
}

const chunkBytes = 64 * 1024

/** Small buffers as fewer, larger ones. */
function* gather(buffers: Iterable<Buffer>): Generator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for (const buffer of buffers) {
    parts.push(buffer)
    size += buffer.length
    if (size < chunkBytes) continue
    yield Buffer.concat(parts)
    parts = []
    size = 0
  }
  if (parts.length > 0) yield Buffer.concat(parts)
}

const minute = 60_000
const shortestDefault = 30 * minute

/** What the client asks for, else half an hour to an hour, so that not all watches end at once. */
function lifetimeMs(query: URLSearchParams): number {
  const asked = wholeNumber(query, 'timeoutSeconds') ?? 0
  if (asked > 0) return Math.min(asked * 1000, 2 ** 31 - 1)
  return Math.round(shortestDefault * (1 + Math.random()))
}

const beforeTheEnd = 2000

/** Every minute, and shortly before the watch ends, so that a client can resume from there. */
function* bookmarkTimes(lifetime: number): Generator<number> {
  for (let at = minute; at < lifetime - beforeTheEnd; at += minute) yield at
  yield Math.max(lifetime - beforeTheEnd, 0)
}

function startBookmarks({ resource }: ResourceRequest, watcher: Watcher, times: Iterator<number>) {
  const start = performance.now()
  let timer: NodeJS.Timeout | undefined
  const schedule = () => {
    const next = times.next()
    if (!next.done) timer = setTimeout(bookmark, Math.max(next.value - (performance.now() - start), 0))
  }
  const bookmark = () => {
    watcher.bookmark(bookmarkAt(resource, toldUpTo(resource, watcher)))
    schedule()
  }
  schedule()
  return { stop: () => clearTimeout(timer) }
}

function bookmarkAt({ apiVersion, kind }: Resource, revision: number): Buffer {
  const metadata = `{"creationTimestamp":null,"resourceVersion":"${formatVersion(revision)}"}`
  const object = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":"${kind.kind}","metadata":${metadata}}`
  return Buffer.from(`{"type":"BOOKMARK","object":${object}}\n`)
}
