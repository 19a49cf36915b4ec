/** The exchange over HTTP/1.1. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Peer, ResponseHeaders, Transport } from './exchange.ts'

export function http1Transport(request: IncomingMessage, response: ServerResponse, peer: Peer): Transport {
  const gone = new AbortController()
  response.on('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: request.rawHeaders,
    peer,
    signal: gone.signal,
    body: request.iterator({ destroyOnReturn: false }),
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
      if (response.write(chunk)) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          response.off('drain', done)
          gone.signal.removeEventListener('abort', done)
          resolve()
        }
        response.on('drain', done)
        gone.signal.addEventListener('abort', done)
      })
    },
    end: () => response.end(),
  }
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
