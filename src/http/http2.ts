/** The exchange over HTTP/2. */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Peer, ResponseHeaders, Transport } from './exchange.ts'

const noError = 0

export function http2Transport(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
  peer: Peer,
): Transport {
  const gone = new AbortController()
  stream.on('close', () => {
    if (!stream.writableFinished) gone.abort()
  })
  // A stream that is reset tells so by an error event; the abort above is what we go by.
  stream.on('error', () => gone.abort())
  return {
    method: String(headers[':method'] ?? ''),
    target: String(headers[':path'] ?? ''),
    rawHeaders: withoutPseudo(rawHeaders),
    peer,
    signal: gone.signal,
    body: stream.iterator({ destroyOnReturn: false }),
    send: (status: number, head: ResponseHeaders, body: Buffer, unread: boolean) => {
      if (stream.destroyed) return
      const bodiless = headers[':method'] === 'HEAD'
      stream.respond({ ...head, ':status': status }, { endStream: bodiless })
      if (!bodiless) stream.end(body)
      // What the client still sends of its body is not wanted.
      if (unread) stream.once('finish', () => stream.close(noError))
    },
    open: (status: number, head: ResponseHeaders) => {
      if (!stream.destroyed) stream.respond({ ...head, ':status': status })
    },
    write: (chunk) => {
      if (stream.destroyed || stream.write(chunk)) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          stream.off('drain', done)
          stream.off('close', done)
          resolve()
        }
        stream.on('drain', done)
        stream.on('close', done)
      })
    },
    end: () => stream.end(),
  }
}

function withoutPseudo(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) if (!raw[i]!.startsWith(':')) kept.push(raw[i]!, raw[i + 1]!)
  return kept
}
