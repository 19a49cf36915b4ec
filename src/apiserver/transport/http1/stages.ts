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
let isReadingDue = false

/** Reads the connection when all that has arrived in this turn is decrypted. A connection must not be added twice. */
export function readInStage(connection: ReadableConnection): void {
  arrived.push(connection)
  if (isReadingDue) return
  isReadingDue = true
  setImmediate(readAll)
}

function readAll(): void {
  const connections = arrived
  arrived = []
  isReadingDue = false
  const end = performance.now() + maxStageMs
  for (let i = 0; i < connections.length; i++) {
    connections[i]!.readArrived()
    if (i % readsBetweenLooks === readsBetweenLooks - 1 && performance.now() > end) {
      // The others keep their place before those that have arrived meanwhile.
      arrived = [...connections.slice(i + 1), ...arrived]
      break
    }
  }
  if (arrived.length > 0 && !isReadingDue) {
    isReadingDue = true
    setImmediate(readAll)
  }
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
