/** What a connection may take, and how many there may be: times, sizes and counts. */
import type { ConnectionMaxima } from './connection-counts.ts'
import type { UnauthenticatedLimits } from './unauthenticated-connections.ts'

/** How long a client may take, in milliseconds. Clients are checked at intervals, so it may be two intervals longer. */
export interface Times {
  readonly handshake: number
  readonly headers: number
  /** Longer than any deadline of a request: the deadline answers, this one only cuts off clients that send nothing. */
  readonly request: number
  readonly idle: number
  /** An answer that its client does not take at all. */
  readonly stall: number
  /** How often slow clients are looked for. */
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

/** How long a client that was refused may go on sending, so that it gets to read why. */
export const lingerTime = 2 * seconds
/** How long a server that stops waits on a connection for a request that may be on its way. */
export const drainTime = 0.5 * seconds
/** In how many turns of the event loop that time passes, at least. */
export const drainTurns = 10
export const maxHeaderBytes = 128 * 1024
/** Above what a request may have, which is answered with 431 and says why. */
export const maxParsedHeaders = 2000
export const maxStreams = 250
/**
 * How many requests may be taken back on a connection before it is ended: all that may be under way at once, and then
 * as many each second as a client gives up that starts and leaves watches all day.
 */
export const resets = { burst: maxStreams, perSecond: 50 }
/**
 * How many frames of HTTP/2 a client may send that neither begin a request nor carry a body: pings, settings, priorities.
 * Requests and answers earn more of them (`frameEarnings`), since clients report what they have read of an answer.
 */
export const idleFrames = { burst: 1000, perSecond: 100 }
/**
 * What earns further ones: a request, a frame of an answer, as far as it is not tiny, and each KiB in it. Go's client sends
 * two reports for each 4 KiB that it has read. A client that opens its window byte by byte earns nothing.
 */
export const frameEarnings = { request: 2, answerFrame: 2, usefulFrameBytes: 128, answerKiB: 2 }
/** How many bytes of answers may wait for a stranger who does not read them, before nothing more is read of the stranger. */
export const maxUntakenByStrangers = 128 * 1024
/** How many bytes of a client whose connection was ended for a fault are read and dropped, so that it can read why. */
export const maxDropped = 1024 * 1024

const maxStrangers = 4096
/** What the store, its files and connections to others need. */
const keptFiles = 64
const defaultPart = 0.8

/** How many connections there may be by default, by the number of files that the process may open. */
export function maxConnectionsFor(openFiles: number): number {
  const part = Math.floor(defaultPart * openFiles)
  return Math.max(Math.min(part, openFiles - keptFiles), Math.floor(openFiles / 2))
}

/** Half of all connections are kept for those who prove who they are. Each worker has an equal share of the other half. */
export function strangersFor({ total, perUser }: ConnectionMaxima, workers: number): UnauthenticatedLimits {
  const strangers = Math.min(Math.ceil(maxStrangers / workers), Math.floor(total / workers / 2))
  const perAddress = Math.min(Math.ceil(strangers / 2), Math.ceil(perUser / workers))
  return { total: strangers, perAddress, minTime: 1 * seconds }
}
