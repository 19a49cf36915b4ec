/** Defines the limits for connections: timeouts, sizes and counts. */
import type { ConnectionMaxima } from './connection-counts.ts'
import type { UnauthenticatedLimits } from './unauthenticated-connections.ts'

/**
 * Client timeouts in milliseconds. Connections are checked at intervals, so a timeout may take effect up to two
 * intervals late.
 */
export interface Times {
  readonly handshake: number
  readonly headers: number
  /**
   * Maximum time to receive a request. The time is longer than any request deadline, so that slow requests receive a
   * 504 response and only clients that stop sending are disconnected.
   */
  readonly request: number
  readonly idle: number
  /** Maximum time that a client may leave its response unread. */
  readonly stall: number
  /** Interval between checks for slow and idle clients. */
  readonly check: number
}

const seconds = 1000

export const defaultTimes: Times = {
  handshake: 10 * seconds,
  headers: 22 * seconds,
  request: 90 * seconds,
  idle: 180 * seconds,
  stall: 22 * seconds,
  check: 5 * seconds,
}

/**
 * Time in milliseconds for which a rejected client may continue to send. Without this time, some clients could not read
 * the error.
 */
export const lingerTime = 2 * seconds
/** Time in milliseconds that a stopping server waits on each connection for requests in transit. */
export const drainTime = 0.5 * seconds
/** Minimum number of event-loop turns to wait for requests in transit, in addition to `drainTime`. */
export const drainTurns = 10
export const maxHeaderBytes = 128 * 1024
/**
 * Maximum number of headers that are parsed. The maximum is higher than the allowed number of headers, so that a
 * request with too many headers receives a 431 with an explanation.
 */
export const maxParsedHeaders = 2000
export const maxStreams = 250
/**
 * Number of requests that a client may cancel before the server closes its connection. The burst is the number of
 * concurrent streams. The rate is sufficient for clients that constantly start and stop watches.
 */
export const resets = { burst: maxStreams, perSecond: 50 }
/**
 * Number of HTTP/2 frames without a request or body data that a client may send. Examples of such frames are pings,
 * settings and priorities. Requests and responses allow additional frames (`frameEarnings`), because clients
 * acknowledge the data that they read.
 */
export const idleFrames = { burst: 1000, perSecond: 100 }
/**
 * Number of additional frames that a client may send for each request, for each response frame that is not tiny, and
 * for each KiB in such a frame. For comparison, Go's client sends two window updates for each 4 KiB that it reads. A
 * client that opens its window byte by byte receives tiny frames, which allow no additional frames.
 */
export const frameEarnings = { request: 2, answerFrame: 2, usefulFrameBytes: 128, answerKiB: 2 }
/**
 * Maximum number of unread response bytes for an unauthenticated client. Above this limit, the server stops reading
 * from the client.
 */
export const maxUntakenByStrangers = 128 * 1024
/**
 * Maximum number of bytes that are read and discarded after a protocol error, so that the client can read the error.
 */
export const maxDropped = 1024 * 1024

const maxStrangers = 4096
/** Number of file descriptors that are reserved for the store and for outgoing connections. */
const keptFiles = 64
const defaultPart = 0.8

/** Returns the default maximum number of connections, which depends on the process's file descriptor limit. */
export function maxConnectionsFor(openFiles: number): number {
  const part = Math.floor(defaultPart * openFiles)
  return Math.max(Math.min(part, openFiles - keptFiles), Math.floor(openFiles / 2))
}

/**
 * Returns the limits for unauthenticated connections. Half of all connections are reserved for authenticated clients,
 * and each worker may use an equal share of the other half.
 */
export function strangersFor({ total, perUser }: ConnectionMaxima, workers: () => number): UnauthenticatedLimits {
  const strangers = () => Math.min(Math.ceil(maxStrangers / workers()), Math.floor(total / workers() / 2))
  return {
    get total() {
      return strangers()
    },
    get perAddress() {
      return Math.min(Math.ceil(strangers() / 2), Math.ceil(perUser / workers()))
    },
    minTime: 1 * seconds,
  }
}
