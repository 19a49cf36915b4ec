/**
 * Handles GET with `watch`, which streams events until the watch times out, the client disconnects or the client falls
 * behind. Each write sends all queued events. The next write waits until the client has read the previous one.
 */

import type { JsonObject } from '../../../api/json/json.ts'
import { ApiError, failure } from '../../../api/model/api-error.ts'
import { asJson } from '../../../api/model/object.ts'
import { formatVersion, parseVersion } from '../../../api/model/resource-version.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { EventForm } from '../../../storage/cache/event.ts'
import type { Watcher } from '../../../storage/cache/watcher.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { versionTooLarge } from '../../registry/reads/versions.ts'
import { deliveredRevision, type Watching, watch } from '../../registry/verbs/watch.ts'
import type { Exchange } from '../request/exchange.ts'
import { assertNoListExtensions } from '../request/list-extensions.ts'
import { readCounts, readSelection, readWatchStart } from '../request/list-options.ts'
import { isTrue } from '../request/request-info.ts'
import type { Handler } from '../request/resource-request.ts'
import { ChunkBuffers } from '../response/chunk-memory.ts'
import { negotiateEvents } from '../response/negotiate-response.ts'
import { jsonEventMessages, protobufEventMessages } from '../websocket/web-socket-framings.ts'
import { answerOverWebSocket } from '../websocket/web-socket-transport.ts'
import { lackingDefaults } from './get.ts'

export const handleWatch: Handler = async (request) => {
  const { exchange, info, resource } = request
  if (request.extensions) assertNoListExtensions(info.query)
  const lifetime = lifetimeMs(info.query, request.minWatchMs)
  const selection = readSelection(request)
  const start = readWatchStart(request)
  if (start.resourceVersion !== '') parseVersion(start.resourceVersion)
  const form = negotiateEvents(exchange, resource)
  await answerOverWebSocket(exchange, exchange.form.shared === undefined ? jsonEventMessages : protobufEventMessages)
  if (resource.kind.evolution?.lacksDefaults()) exchange.warn(lackingDefaults)
  const bookmarks = isTrue(info.query, 'allowWatchBookmarks') ? new Bookmarks(resource, form, lifetime) : undefined
  const series = request.watchMetrics.seriesOf(resource)
  const onSent = (bytes: number) => series.countEvent(bytes)
  await tellErrors(exchange, form, async () => {
    const watching = await watch(resource, {
      selection,
      ...start,
      endOfState: bookmarks && start.initialEvents === true ? bookmarks.endOfState : undefined,
      form,
      user: exchange.user.name,
      onSent,
    })
    series.watchers++
    await stream(exchange, watching, { lifetime, bookmarks, onSent }).finally(() => series.watchers--)
  })
}

/**
 * Reports an error about the resourceVersion as clients expect: as an ERROR event in a stream with status 200. Errors
 * after the start of the stream are reported in the same way.
 */
async function tellErrors(exchange: Exchange, form: EventForm, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof ApiError) || !(exchange.answered || isAboutVersion(error))) throw error
    openStream(exchange)
    await write(exchange, form.encodeBookmarkOrError('ERROR', asJson(failure(error))))
    exchange.transport.end()
  }
}

/** Whether an error is about the resourceVersion: it has expired, or the server has not reached it yet. */
function isAboutVersion({ code, details }: ApiError): boolean {
  return code === 410 || (details?.causes ?? []).some(({ reason }) => reason === versionTooLarge)
}

interface Streaming {
  readonly lifetime: number
  readonly bookmarks: Bookmarks | undefined
  /** Called with the size of every event. */
  readonly onSent: (bytes: number) => void
}

async function stream(
  exchange: Exchange,
  { watcher, before: replayIn }: Watching,
  { lifetime, bookmarks, onSent }: Streaming,
): Promise<void> {
  const end = () => watcher.close()
  let cutting: NodeJS.Timeout | undefined
  watcher.onEnd = () => {
    cutting = setTimeout(() => exchange.transport.cut(), lastWriteMs)
  }
  // Clear the timer when the watch ends. Timeouts are long, and many watches end early.
  const over = setTimeout(end, lifetime)
  const buffers = new ChunkBuffers()
  const before = replayIn(buffers.next)
  const { signal } = exchange.transport
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  try {
    await replay(exchange, before, buffers).finally(() => buffers.release())
    // From now on, the watch needs no seats, because the seats of each write cover the events that the write causes.
    exchange.seats?.release()
    bookmarks?.start(watcher)
    await forward(exchange, watcher, onSent)
    exchange.transport.end()
  } finally {
    bookmarks?.stop()
    clearTimeout(over)
    signal.removeEventListener('abort', end)
    watcher.close()
    clearTimeout(cutting)
    await before.return(undefined)
  }
}

/** Time in milliseconds that a client has to read the end of a finished watch before the connection is closed. */
const lastWriteMs = 2000

/**
 * Sends the initial events before the watcher starts. An error before the first event results in an ordinary error
 * response.
 */
