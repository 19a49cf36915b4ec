/**
 * Handles the requests of all HTTP/1.1 connections of this thread in stages. Within one turn of the event loop all bytes that
 * arrived are decrypted first, then all requests are handled, then all answers are encrypted and sent. Taking one connection
 * after another through all stages costs nearly twice the processor time, because every stage then finds cold caches.
 *
 * A lone request is not delayed: its stages follow each other in the same turn.
 */
import type { Socket } from 'node:net'

/** A connection with bytes to read. */
interface ReadableConnection {
  /** Reads the requests that have arrived. */
  readArrived(): void
}

/** How long requests are handled before connections are polled again, in milliseconds. */
const maxStageMs = 5
/** How many connections are read between two looks at the clock. */
const readsBetweenLooks = 8

/** The connections whose bytes are read in the next stage, in the order of their arrival. */
let arrived: ReadableConnection[] = []
/** Whether a connection has been read since the last stage, and so the next stage is due. */
let isStageDue = false

/**
 * Reads a connection when all bytes that arrive in this turn are decrypted. The first connection of a turn is read at once:
 * if it is the only one, waiting would gain nothing. A connection must not be added twice.
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
  for (let i = 0; i < connections.length; i++) {
    connections[i]!.readArrived()
    if (i % readsBetweenLooks === readsBetweenLooks - 1 && performance.now() > end) {
      // The others keep their place before those that have arrived meanwhile.
      arrived = [...connections.slice(i + 1), ...arrived]
      break
    }
  }
  isStageDue = arrived.length > 0
  if (isStageDue) setImmediate(readAll)
}

/** Sockets whose answers are sent when the present requests are handled. */
let corked: Socket[] = []

/** Corks a socket, unless it is corked, until the requests of this stage are handled. */
export function corkInStage(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  corked.push(socket)
  // Ticks run when no microtask is left: by then all requests that can be answered at once are answered.
  if (corked.length === 1) queueMicrotask(() => process.nextTick(uncorkAll))
}

function uncorkAll(): void {
  const sockets = corked
  corked = []
  for (const socket of sockets) socket.uncork()
}
