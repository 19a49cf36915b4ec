/** A listener whose timeouts and limits a test sets, and connections to it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { ConnectionCounts, type ConnectionMaxima } from '../../src/apiserver/transport/connection-counts.ts'
import { maxConnectionsFor } from '../../src/apiserver/transport/connection-limits.ts'
import type { HttpEngineName } from '../../src/apiserver/transport/engine.ts'
import { Listener } from '../../src/apiserver/transport/listener.ts'
import type { ServerTransport } from '../../src/apiserver/transport/server-transport.ts'
import { makeIdentity } from './identities.ts'

/** A timeout that never expires within a test, so that a test needs to set only those timeouts that it checks. */
export const long = 60_000
const patient = { handshake: long, headers: long, request: long, idle: long, stall: long, check: 50 }

export interface Wanted {
  readonly times?: Partial<typeof patient>
  readonly openFiles?: number
  /** Overrides the limits that are derived from the open-file limit. */
  readonly maxima?: Partial<ConnectionMaxima>
  readonly onRequest?: (transport: ServerTransport) => void
  readonly httpEngine?: HttpEngineName
  readonly maySwitch?: (target: string) => boolean
  /** Collects errors. If this function is undefined, an error fails the test. */
  readonly faults?: unknown[]
}

/** Starts a listener and returns its port. */
export async function listen(t: TestContext, wanted: Wanted): Promise<number> {
  return (await openListener(t, wanted)).port
}

export async function openListener(
  t: TestContext,
  { times, openFiles, maxima, onRequest = ok, httpEngine = 'orch', maySwitch = () => false, faults }: Wanted,
): Promise<Listener> {
  const { certificate: cert, key } = await makeIdentity({ commonName: 'localhost', usages: ['server auth'] })
  const seen = faults ?? []
  const listener = await Listener.open({
    host: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    onRequest,
    httpEngine,
    maySwitch,
    onError: (error) => seen.push(error),
    times: { ...patient, ...times },
    connections: new ConnectionCounts({ total: maxConnectionsFor(openFiles ?? 1024), perUser: 2000, ...maxima }),
  })
  t.after(async () => {
    await listener.close(0)
    if (faults === undefined) assert.deepEqual(seen, [])
  })
  return listener
}

export function ok(transport: ServerTransport): void {
  transport.send(200, ['content-length', '2'], Buffer.from('ok'), false)
}

export async function open(port: number, alpn: string): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [alpn] })
  await once(socket, 'secureConnect')
  return socket
}

/** Resolves to the received bytes when the server closes the connection. */
export async function closed(t: TestContext, socket: Socket): Promise<string> {
  t.after(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.on('error', () => socket.destroy())
  // A client that is still sending may receive a reset.
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}
