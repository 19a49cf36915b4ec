/**
 * SPDY inside a WebSocket, which kubectl has used for port forwarding since 1.31. The client offers the subprotocol
 * `SPDY/3.1+portforward.k8s.io` and sends SPDY as binary messages. The server extracts the SPDY data and uses plain
 * SPDY with the node, so that nodes need not support the tunnel.
 */
import type { Duplex } from 'node:stream'
import { joinStreams } from '../../../wire/http/join-streams.ts'
import { openTunnel } from '../../../wire/streaming/websocket/tunnel.ts'
import type { UpgradeRequest } from '../../transport/server-transport.ts'
import type { Exchange } from '../request/exchange.ts'
import { agreeOnSubprotocol } from '../websocket/web-socket-transport.ts'
import { withoutWebSocketToken } from '../websocket/websocket-token.ts'

const prefix = 'SPDY/3.1+'

/** The upgrade to request from a backend instead of the upgrade that the client requested. */
export interface TunneledUpgrade {
  /** The protocol to request from the backend. */
  readonly upgrade: string
  readonly headers: { readonly [name: string]: string }
  /** Names of the client's headers that are not sent to the backend. */
  readonly dropped: readonly string[]
  /** Headers of the 101 response to the client, as alternating names and values. */
  readonly answer: readonly string[]
}

/**
 * Returns the tunnel that the client requests, or undefined if the client requests no tunnel for this protocol. Throws
 * 400 for a malformed handshake.
 */
export function requestedTunnel({ transport, headers }: Exchange, protocol: string): TunneledUpgrade | undefined {
  const protocols = transport.upgrade?.protocols.split(',').map((name) => name.trim().toLowerCase()) ?? []
  const offered = withoutWebSocketToken(headers.list('sec-websocket-protocol')).split(',')
  const name = `${prefix}${protocol}`
  if (!protocols.includes('websocket') || !offered.some((each) => each.trim() === name)) return undefined
  return {
    upgrade: 'SPDY/3.1',
    headers: { 'x-stream-protocol-version': protocol },
    dropped: ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol', 'sec-websocket-extensions'],
    answer: agreeOnSubprotocol(headers, { protocols: [name] }).answer,
  }
}

/** Relays the bytes between the client and the backend. `backend` is a connection that has switched to SPDY. */
export async function relayTunnel(
  exchange: Exchange,
  { answer }: TunneledUpgrade,
  { upgrade, backend }: { readonly upgrade: UpgradeRequest; readonly backend: Duplex },
): Promise<void> {
  for (let i = 0; i < answer.length; i += 2) exchange.setHeader(answer[i]!, answer[i + 1]!)
  const tunnel = await openTunnel(exchange.switchProtocols(upgrade))
  await joinStreams(tunnel, backend)
}
