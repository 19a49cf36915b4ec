/** Reads a request's body, bounded in size, and only as it was sent: no compressed bodies. */
import { largeDocument } from '../codec/aside.ts'
import { badRequest, entityTooLarge, unsupportedMediaType } from '../model/api-error.ts'
import type { Exchange } from './exchange.ts'

export const maxBodyBytes = 3 * 1024 * 1024

/** Throws at once what can be told from the headers alone. */
export function readBody(exchange: Exchange): Promise<Buffer> {
  const encoding = exchange.headers.one('content-encoding')
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw unsupportedMediaType(
      `content encoding ${JSON.stringify(encoding.slice(0, 50))} is not accepted: send the body as it is`,
    )
  }
  if (Number(exchange.headers.one('content-length') ?? 0) > maxBodyBytes) throw tooLarge()
  return gather(exchange)
}

/** All chunks, up to the limit. By events, as that costs far less than an iterator for the small bodies that most are. */
function gather(exchange: Exchange): Promise<Buffer> {
  const stream = exchange.transport.body
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let ended = false
    const onData = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBodyBytes) return
      stream.off('data', onData)
      reject(tooLarge())
    }
    const onEnd = () => {
      ended = true
      exchange.bodyRead = true
      exchange.large = size > largeDocument
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    }
    // A body that breaks off is its client's doing: left, reset, or badly framed.
    const onError = () => ended || reject(badRequest('the body broke off before its end'))
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError)
  })
}

function tooLarge() {
  return entityTooLarge(`Request entity too large: limit is ${maxBodyBytes}`)
}
