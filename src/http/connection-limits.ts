/** What a connection may take: times, sizes and counts. */

/** How long a client may take, in milliseconds. */
export interface Times {
  readonly handshake: number
  readonly headers: number
  /** Longer than any deadline of ours: the deadline answers, this one only cuts off who does not even send. */
  readonly request: number
  readonly idle: number
  /** How often slow clients are looked for. */
  readonly check: number
}

const seconds = 1000

export const defaultTimes: Times = {
  handshake: 10 * seconds,
  headers: 30 * seconds,
  request: 90 * seconds,
  idle: 180 * seconds,
  check: 5 * seconds,
}

/** How long a client that was refused may go on sending, so that it gets to read why. */
export const lingerTime = 2 * seconds
/** How long a server that stops waits on a connection for a request that may be on its way. */
export const drainTime = 0.5 * seconds
export const maxHeaderBytes = 128 * 1024
/** Node drops further ones silently, so its limit is above ours, which is answered with 431. */
export const maxParsedHeaders = 2000
export const maxStreams = 250
