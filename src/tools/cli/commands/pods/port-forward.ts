/**
 * Implements `orchctl port-forward`, which forwards local ports to ports of a pod. Each connection uses its own
 * WebSocket.
 */

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { flag, UsageError } from '../../../../base/flags/flags.ts'
import { messageOf } from '../../../../base/text/errors.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { objectNameIn, type Session } from '../../connection/session.ts'
import { escapeLine, escapeText } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { type Channels, openChannels } from '../../streaming/channels.ts'
import { findPod, type Pod, podRunningTimeoutFlag } from '../../streaming/pods.ts'

const flags = {
  address: flag({
    name: 'address',
    value: 'ADDRESS,...',
    default: 'localhost',
    read: (value) => value.split(','),
    help: 'local addresses to listen on',
  }),
  podRunningTimeout: podRunningTimeoutFlag,
  ...connectionFlags,
}

export const portForwardCommand = defineCommand({
  name: 'port-forward',
  forms: ['POD [LOCAL_PORT:]REMOTE_PORT... [flags]', 'TYPE/NAME [LOCAL_PORT:]REMOTE_PORT... [flags]'],
  about: `Forward local ports to ports of a pod. The local port defaults to the remote port. If the local port is 0 or empty, orchctl picks a free port. For a service, orchctl picks one of its pods and forwards to the target port. Press Ctrl-C to stop.`,
  examples: ['orchctl port-forward web 8080:80', 'orchctl port-forward svc/web :http'],
  flags,
  run: async (context, { options, words }) => {
    const [target, ...ports] = words
    if (target === undefined) throw new UsageError('TYPE/NAME and list of ports are required for port-forward')
    if (ports.length === 0) throw new UsageError('at least 1 PORT is required for port-forward')
    await withTypedSession(context, options, async (session) => {
      const service = await serviceOf(session, target)
      const pod = await findPod(session, [target], options.podRunningTimeout)
      if (pod.status?.phase !== 'Running')
        throw new UsageError(
          `unable to forward port because pod is not running. Current status=${pod.status?.phase ?? 'unknown'}`,
        )
      const portPairs = ports.map((text) => readPorts(text, { service, pod }))
      const servers = (
        await Promise.all(portPairs.map((one) => listen(session, pod, { ...one, addresses: options.address })))
      ).flat()
      if (!context.signal.aborted) await once(context.signal, 'abort')
      for (const server of servers) server.close()
    })
  },
})

interface Service {
  spec?: { ports?: { name?: string; port?: number; targetPort?: number | string }[] }
}

async function serviceOf({ client, types, namespace, context }: Session, target: string): Promise<Service | undefined> {
  const [word = '', name = ''] = target.split('/')
  if (name === '') return undefined
  const type = await types.typeNamed(word)
  if (type.kind !== 'Service' || type.group !== '') return undefined
  return (await client.get(type, { namespace, name }, { signal: context.signal })) as Service
}

interface Ports {
  readonly local: number
  readonly remote: number
}

function readPorts(text: string, { service, pod }: { service: Service | undefined; pod: Pod }): Ports {
  const [first = '', second, ...more] = text.split(':')
  const remoteText = second ?? first
  const remote = remotePort(remoteText, { service, pod })
  const local =
    second === undefined ? (/^\d+$/.test(remoteText) ? Number(remoteText) : remote) : Number(first === '' ? '0' : first)
  if (more.length > 0 || remote === undefined || !isPort(local, 0))
    throw new UsageError(
      `${JSON.stringify(text)} does not have the form [LOCAL_PORT:]REMOTE_PORT, such as 8080:80, :80, 80 or http`,
    )
  return { local: local!, remote }
}

function isPort(value: number | undefined, least: number): boolean {
  return value !== undefined && Number.isInteger(value) && value >= least && value <= 65_535
}

