/** Sends an answer in the form that was negotiated, compressed where the client asks for it and it pays. */
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { jsonDocument } from '../../../api/codec/json.ts'
import type { Order } from '../../../api/codec/member-order.ts'
import type { Status } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { type Kind, orderOf } from '../../../api/schema/kind.ts'
import { listOf, status as statusType } from '../../../api/schema/meta-types.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Exchange } from '../request/exchange.ts'

const compressFrom = 128 * 1024
const gzipOptions = { level: constants.Z_BEST_SPEED }
const gzipAsync = promisify(gzip)

/** A Status, in the form that was negotiated. */
export async function sendStatus(exchange: Exchange, code: number, status: Status): Promise<void> {
  if (exchange.audit !== undefined) exchange.audit.failure = status
  await sendBytes(exchange, code, jsonDocument(asJson(status), statusType))
}

interface Sent {
  readonly object: ApiObject
  readonly kind: Kind
}

/** An object of this kind, a list of such, or a Status. */
export async function sendObject(exchange: Exchange, code: number, { object, kind }: Sent): Promise<void> {
  await sendBytes(exchange, code, jsonDocument(asJson(object), answerOrder(object, kind)))
}

function answerOrder({ kind }: ApiObject, type: Kind): Order {
  if (kind === 'Status') return statusType
  return kind === type.kind ? orderOf(type) : listOrder(type)
}

const listOrder = memoizeByObject(listOf)

/**
 * A JSON document as the server holds it, with the newline that ends it: at once, where it need neither be turned into
 * another form nor compressed.
 */
export function sendBytes(exchange: Exchange, code: number, json: Buffer): void | Promise<void> {
  const { form } = exchange
  exchange.audit?.hasAnswered(json)
  if (form.encode !== undefined || wantsGzip(exchange, json.length)) return sendTurned(exchange, code, json)
  return exchange.send(code, form.mediaType, json)
}

async function sendTurned(exchange: Exchange, code: number, json: Buffer): Promise<void> {
  const { form } = exchange
  await sendEncoded(exchange, code, form.encode === undefined ? json : await form.encode(json, exchange.documentWorker))
}

/** An answer that is written in its form already: at once, where it need not be compressed. */
export function sendEncoded(exchange: Exchange, code: number, body: Buffer): void | Promise<void> {
  if (wantsGzip(exchange, body.length)) return sendCompressed(exchange, code, body)
  return exchange.send(code, exchange.form.mediaType, body)
}

/** In the thread pool, off the event loop. */
async function sendCompressed(exchange: Exchange, code: number, body: Buffer): Promise<void> {
  const compressed = await gzipAsync(body, gzipOptions)
  markGzip(exchange)
  await exchange.send(code, exchange.form.mediaType, compressed)
}

/** Plain text, for what people read. */
export function sendText(exchange: Exchange, code: number, text: string): void {
  exchange.send(code, 'text/plain; charset=utf-8', Buffer.from(text))
}

/** For paths that are neither resources nor served otherwise. */
export function sendPageNotFound(exchange: Exchange): void {
  sendText(exchange, 404, '404 page not found\n')
}

/** Returns the memory for the next chunk. */
export type ChunkMemory = () => Buffer

const chunkBytes = 64 * 1024

/**
 * A document in chunks, encoded in its form already, and written as fast as the client takes them. `size` is about how
 * long it will be. Chunks that are sent one by one may share their memory, so that a document of any length leaves
 * little to the collector.
 */
export async function sendChunks(
  exchange: Exchange,
  chunksIn: (memory: ChunkMemory) => AsyncIterable<Buffer>,
  size: number,
): Promise<void> {
  if (size < compressFrom / 2)
    return await sendEncoded(exchange, 200, joined(await Array.fromAsync(chunksIn(ownMemory(size)))))
  const compressed = wantsGzip(exchange, size)
  if (compressed) markGzip(exchange)
  exchange.open(200, exchange.form.mediaType)
  for await (const chunk of compressed ? gzipped(chunksIn(ownMemory(size))) : chunksIn(sharedMemory())) {
    if (exchange.gone) return
    exchange.sentBytes += chunk.length
    await exchange.timings.time('client', exchange.transport.pass(chunk))
  }
  exchange.transport.end()
}

/** For chunks that are still needed when the next one is made. */
function ownMemory(size: number): ChunkMemory {
  const bytes = Math.min(chunkBytes, size)
  return () => Buffer.allocUnsafeSlow(bytes)
}

/** For chunks of which each is done with when the next one is made. */
function sharedMemory(): ChunkMemory {
  const memory = Buffer.allocUnsafeSlow(chunkBytes)
  return () => memory
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

async function* gzipped(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { Readable } = await import('node:stream')
  yield* Readable.from(chunks).pipe(createGzip(gzipOptions))
}

function wantsGzip(exchange: Exchange, size: number): boolean {
  return size >= compressFrom && acceptsGzip(exchange)
}

/** Whether the client takes gzip, and does not refuse it with `q=0`. */
export function acceptsGzip({ headers }: Exchange): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers?.list('accept-encoding') ?? '')
}

function markGzip(exchange: Exchange): void {
  exchange.setHeader('content-encoding', 'gzip')
  exchange.setHeader('vary', 'Accept-Encoding')
}
