/**
 * A real TLS server that sends raw bytes, for responses that no HTTP library would send. The server hands the
 * connection of each request to the test and does not read bodies.
 */
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { noCredentials } from '../../src/apiserver/outbound/credentials.ts'
import { makeServerIdentity } from './identities.ts'
import type { Ending } from './server.ts'

export type AnswerRaw = (socket: TLSSocket) => void

export interface RawAnswers {
  readonly url: string
  /** CA certificate in PEM format, encoded in base64. */
  readonly caBundle: string
  readonly destination: {
    readonly host: string
    readonly port: number
    readonly serverName: string
    readonly hostHeader: string
    readonly authority: string
    readonly credentials: typeof noCredentials
  }
}

export async function answerRaw(t: Ending, answer: AnswerRaw): Promise<RawAnswers> {
  const { certificate: cert, key, authority } = await makeServerIdentity({ dns: [], ips: ['127.0.0.1'] })
  const sockets = new Set<TLSSocket>()
  const server = createServer({ cert, key }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const address = `127.0.0.1:${port}`
  return {
    url: `https://${address}`,
    caBundle: Buffer.from(authority).toString('base64'),
    destination: {
      host: '127.0.0.1',
      port,
      serverName: '127.0.0.1',
      hostHeader: address,
      authority,
      credentials: noCredentials,
    },
  }
}

/**
 * Writes the given number of bytes as fast as the client reads them. Resolves when all bytes are written or the
 * connection is closed.
 */
export async function flood(socket: TLSSocket, piece: string, bytes: number): Promise<void> {
  const chunk = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), 'latin1')
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += chunk.length)
    await new Promise((resolve) => socket.write(chunk.subarray(0, bytes - sent), resolve))
}

const ok = 'HTTP/1.1 200 OK\r\n'

/** Functions that send endless data, as a hostile server might. */
export const floods: { readonly [name: string]: (socket: TLSSocket, bytes: number) => Promise<void> } = {
  trailers: async (socket, bytes) => {
    socket.write(`${ok}transfer-encoding: chunked\r\n\r\n0\r\n`)
    await flood(socket, `x-trailer: ${'t'.repeat(500)}\r\n`, bytes)
  },
  'informational heads': (socket, bytes) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', bytes),
  'chunk extensions': async (socket, bytes) => {
    socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`)
    await flood(socket, `1;${'e'.repeat(1000)}\r\na\r\n`, bytes)
  },
}
