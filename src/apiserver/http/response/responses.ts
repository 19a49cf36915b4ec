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
import { ChunkBuffers, type ChunkMemory, ownMemory } from './chunk-memory.ts'

/** Minimum size in bytes of a response that is compressed if the client accepts gzip. */
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

/** Sends an object, list or Status of the given kind as the response. */
export async function sendObject(exchange: Exchange, code: number, { object, kind }: ObjectOfKind): Promise<void> {
  await sendBytes(exchange, code, jsonDocument(asJson(object), answerOrder(object, kind)))
}

function answerOrder({ kind }: ApiObject, type: Kind): Order {
  if (kind === 'Status') return statusType
  return kind === type.kind ? orderOf(type) : listOrder(type)
}

const listOrder = memoizeByObject(listOf)

/**
 * Sends a JSON document with a final newline. The function is synchronous unless the document must be converted or
 * compressed.
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

/**
 * Sends a document that is already in the negotiated format. The function is synchronous unless the document must be
 * compressed.
 */
export function sendEncoded(exchange: Exchange, code: number, body: Buffer): void | Promise<void> {
  if (wantsGzip(exchange, body.length)) return sendCompressed(exchange, code, body)
  return exchange.send(code, exchange.form.mediaType, body)
}

/** Compresses a document in the thread pool, off the event loop. */
async function sendCompressed(exchange: Exchange, code: number, body: Buffer): Promise<void> {
  const compressed = await gzipAsync(body, gzipOptions)
  markGzip(exchange)
  await exchange.send(code, exchange.form.mediaType, compressed)
}

/** Sends plain text for people to read. */
export function sendText(exchange: Exchange, code: number, text: string): void {
  exchange.send(code, 'text/plain; charset=utf-8', Buffer.from(text))
}

/** Sends the 404 for a path that the server does not serve. */
export function sendPageNotFound(exchange: Exchange): void {
  sendText(exchange, 404, '404 page not found\n')
}

/**
 * Sends a document that is already in the negotiated format. The document is sent in chunks, as fast as the client
 * reads. `size` is its approximate length in bytes. A long document uses two alternating buffers and therefore creates
 * little garbage.
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
  if (compressed) return await passChunks(exchange, gzipped(chunksIn(ownMemory(size))))
  const buffers = new ChunkBuffers()
  try {
    await passChunks(exchange, chunksIn(buffers.next), buffers)
  } finally {
    buffers.release()
  }
}

/**
 * Sends each chunk while the next one is produced. The last chunk is therefore known early enough to be sent together
 * with the end of the response.
 */
async function passChunks(exchange: Exchange, chunks: AsyncIterable<Buffer>, buffers?: ChunkBuffers): Promise<void> {
  const { transport, timings } = exchange
  let passing: Promise<void> | undefined
  try {
    for await (const chunk of chunks) {
      await passing
      if (exchange.disconnected) return
      exchange.sentBytes += chunk.length
      passing = timings.time('client', transport.pass(chunk, buffers?.marginsOf(chunk)))
    }
    transport.end()
  } finally {
    await passing
  }
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
