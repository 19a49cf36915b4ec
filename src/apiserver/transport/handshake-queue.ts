/**
 * Limits the number of TLS handshakes that begin in each turn of the event loop. A handshake takes about a millisecond,
 * so hundreds of clients that connect at the same moment would otherwise block all other clients. Waiting connections
 * from different networks take turns.
 *
 * A handshake begins when the client's first TLS record has arrived. Until then, a connection has no TLS state, so
 * clients cannot accumulate half-open handshakes and then continue all of them at the same moment.
 */
import type { Socket } from 'node:net'
import { ByteQueue } from '../../base/collections/byte-queue.ts'
import { networkOf } from './unauthenticated-connections.ts'

/** Maximum number of handshakes that begin per turn. */
const handshakesPerTurn = 4

const handshakeType = 22
const recordHeaderBytes = 5
const maxRecordBytes = 16 * 1024

export class HandshakeQueue {
  readonly #begin: (socket: Socket) => void
  readonly #timeoutMs: number
  #room = handshakesPerTurn
  #isScheduled = false
  /** Connections that wait for their handshake, by network. Each function begins the handshake of one connection. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /**
   * Creates an empty queue. `begin` starts a handshake on a socket whose first TLS record has arrived. A client that
   * sends no complete record within the timeout is disconnected.
   */
  constructor(begin: (socket: Socket) => void, timeoutMs: number) {
    this.#begin = begin
    this.#timeoutMs = timeoutMs
  }

  /** Adds a new connection. */
  add(socket: Socket): void {
    const record = new ByteQueue()
    let neededBytes = 1
    const timer = setTimeout(() => socket.destroy(), this.#timeoutMs)
    const onReadable = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) record.add(chunk as Buffer)
      while (record.size >= neededBytes) {
        const known = neededBytes
        neededBytes = bytesNeeded(record.join())
        if (neededBytes <= known) break
      }
      if (record.size < neededBytes) return
      socket.off('readable', onReadable)
      clearTimeout(timer)
      this.#wait(socket, record.join())
    }
    socket.on('readable', onReadable)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => clearTimeout(timer))
  }

  #wait(socket: Socket, record: Buffer): void {
    const network = networkOf(socket.remoteAddress ?? '')
    const queue = this.#waiting.get(network) ?? []
    this.#waiting.set(network, queue)
    queue.push(() => {
      if (socket.destroyed) return
      this.#room--
      socket.unshift(record)
      this.#begin(socket)
    })
    this.#beginWaiting()
  }

  #beginWaiting(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next()
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#onTurn())
  }

  #onTurn(): void {
    this.#isScheduled = false
    this.#room = handshakesPerTurn
    if (this.#waiting.size > 0) this.#beginWaiting()
  }

  /**
   * Takes the next handshake from the queue, serving networks in turn. Returns undefined if no more handshakes may
   * begin in this turn of the event loop.
   */
  #next(): (() => void) | undefined {
    const [first] = this.#waiting
    if (first === undefined || this.#room === 0) return undefined
    const [network, queue] = first
    this.#waiting.delete(network)
    const next = queue.shift()
    if (queue.length > 0) this.#waiting.set(network, queue)
    return next
  }
}

/**
 * Returns the number of bytes that must arrive before a handshake can begin: the whole first TLS record, or its header
 * if its length is not known yet.
 */
function bytesNeeded(start: Buffer): number {
  // The data from this client is not TLS. Pass the data on immediately, so that the TLS library rejects it.
  if (start[0] !== handshakeType) return 1
  if (start.length < recordHeaderBytes) return recordHeaderBytes
  const length = start.readUInt16BE(3)
  return length > maxRecordBytes ? recordHeaderBytes : recordHeaderBytes + length
}
