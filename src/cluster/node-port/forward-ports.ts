/** Forwards ports of a pod to a client. */
import type { Duplex } from 'node:stream'
import { forwardingProtocols, forwardPorts, portOf } from '../../wire/streaming/forwarding.ts'
import { agreeOnProtocol } from '../../wire/streaming/handshake.ts'
import type { PortCall, Refusal } from './port-call.ts'
import type { PodRuntime } from './runtime.ts'
import { switchProtocols } from './switch-protocols.ts'

/** Maximum number of ports per connection. */
const maxPorts = 64

/**
 * Serves a port-forward request. Resolves with an error response if the request is rejected, or with undefined when the
 * connection is closed.
 */
export async function forwardFrom(call: PortCall, socket: Duplex, pod: PodRuntime): Promise<Refusal | undefined> {
  const { request, url, idleMs, openMs } = call
  const protocol = agreeOnProtocol(request.headers, forwardingProtocols)
  if ('status' in protocol) return { status: protocol.status, text: protocol.message, headers: protocol.headers ?? {} }
  const requestedPorts = url.searchParams.getAll('port').flatMap((text) => text.split(','))
  const ports = requestedPorts.map(portOf).filter((port) => port !== undefined)
  if (
    protocol.over === 'websocket' &&
    (ports.length === 0 || ports.length < requestedPorts.length || ports.length > maxPorts)
  )
    return { status: 400, text: `query parameter "port" must be one to ${maxPorts} ports from 1 to 65535` }
  switchProtocols(socket, protocol.headers)
  const connect = (port: number, stream: Duplex, signal: AbortSignal) => pod.connect(port, stream, signal)
  await forwardPorts({ socket, protocol, ports, idleMs, openMs, connect })
  return undefined
}
