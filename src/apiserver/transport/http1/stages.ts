/**
 * Handles the requests on all HTTP/1.1 connections of this thread in stages. Each turn of the event loop first decrypts
 * all received bytes, then handles all requests, and then encrypts and sends all responses. Running all stages
 * separately for each connection would take nearly twice the CPU time, because each stage would then start with cold
 * caches.
 *
 * A single request is not delayed, because its stages follow each other in the same turn.
 */
import type { Socket } from 'node:net'

/** A connection that has received bytes to read. */
interface ReadableConnection {
  /** Reads the requests that have arrived. */
  readArrived(): void
}

/** Maximum time in milliseconds for handling requests before the connections are polled again. */
const maxStageMs = 5
/** Number of connections to read between two checks of the clock. */
const readsBetweenLooks = 8

/** The connections to read in the next stage. The connection whose bytes arrived first comes first. */
let arrived: ReadableConnection[] = []
/** Whether the next stage is due, because a connection has been read since the last stage. */
let isStageDue = false

/**
 * Schedules reading from a connection after all bytes of this turn have been decrypted. A scheduled connection must not
 * be added again.
 */
export function readInStage(connection: ReadableConnection): void {
  if (isStageDue) {
    arrived.push(connection)
    return
  }
  isStageDue = true
  setImmediate(readAll)
  connection.readArrived()
}

function readAll(): void {
  const connections = arrived
  arrived = []
  const end = performance.now() + maxStageMs
  let count = 0
  try {
    while (count < connections.length) {
      connections[count++]!.readArrived()
      if (count % readsBetweenLooks === 0 && performance.now() > end) break
    }
  } finally {
    // Connections that have not been read stay ahead of newer connections, even if reading from a connection has thrown
    // an error.
    if (count < connections.length) arrived = [...connections.slice(count), ...arrived]
    isStageDue = arrived.length > 0
    if (isStageDue) setImmediate(readAll)
  }
}

/** Sockets that send their responses after the current requests have been handled. */
let corked: Socket[] = []

/**
 * Corks a socket until the requests of this stage have been handled. Has no effect on a socket that is already corked.
 */
export function corkInStage(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  corked.push(socket)
  // A nextTick callback runs after all microtasks, when all requests with an immediate response have been handled.
  if (corked.length === 1) queueMicrotask(() => process.nextTick(uncorkAll))
}

function uncorkAll(): void {
  const sockets = corked
  corked = []
  for (const socket of sockets) socket.uncork()
}
