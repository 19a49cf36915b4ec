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
   * Longer than any request deadline. The deadline sends a response, while this timeout only disconnects clients that
   * send nothing.
   */
  readonly request: number
  readonly idle: number
  /** Timeout for a response that the client does not read. */
  readonly stall: number
  /** Interval between the checks for slow clients. */
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

/** How long a rejected client may continue sending, so that it can read the reason. */
export const lingerTime = 2 * seconds
/** How long a stopping server waits on a connection for a request that may be in transit. */
export const drainTime = 0.5 * seconds
/** Minimum number of event-loop turns during the drain time. */
export const drainTurns = 10
export const maxHeaderBytes = 128 * 1024
/** Higher than the limit for requests, which results in a 431 with an explanation. */
export const maxParsedHeaders = 2000
export const maxStreams = 250
/**
 * How many requests a client may cancel before its connection is closed: a burst of all concurrent streams, and then a
 * rate that suffices for clients that constantly start and stop watches.
 */
export const resets = { burst: maxStreams, perSecond: 50 }
/**
 * How many HTTP/2 frames a client may send that neither start a request nor carry a body: pings, settings, priorities.
 * Requests and responses earn additional frames (`frameEarnings`), because clients acknowledge what they have read.
 */
export const idleFrames = { burst: 1000, perSecond: 100 }
/**
 * What earns additional frames: each request, each response frame that is not tiny, and each KiB in it. Go's client
 * sends two window updates for each 4 KiB that it reads. A client that opens its window byte by byte earns nothing.
 */
export const frameEarnings = { request: 2, answerFrame: 2, usefulFrameBytes: 128, answerKiB: 2 }
/** Maximum number of unread response bytes for an unauthenticated client before the server stops reading from it. */
export const maxUntakenByStrangers = 128 * 1024
/** How many bytes to read and discard after a protocol error, so that the client can read the reason. */
export const maxDropped = 1024 * 1024

const maxStrangers = 4096
/** File descriptors reserved for the store and outgoing connections. */
const keptFiles = 64
const defaultPart = 0.8

/** Default maximum number of connections, depending on the file descriptor limit of the process. */
export function maxConnectionsFor(openFiles: number): number {
  const part = Math.floor(defaultPart * openFiles)
  return Math.max(Math.min(part, openFiles - keptFiles), Math.floor(openFiles / 2))
}

/** Reserves half of all connections for authenticated clients. Each worker gets an equal share of the other half. */
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
