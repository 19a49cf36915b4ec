/**
 * An HTTPS server that supports HTTP/1.1 and stands in for third-party servers. It records the token, the certificate
 * and the connection of each request. The test sets its responses.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { makeIdentity } from './identities.ts'
import type { Ending } from './server.ts'

export interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Common name of the client's certificate. Undefined if the client sent no certificate. */
  readonly certificate: string | undefined
  /** Number of the connection, starting at 1. */
  readonly connection: number
}

export interface RecordingServer {
  readonly url: string
  readonly authority: string
  readonly requests: Recorded[]
}

export type Answer = (requests: Recorded, response: ServerResponse) => void

export async function recordingServer(t: Ending, answer: Answer = answerEmpty): Promise<RecordingServer> {
  const own = await makeIdentity({
    commonName: 'recording',
    usages: ['server auth'],
    names: { dns: [], ips: ['127.0.0.1'] },
  })
  const requests: Recorded[] = []
  const connections = new Map<object, number>()
  const options = { cert: own.certificate, key: own.key, requestCert: true, rejectUnauthorized: false }
  const server = createServer(options, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const socket = request.socket as TLSSocket
    if (!connections.has(socket)) connections.set(socket, connections.size + 1)
    const recorded = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      certificate: socket.getPeerCertificate().subject?.CN as string | undefined,
      connection: connections.get(socket)!,
    }
    requests.push(recorded)
    answer(recorded, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, authority: own.certificate, requests }
}

function answerEmpty(_: Recorded, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  response.end('{}\n')
}
