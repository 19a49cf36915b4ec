/** The exchange over HTTP/2. */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { drained } from './drained.ts'
import type { Peer, ResponseHeaders, Transport } from './exchange.ts'

const noError = 0

export function http2Transport(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
  peer: Peer,
): Transport {
  let signal: AbortSignal | undefined
  // A stream that is reset tells so by an error event; that it is destroyed is what we go by.
  stream.on('error', ignore)
  return {
    method: String(headers[':method'] ?? ''),
    target: String(headers[':path'] ?? ''),
    rawHeaders: withoutPseudo(rawHeaders),
    peer,
    get gone() {
      return stream.destroyed && !stream.writableFinished
    },
    get signal() {
      signal ??= closed(stream)
      return signal
    },
    body: stream,
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
      if (stream.destroyed || stream.write(chunk)) return undefined
      return drained(stream)
    },
    end: () => stream.end(),
  }
}

function ignore(): void {}

/** Aborts when the other side goes before all has been sent. */
function closed(stream: ServerHttp2Stream): AbortSignal {
  const gone = new AbortController()
  if (stream.destroyed) gone.abort()
  else stream.on('close', () => stream.writableFinished || gone.abort())
  return gone.signal
}

function withoutPseudo(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) if (!raw[i]!.startsWith(':')) kept.push(raw[i]!, raw[i + 1]!)
  return kept
}
