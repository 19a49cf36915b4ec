/**
 * Translates a remote command between a client that uses WebSocket channels and a server that uses SPDY. The client's
 * subprotocol must have the channels of `v5.channel.k8s.io`.
 */
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { CommandOptions } from './command.ts'
import type { MultiplexedStream } from './multiplexed-stream.ts'
import { SpdyConnection } from './spdy/connection.ts'
import { ChannelConnection } from './websocket/channels.ts'

/** The type of stream that each channel carries, by channel number. */
const streamTypes = ['stdin', 'stdout', 'stderr', 'error', 'resize'] as const
/** The order in which to open SPDY streams. Kubernetes clients use the same order. */
const openingOrder = ['error', 'stdin', 'stdout', 'stderr', 'resize'] as const

/** Relays the streams until the server has sent all output and the outcome, or until either side disconnects. */
export async function translateCommand(
  { client, server }: { readonly client: Duplex; readonly server: Duplex },
  { stdin, stdout, stderr, tty }: CommandOptions,
): Promise<void> {
  const channels = await ChannelConnection.open(client, { count: 5, isBase64: false, canClose: true, idleMs: 0 })
  const backend = new SpdyConnection(server, { idleMs: 0 })
  void channels.closed.then(() => backend.destroy())
  const isUsed = { stdin, stdout, stderr: stderr && !tty, error: true, resize: tty }
  const outputs: Promise<unknown>[] = []
  for (const type of openingOrder) {
    const channel = channels.streams[streamTypes.indexOf(type)]!
    if (!isUsed[type]) {
      // Discard data on unused channels, so that it does not block the connection.
      channel.resume()
      continue
    }
    const stream = backend.open({ streamtype: type })
    if (type === 'stdin' || type === 'resize') relay(channel, stream)
    else outputs.push(relay(stream, channel))
  }
  channels.announce(stdout ? 1 : isUsed.stderr ? 2 : 3)
  await Promise.all(outputs)
  await channels.end()
  backend.destroy()
}

/**
 * Copies all data from one stream to another. Discards data in the opposite direction. Resolves when everything has
 * been delivered, or when the target is closed.
 */
async function relay(source: MultiplexedStream, target: MultiplexedStream): Promise<void> {
  target.resume()
  source.pipe(target)
  try {
    await finished(target, { readable: false })
  } catch {
    // Ignore the error, because one side has disconnected.
  }
}