async function replay(exchange: Exchange, before: AsyncGenerator<Buffer>, buffers: ChunkBuffers): Promise<void> {
  let next = await before.next()
  openStream(exchange)
  let passing: Promise<void> | undefined
  try {
    for (; !next.done && !exchange.transport.disconnected; next = await before.next()) {
      await passing
      passing = unlessStalled(exchange, exchange.transport.pass(next.value, buffers.marginsOf(next.value)))
    }
  } finally {
    await passing
  }
}

function openStream(exchange: Exchange): void {
  const { mediaType, streamType = mediaType } = exchange.form
  exchange.open(200, streamType)
}

const chunkBytes = 256 * 1024

async function forward(exchange: Exchange, watcher: Watcher, onSent: (bytes: number) => void): Promise<void> {
  while (!watcher.closed) {
    await watcher.ready()
    const events = watcher.take(chunkBytes)
    for (const { length } of events) onSent(length)
    if (events.length > 0) await write(exchange, joined(events))
  }
}

let lastJoined: { readonly events: readonly Buffer[]; readonly bytes: Buffer } = { events: [], bytes: Buffer.alloc(0) }

/**
 * Joins the events into one buffer. Watchers of the same resource usually receive the same events, so the buffer is
 * reused.
 */
function joined(events: readonly Buffer[]): Buffer {
  if (events.length === 1) return events[0]!
  const isSame =
    events.length === lastJoined.events.length && events.every((event, i) => event === lastJoined.events[i])
  if (!isSame) lastJoined = { events, bytes: Buffer.concat(events) }
  return lastJoined.bytes
}

/**
 * Time in milliseconds that a client may go without reading before it is disconnected. Disconnecting the client frees
 * the memory of its pending events.
 */
const stallMs = 25_000

function write(exchange: Exchange, chunk: Buffer): Promise<void> | undefined {
  const room = exchange.transport.write(chunk)
  return room && unlessStalled(exchange, room)
}

/** Disconnects the client if it reads too slowly for the promise to settle in time. */
function unlessStalled({ transport }: Exchange, sent: Promise<void>): Promise<void> {
  const stalled = setTimeout(() => transport.cut(), stallMs)
  return sent.finally(() => clearTimeout(stalled))
}

const minute = 60_000
/** Maximum delay that Node's timers support, in milliseconds. */
const maxLifetimeMs = 2 ** 31 - 1

/**
 * Returns the requested timeout in milliseconds. The default is random, between one and two times the minimum, so that
 * watches do not all end at the same time.
 */
function lifetimeMs(query: URLSearchParams, minMs: number): number {
  const { timeoutSeconds } = readCounts(query)
  return Math.min(timeoutSeconds > 0 ? timeoutSeconds * 1000 : Math.round(minMs * (1 + Math.random())), maxLifetimeMs)
}

const beforeTheEnd = 2000

/**
 * Yields the times of bookmarks: once a minute, and shortly before the watch ends. The client can resume a watch from a
 * bookmark.
 */
function* bookmarkTimes(lifetime: number): Generator<number> {
  for (let at = minute; at < lifetime - beforeTheEnd; at += minute) yield at
  yield Math.max(lifetime - beforeTheEnd, 0)
}

/** Periodically sends bookmarks with the position of the watch, so that the client can resume from there. */
class Bookmarks {
  readonly #resource: Resource
  readonly #form: EventForm
  readonly #times: Iterator<number>
  readonly #began = performance.now()
  #timer: NodeJS.Timeout | undefined
  #hasSent = false

  constructor(resource: Resource, form: EventForm, lifetime: number) {
    this.#resource = resource
    this.#form = form
    this.#times = bookmarkTimes(lifetime)
  }

  /** Encodes the bookmark that marks the end of the initial objects. */
  readonly endOfState = (form: EventForm, revision: number): Buffer => {
    this.#hasSent = true
    const annotations = { [`${this.#resource.vendor.groupDomain}/initial-events-end`]: 'true' }
    return form.encodeBookmarkOrError('BOOKMARK', bookmarkAt(this.#resource, revision, { annotations }))
  }

  /**
   * Starts the bookmarks. Must be called after the watcher has started, because the watcher has no position before
   * then.
   */
  start(watcher: Watcher): void {
    const next = this.#times.next()
    if (next.done) return
    const due = Math.max(next.value - (performance.now() - this.#began), 0)
    // Skip a bookmark that is due now, because the bookmark after the initial objects has just been sent.
    if (this.#hasSent && due === 0) {
      this.start(watcher)
      return
    }
    this.#timer = setTimeout(() => {
      const upTo = deliveredRevision(this.#resource, watcher)
      watcher.bookmark(this.#form.encodeBookmarkOrError('BOOKMARK', bookmarkAt(this.#resource, upTo)))
      this.start(watcher)
    }, due)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

function bookmarkAt({ apiVersion, kind, context }: Resource, revision: number, more: JsonObject = {}): JsonObject {
  // Since 1.34, Kubernetes omits an unset creationTimestamp.
  const unset = isAtLeast(emulationOf(context).version, '1.34') ? {} : { creationTimestamp: null }
  const metadata = { resourceVersion: formatVersion(revision), ...unset, ...more }
  return { kind: kind.kind, apiVersion, metadata }
}
