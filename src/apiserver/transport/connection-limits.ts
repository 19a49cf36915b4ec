/** Limits for connections: timeouts, sizes and counts. */
import type { ConnectionMaxima } from './connection-counts.ts'
import type { UnauthenticatedLimits } from './unauthenticated-connections.ts'

/**
 * Client timeouts in milliseconds. They are checked at intervals, so the actual time may be up to two intervals longer.
 */
export interface Times {
  readonly handshake: number
  readonly headers: number
  /**
   * Timeout for reading a request. It is longer than any request deadline. The deadline sends a response, while this
   * timeout only disconnects clients that send nothing.
   */
  readonly request: number
  readonly idle: number
  /** Timeout for a response that the client does not read. */
  readonly stall: number
  /** Interval between checks for slow clients. */
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

/** Time in milliseconds that a rejected client may continue sending, so that it can read the reason. */
export const lingerTime = 2 * seconds
/** Time in milliseconds that a stopping server waits on a connection for a request that may be in transit. */
export const drainTime = 0.5 * seconds
/** Minimum number of event-loop turns during the drain time. */
export const drainTurns = 10
export const maxHeaderBytes = 128 * 1024
/**
 * Maximum number of headers that are parsed. It is higher than the limit for requests, which results in a 431 with an
 * explanation.
 */
export const maxParsedHeaders = 2000
export const maxStreams = 250
/**
 * Number of requests that a client may cancel before its connection is closed: a burst of all concurrent streams, and
 * then a rate that suffices for clients that constantly start and stop watches.
 */
export const resets = { burst: maxStreams, perSecond: 50 }
/**
 * Number of HTTP/2 frames that a client may send that neither start a request nor contain a body: pings, settings,
 * priorities. Requests and responses allow additional frames (`frameEarnings`), because clients acknowledge what they
 * have read.
 */
export const idleFrames = { burst: 1000, perSecond: 100 }
/**
 * Number of additional frames that each request, each response frame that is not tiny, and each KiB in it allow. Go's
 * client sends two window updates for each 4 KiB that it reads. Tiny frames to a client that opens its window byte by
 * byte allow no additional frames.
 */
export const frameEarnings = { request: 2, answerFrame: 2, usefulFrameBytes: 128, answerKiB: 2 }
/**
 * Maximum number of unread response bytes for an unauthenticated client. Above it, the server stops reading from the
 * client.
 */
export const maxUntakenByStrangers = 128 * 1024
/** Number of bytes to read and discard after a protocol error, so that the client can read the reason. */
export const maxDropped = 1024 * 1024

const maxStrangers = 4096
/** Number of file descriptors reserved for the store and outgoing connections. */
const keptFiles = 64
const defaultPart = 0.8

/** Returns the default maximum number of connections, which depends on the file descriptor limit of the process. */
export function maxConnectionsFor(openFiles: number): number {
  const part = Math.floor(defaultPart * openFiles)
  return Math.max(Math.min(part, openFiles - keptFiles), Math.floor(openFiles / 2))
}

/**
 * Returns the limits for unauthenticated connections. Half of all connections are reserved for authenticated clients.
 * Each worker gets an equal share of the other half.
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
