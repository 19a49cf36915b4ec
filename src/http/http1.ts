/** The exchange over HTTP/1.1. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { drained } from './drained.ts'
import type { Peer, ResponseHeaders, Transport } from './exchange.ts'

export function http1Transport(request: IncomingMessage, response: ServerResponse, peer: Peer): Transport {
  let signal: AbortSignal | undefined
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: request.rawHeaders,
    peer,
    get gone() {
      return response.destroyed && !response.writableFinished
    },
    get signal() {
      signal ??= closed(response)
      return signal
    },
    body: request,
    send: (status, headers, body, unread) => {
      if (unread) discard(request)
      response.writeHead(status, headers)
      response.end(body)
    },
    open: (status: number, headers: ResponseHeaders) => {
      response.writeHead(status, headers)
      response.flushHeaders()
    },
    write: (chunk) => {
      if (response.destroyed || response.write(chunk)) return undefined
      return drained(response)
    },
    end: () => response.end(),
  }
}

/** Aborts when the other side goes before all has been sent. */
function closed(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  else response.on('close', () => response.writableFinished || gone.abort())
  return gone.signal
}

const maxDiscarded = 16 * 1024 * 1024

/** Takes the rest of a body that nobody wants, so that the client gets to read the answer; up to a limit. */
function discard(request: IncomingMessage): void {
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxDiscarded) request.socket.destroy()
  })
}
