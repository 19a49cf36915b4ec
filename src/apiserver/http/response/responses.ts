/** Sends responses in the negotiated format. Large responses are compressed if the client accepts gzip. */
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

/** Minimum size in bytes of a response that is compressed, if the client accepts it. */
export const compressFrom = 128 * 1024
const gzipOptions = { level: constants.Z_BEST_SPEED }
const gzipAsync = promisify(gzip)

/** Sends a Status in the negotiated format. */
export async function sendStatus(exchange: Exchange, code: number, status: Status): Promise<void> {
  if (exchange.audit !== undefined) exchange.audit.failure = status
  await sendBytes(exchange, code, jsonDocument(asJson(status), statusType))
}

interface ObjectOfKind {
  readonly object: ApiObject
  readonly kind: Kind
}

/** Sends an object of this kind, a list of such objects, or a Status. */
export async function sendObject(exchange: Exchange, code: number, { object, kind }: ObjectOfKind): Promise<void> {
  await sendBytes(exchange, code, jsonDocument(asJson(object), answerOrder(object, kind)))
}

function answerOrder({ kind }: ApiObject, type: Kind): Order {
  if (kind === 'Status') return statusType
  return kind === type.kind ? orderOf(type) : listOrder(type)
}

const listOrder = memoizeByObject(listOf)

/**
 * Sends a JSON document, including its final newline. Synchronous unless the document must be converted or compressed.
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

/** Sends a document that is already in the negotiated format. Synchronous unless it must be compressed. */
export function sendEncoded(exchange: Exchange, code: number, body: Buffer): void | Promise<void> {
  if (wantsGzip(exchange, body.length)) return sendCompressed(exchange, code, body)
  return exchange.send(code, exchange.form.mediaType, body)
}

/** Compresses in the thread pool, off the event loop. */
async function sendCompressed(exchange: Exchange, code: number, body: Buffer): Promise<void> {
  const compressed = await gzipAsync(body, gzipOptions)
  markGzip(exchange)
  await exchange.send(code, exchange.form.mediaType, compressed)
}

/** Sends plain text for people. */
export function sendText(exchange: Exchange, code: number, text: string): void {
  exchange.send(code, 'text/plain; charset=utf-8', Buffer.from(text))
}

/** Sends the 404 for paths that are neither resources nor otherwise served. */
export function sendPageNotFound(exchange: Exchange): void {
  sendText(exchange, 404, '404 page not found\n')
}

/** Returns a buffer for the next chunk. */
export type ChunkMemory = () => Buffer

const chunkBytes = 64 * 1024

/**
 * Sends a document in chunks, already in its format, as fast as the client reads them. `size` is its approximate
 * length. Chunks that are sent one by one may share a buffer, so that even a very long document creates little garbage.
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
    if (exchange.disconnected) return
    exchange.sentBytes += chunk.length
    await exchange.timings.time('client', exchange.transport.pass(chunk))
  }
  exchange.transport.end()
}

/** Returns a new buffer for each chunk. Used if chunks are still in use when the next one is written. */
function ownMemory(size: number): ChunkMemory {
  const bytes = Math.min(chunkBytes, size)
  return () => Buffer.allocUnsafeSlow(bytes)
}

/** Returns the same buffer for all chunks. Used if each chunk is sent before the next one is written. */
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

/** Whether the client accepts gzip and does not exclude it with `q=0`. */
export function acceptsGzip({ headers }: Exchange): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers?.list('accept-encoding') ?? '')
}

function markGzip(exchange: Exchange): void {
  exchange.setHeader('content-encoding', 'gzip')
  exchange.setHeader('vary', 'Accept-Encoding')
}