/** Returns the port number in the pod. Resolves service ports and named ports. */
function remotePort(text: string, { service, pod }: { service: Service | undefined; pod: Pod }): number | undefined {
  if (service !== undefined) {
    const matchingPort = service.spec?.ports?.find(({ name, port }) => name === text || String(port) === text)
    if (matchingPort === undefined) throw new UsageError(`the service has no port ${text}`)
    const to = matchingPort.targetPort ?? matchingPort.port
    return typeof to === 'string' ? portOfPod(to, pod) : to
  }
  if (!/^\d{1,5}$/.test(text)) return portOfPod(text, pod)
  return isPort(Number(text), 1) ? Number(text) : undefined
}

function portOfPod(text: string, { metadata, spec }: Pod): number | undefined {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  const ports = (spec?.containers ?? []).flatMap(({ ports = [] }) => ports)
  const matchingPort = ports.find(({ name }) => name === text)
  if (matchingPort !== undefined || !/^[a-z0-9-]+$/.test(text)) return matchingPort?.containerPort
  const names = ports.flatMap(({ name }) => name ?? []).map(escapeLine)
  const portHint = names.length === 0 ? 'none of its ports has a name' : `it has: ${names.join(', ')}`
  throw new UsageError(`pod ${escapeLine(metadata.name ?? '')} does not have a named port '${text}'; ${portHint}`)
}

async function listen(
  session: Session,
  pod: Pod,
  { local, remote, addresses }: Ports & { addresses: readonly string[] },
): Promise<Server[]> {
  const { context } = session
  const hosts = addresses.flatMap((address) => (address === 'localhost' ? ['127.0.0.1', '::1'] : [address]))
  const servers: Server[] = []
  let port = local
  for (const host of hosts) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      context.out(`Handling connection for ${port}\n`)
      forward(session, socket, { pod, remote }).catch((error: unknown) => {
        socket.destroy()
        if (!context.signal.aborted)
          context.err(`an error occurred forwarding ${port} -> ${remote}: ${escapeText(messageOf(error))}\n`)
      })
    })
    try {
      server.listen(port, host)
      await once(server, 'listening')
    } catch (error) {
      // A machine may support only one of the two localhost addresses, so a failure to listen on one of them is
      // ignored.
      if (addresses.includes('localhost') && servers.length > 0) continue
      throw new UsageError(`cannot listen on ${host}:${port}: ${messageOf(error)}`)
    }
    port = (server.address() as { port: number }).port
    context.out(`Forwarding from ${host.includes(':') ? `[${host}]` : host}:${port} -> ${remote}\n`)
    servers.push(server)
  }
  return servers
}

const data = 0

async function forward(session: Session, socket: Socket, { pod, remote }: { pod: Pod; remote: number }): Promise<void> {
  socket.on('error', () => {})
  const path = objectPath(kinds.Pod, objectNameIn(session, kinds.Pod, pod.metadata.name ?? ''), 'portforward')
  const channels = await openChannels(session, path, new URLSearchParams({ ports: String(remote) }))
  socket.once('close', () => channels.close())
  const sending = send(socket, channels)
  sending.catch(() => socket.destroy())
  try {
    await receive(socket, channels)
  } finally {
    channels.close()
    socket.end()
  }
}

async function send(socket: Socket, channels: Channels): Promise<void> {
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) await channels.send(data, chunk as Buffer)
  if (channels.canEnd) await channels.end(data)
  // The port-forward protocol cannot signal the end of the input, so keep the connection open for a while in case a
  // response arrives.
  else setTimeout(() => channels.close(), lingerMs).unref()
}

const lingerMs = 30_000

/**
 * Copies data from the pod to the local connection. Skips the first two bytes on each channel, which contain the port
 * number.
 */
async function receive(socket: Socket, channels: Channels): Promise<void> {
  const startedChannels = new Set<number>()
  for await (const { channel, data: bytes } of channels.messages()) {
    const content = startedChannels.has(channel) ? bytes : bytes.subarray(2)
    startedChannels.add(channel)
    if (content.length === 0) continue
    if (channel !== data) throw new UsageError(content.toString('utf8'))
    if (!socket.write(content)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
}
