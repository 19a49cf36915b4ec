/** Reads a request's body, bounded in size, and only as it was sent: no compressed bodies. */
import { badRequest, entityTooLarge, requestTimeout, unsupportedMediaType } from '../model/api-error.ts'
import type { Exchange } from './exchange.ts'

export const maxBodyBytes = 3 * 1024 * 1024

export async function readBody(exchange: Exchange): Promise<Buffer> {
  const encoding = exchange.headers.one('content-encoding')
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw unsupportedMediaType(
      `content encoding ${JSON.stringify(encoding.slice(0, 50))} is not accepted: send the body as it is`,
    )
  }
  if (Number(exchange.headers.one('content-length') ?? 0) > maxBodyBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of received(exchange)) {
    if (exchange.signal.aborted) throw requestTimeout('the body did not arrive in time')
    size += chunk.length
    if (size > maxBodyBytes) throw tooLarge()
    chunks.push(chunk)
  }
  exchange.bodyRead = true
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
}

/** A body that breaks off is its client's doing: left, reset, or badly framed. */
async function* received({ transport }: Exchange): AsyncGenerator<Buffer> {
  try {
    yield* transport.body
  } catch (error) {
    throw badRequest('the body broke off before its end', { cause: error })
  }
}

function tooLarge() {
  return entityTooLarge(`Request entity too large: limit is ${maxBodyBytes}`)
}
