/**
 * Reads a request body with a size limit. Rejects compressed bodies and incomplete bodies, because a truncated body
 * could have an entirely different meaning.
 */

import { badRequest, entityTooLarge, unsupportedMediaType } from '../../../api/model/api-error.ts'
import { maxBodyBytes } from '../../../api/model/limits.ts'
import { ByteQueue } from '../../../base/collections/byte-queue.ts'
import { readStream } from '../../../base/concurrency/read-stream.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Exchange } from './exchange.ts'

export { maxBodyBytes }

/** Reads the request body. Throws an error before reading if the headers already show that the body is unacceptable. */
export function readBody(exchange: Exchange): Promise<Buffer> {
  const encoding = exchange.headers.one('content-encoding')
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw unsupportedMediaType(
      `content encoding ${JSON.stringify(shorten(encoding, 50))} is not accepted: send the body uncompressed`,
    )
  }
  const length = exchange.headers.one('content-length')
  const announced = length === undefined ? undefined : Number(length)
  if ((announced ?? 0) > maxBodyBytes) throw tooLarge()
  if (exchange.body !== undefined) return exchange.body
  const { bodyAtHand } = exchange.transport
  const body =
    bodyAtHand === undefined
      ? exchange.timings.time('body', gather(exchange, announced))
      : Promise.resolve(acceptBody(exchange, bodyAtHand, announced))
  if (exchange.keepsBody) exchange.body = body
  return body
}

function acceptBody(exchange: Exchange, body: Buffer, announced: number | undefined): Buffer {
  if (body.length > maxBodyBytes) throw tooLarge()
  if (body.length !== (announced ?? body.length)) throw brokenOff()
  exchange.bodyRead = true
  return body
}

/** Collects all chunks of the body, up to the size limit. */
function gather(exchange: Exchange, announced: number | undefined): Promise<Buffer> {
  const { transport } = exchange
  const stream = transport.body
  return new Promise((resolve, reject) => {
    const body = new ByteQueue()
    let ended = false
    const onData = (chunk: Buffer) => {
      body.add(chunk)
      if (body.size <= maxBodyBytes) return
      stream.off('data', onData)
      body.clear()
      reject(tooLarge())
    }
    const onEnd = () => {
      if (!transport.bodyWhole || body.size !== (announced ?? body.size)) {
        onBreak()
        return
      }
      ended = true
      exchange.bodyRead = true
      resolve(body.join())
    }
    // The client has disconnected, reset the stream or sent invalid framing, so report a client error.
    const onBreak = () => ended || reject(brokenOff())
    readStream(stream, { onData, onEnd, onBreak })
  })
}

function brokenOff() {
  return badRequest('the body is incomplete')
}

function tooLarge() {
  return entityTooLarge(`Request entity too large: limit is ${maxBodyBytes}`)
}
