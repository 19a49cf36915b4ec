/**
 * Handles the requests on all HTTP/1.1 connections of this thread in stages. Each turn of the event loop first decrypts
 * all received bytes, then handles all requests, and then encrypts and sends all responses. Running all stages
 * separately for each connection would take nearly twice the CPU time, because each stage would then start with cold
 * caches.
 *
 * A single request is not delayed, because its stages follow each other in the same turn.
 */
import type { Socket } from 'node:net'

/** A connection that can be queued for the next stage. */
interface ReadableConnection {
  /** Parses the requests that have arrived, and starts them. */
  readArrived(): void
}

/** Maximum time in milliseconds for handling requests before the connections are polled again. */
const maxStageMs = 5
/** Number of connections to read before checking the time again. */
const readsBetweenLooks = 8

/** Connections to read in the next stage, in the order in which their data arrived. */
let arrived: ReadableConnection[] = []
/** Whether the next stage has been scheduled. */
let isStageDue = false

/**
 * Schedules a connection to be read once all bytes received in this turn have been decrypted. A scheduled connection
 * must not be added again.
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
    // Connections that were not reached stay at the front of the queue, even if reading a connection has thrown an
    // error.
    if (count < connections.length) arrived = [...connections.slice(count), ...arrived]
    isStageDue = arrived.length > 0
    if (isStageDue) setImmediate(readAll)
  }
}

/** Sockets whose responses are collected and sent together at the end of the stage. */
let corked: Socket[] = []

/**
 * Corks a socket until the requests of this stage have been handled. Has no effect on a socket that is already corked.
 */
export function corkInStage(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  corked.push(socket)
  // A nextTick callback that is queued from a microtask runs after all other microtasks. By then, every request that
  // can be answered immediately has been answered.
  if (corked.length === 1) queueMicrotask(() => process.nextTick(uncorkAll))
}

function uncorkAll(): void {
  const sockets = corked
  corked = []
  for (const socket of sockets) socket.uncork()
}
