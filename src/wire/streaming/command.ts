/**
 * The streams of a remote command (exec or attach): stdin, stdout, stderr, terminal resizes, and an error stream that
 * reports the outcome. Over SPDY, the client opens a stream for each of these. Over a WebSocket, each stream has a
 * channel.
 */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { AgreedProtocol, SpokenProtocols } from './handshake.ts'
import type { MultiplexedStream } from './multiplexed-stream.ts'
import { SpdyConnection } from './spdy/connection.ts'
import { TerminalSizes } from './terminal-sizes.ts'
import { ChannelConnection } from './websocket/channels.ts'

/** Options of a remote command: the streams to use, and whether to allocate a terminal. */
export interface CommandOptions {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

export interface CommandStreams {
  readonly stdin: MultiplexedStream | undefined
  readonly stdout: MultiplexedStream | undefined
  readonly stderr: MultiplexedStream | undefined
  readonly terminal: TerminalSizes | undefined
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>
  /** Reports the outcome of the command to the client and closes the connection. */
  finish(outcome: CommandOutcome): Promise<void>
  destroy(): void
}

/** The outcome of a command: its exit code, or the reason why it could not be run. */
export type CommandOutcome = { readonly exitCode: number } | { readonly failure: string }

const versions = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io']

/** The subprotocols that the server supports for commands. */
export const commandProtocols: SpokenProtocols = {
  spdy: versions,
  websocket: [
    ...['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'],
    ...['channel.k8s.io', 'base64.channel.k8s.io'],
  ],
}

export interface CommandConnection {
  readonly socket: Duplex
  readonly protocol: AgreedProtocol
  readonly idleMs: number
  /** Maximum time in milliseconds to wait for the client to open its streams. */
  readonly openMs: number
}

/** Waits until the client has opened its streams. Resolves to undefined if this takes too long. */
export async function openCommand(
  connection: CommandConnection,
  options: CommandOptions,
): Promise<CommandStreams | undefined> {
  return connection.protocol.over === 'spdy'
    ? await openSpdy(connection, options)
    : await openChannels(connection, options)
}

const streamTypes = ['stdin', 'stdout', 'stderr', 'error', 'resize'] as const
type StreamType = (typeof streamTypes)[number]
type Streams = { [type in StreamType]?: MultiplexedStream }

async function openSpdy(
  { socket, protocol, idleMs, openMs }: CommandConnection,
  options: CommandOptions,
): Promise<CommandStreams | undefined> {
  const streams: Streams = {}
  const expected = expectedStreams(options, protocol.name)
  const complete = Promise.withResolvers<true>()
  const connection = new SpdyConnection(socket, {
    idleMs,
    onStream: ({ headers, stream }) => {
      const type = expected.find((each) => each === headers.get('streamtype'))
      if (type === undefined || streams[type] !== undefined) throw new Error('unexpected stream type')
      streams[type] = stream
      if (expected.every((each) => streams[each] !== undefined)) complete.resolve(true)
    },
  })
  const timer = setTimeout(() => connection.destroy(), openMs).unref()
  const isComplete = await Promise.race([complete.promise, connection.closed])
  clearTimeout(timer)
  return isComplete === true
    ? commandStreams(streams, connection, { hasStatus: protocol.name === versions[0] })
    : undefined
}

function expectedStreams({ stdin, stdout, stderr, tty }: CommandOptions, version: string): StreamType[] {
  const resizes = tty && (version === versions[0] || version === versions[1])
  const isExpected = { stdin, stdout, stderr, error: true, resize: resizes }
  return streamTypes.filter((type) => isExpected[type])
}

async function openChannels(
  { socket, protocol, idleMs }: CommandConnection,
  { stdin, stdout, stderr, tty }: CommandOptions,
): Promise<CommandStreams> {
  const isBase64 = protocol.name.includes('base64')
  const canClose = protocol.name.startsWith('v5.')
  const connection = await ChannelConnection.open(socket, { count: 5, isBase64, canClose, idleMs })
  const [stdinStream, stdoutStream, stderrStream, error, resize] = connection.streams
  connection.announce(stdout ? 1 : stderr ? 2 : 3)
  const streams: Streams = {
    ...(stdin && stdinStream ? { stdin: stdinStream } : {}),
    ...(stdout && stdoutStream ? { stdout: stdoutStream } : {}),
    ...(stderr && stderrStream ? { stderr: stderrStream } : {}),
    ...(error ? { error } : {}),
    ...(tty && resize ? { resize } : {}),
  }
  // Discard data on unused channels, so that it does not block the connection.
  for (const stream of connection.streams) if (!Object.values(streams).includes(stream)) stream.resume()
  return commandStreams(streams, connection, { hasStatus: /^v[45]\./.test(protocol.name) })
}

function commandStreams(
  { stdin, stdout, stderr, error, resize }: Streams,
  connection: SpdyConnection | ChannelConnection,
  { hasStatus }: { readonly hasStatus: boolean },
): CommandStreams {
  // Discard data that the client sends on streams meant for output.
  for (const stream of [stdout, stderr, error]) stream?.resume()
  return {
    stdin,
    stdout,
    stderr,
    terminal: resize && new TerminalSizes(resize),
    closed: connection.closed,
    destroy: () => connection.destroy(),
    finish: async (outcome) => {
      await Promise.all([stdout, stderr].map(ended))
      const report = hasStatus ? JSON.stringify(statusOf(outcome)) : messageOf(outcome)
      if (report !== undefined) error?.write(report)
      await ended(error)
      await connection.end()
    },
  }
}

async function ended(stream: MultiplexedStream | undefined): Promise<void> {
  if (stream === undefined || stream.destroyed || stream.writableFinished) return
  stream.end()
  await Promise.race([once(stream, 'finish'), once(stream, 'close')]).catch(() => {})
}

function messageOf(outcome: CommandOutcome): string | undefined {
  if ('failure' in outcome) return outcome.failure
  return outcome.exitCode === 0
    ? undefined
    : `command terminated with non-zero exit code: exit status ${outcome.exitCode}`
}

/** Returns a Status object that describes the outcome of a command. */
function statusOf(outcome: CommandOutcome): object {
  const message = messageOf(outcome)
  if (message === undefined) return { metadata: {}, status: 'Success' }
  const failed = { metadata: {}, status: 'Failure', message }
  if ('failure' in outcome) return { ...failed, reason: 'InternalError', code: 500 }
  const causes = [{ reason: 'ExitCode', message: String(outcome.exitCode) }]
  return { ...failed, reason: 'NonZeroExitCode', details: { causes } }
}
