/**
 * Translates WebSocket connections for nodes that support only SPDY. kubectl has used WebSockets since 1.31.
 *
 * For port forwarding, the client offers the subprotocol `SPDY/3.1+portforward.k8s.io` and sends SPDY as binary
 * messages. The server extracts the SPDY data. For a command, the client offers `v5.channel.k8s.io`, and the server
 * translates the channels to SPDY streams.
 */
import type { Duplex } from 'node:stream'
import { joinStreams } from '../../../wire/http/join-streams.ts'
import { translateCommand } from '../../../wire/streaming/translate-command.ts'
import { openTunnel } from '../../../wire/streaming/websocket/tunnel.ts'
import type { SpdyBackend } from '../../outbound/proxy-target.ts'
import type { UpgradeRequest } from '../../transport/server-transport.ts'
import type { Exchange } from '../request/exchange.ts'
import { agreeOnSubprotocol } from '../websocket/web-socket-transport.ts'
import { withoutWebSocketToken } from '../websocket/websocket-token.ts'

const tunnelPrefix = 'SPDY/3.1+'
const commandChannels = 'v5.channel.k8s.io'

/**
 * A protocol upgrade that this server requests from the backend instead of the upgrade that the client requested. This
 * server translates between the two.
 */
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
 * Returns the upgrade to SPDY, or undefined if the client does not offer a WebSocket that this server translates.
 * Throws 400 for a malformed handshake.
 */
export function requestedTunnel({ transport, headers }: Exchange, backend: SpdyBackend): TunneledUpgrade | undefined {
  const protocols = transport.upgrade?.protocols.split(',').map((name) => name.trim().toLowerCase()) ?? []
  const offered = withoutWebSocketToken(headers.list('sec-websocket-protocol')).split(',')
  const name = 'command' in backend ? commandChannels : `${tunnelPrefix}${backend.protocol}`
  if (!protocols.includes('websocket') || !offered.some((each) => each.trim() === name)) return undefined
  return {
    upgrade: 'SPDY/3.1',
    headers: { 'x-stream-protocol-version': backend.protocol },
    dropped: ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol', 'sec-websocket-extensions'],
    answer: agreeOnSubprotocol(headers, { protocols: [name] }).answer,
  }
}

interface TunnelEnds {
  readonly upgrade: UpgradeRequest
  /** A connection that has switched to SPDY. */
  readonly socket: Duplex
  readonly backend: SpdyBackend
}

/** Relays the data between the client and the backend. */
export async function relayTunnel(
  exchange: Exchange,
  { answer }: TunneledUpgrade,
  { upgrade, socket, backend }: TunnelEnds,
): Promise<void> {
  for (let i = 0; i < answer.length; i += 2) exchange.setHeader(answer[i]!, answer[i + 1]!)
  const client = exchange.switchProtocols(upgrade)
  if ('command' in backend) await translateCommand({ client, server: socket }, backend.command)
  else await joinStreams(await openTunnel(client), socket)
}
