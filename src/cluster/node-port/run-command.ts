/**
 * Runs commands in containers, either with streams on an upgraded connection (exec, attach) or with the output as the
 * response (run).
 */

import { type Duplex, Writable } from 'node:stream'
import { isError } from '../../base/text/errors.ts'
import {
  type CommandOptions,
  type CommandOutcome,
  commandProtocols,
  openCommand,
} from '../../wire/streaming/command.ts'
import { agreeOnProtocol } from '../../wire/streaming/handshake.ts'
import type { Answer, PortCall, Refusal } from './port-call.ts'
import type { ContainerRuntime, ContainerStreams } from './runtime.ts'
import { switchProtocols } from './switch-protocols.ts'

export interface WantedCommand {
  readonly action: 'exec' | 'attach'
  readonly container: ContainerRuntime
}

/**
 * Serves an exec or attach request. Resolves with an error response if the request is rejected, or with undefined when
 * the command has ended.
 */
export async function runCommand(
  call: PortCall,
  socket: Duplex,
  requestedCommand: WantedCommand,
): Promise<Refusal | undefined> {
  const { request, url, idleMs, openMs, signal } = call
  const options = commandOptions(url.searchParams)
  if (options === undefined) return { status: 400, text: 'you must specify at least 1 of stdin, stdout, stderr' }
  if (!requestedCommand.container.isRunning) return { status: 500, text: 'container not found: it is not running' }
  const protocol = agreeOnProtocol(request.headers, commandProtocols)
  if ('status' in protocol) return { status: protocol.status, text: protocol.message, headers: protocol.headers ?? {} }
  switchProtocols(socket, protocol.headers)
  const streams = await openCommand({ socket, protocol, idleMs, openMs }, options)
  if (streams === undefined) return undefined
  const { stdin, stdout, stderr, terminal } = streams
  const outcome = await outcomeOf(call, requestedCommand, { stdin, stdout, stderr, terminal, signal })
  await streams.finish(outcome)
  return undefined
}

/** Parses the query options that a kubelet accepts. With a terminal, all output is in one stream. */
function commandOptions(query: URLSearchParams): CommandOptions | undefined {
  const is = (name: string) => query.get(name) === '1' || query.get(name) === 'true'
  const tty = is('tty')
  const options = { stdin: is('input'), stdout: is('output'), stderr: is('error') && !tty, tty }
  return options.stdin || options.stdout || options.stderr ? options : undefined
}

async function outcomeOf(
  { url }: PortCall,
  { action, container }: WantedCommand,
  streams: ContainerStreams,
): Promise<CommandOutcome> {
  try {
    if (action === 'exec') return { exitCode: await container.exec(url.searchParams.getAll('command'), streams) }
    await container.attach(streams)
    return { exitCode: 0 }
  } catch (error) {
    const why = isError(error) ? error.message : 'it failed'
    return { failure: `error ${action === 'exec' ? 'executing command in' : 'attaching to'} container: ${why}` }
  }
}

const maxOutputBytes = 1024 * 1024

/** Handles `/run`: returns the output of a command, up to a limit. */
export async function runAndCollect({ url, signal }: PortCall, container: ContainerRuntime): Promise<Answer> {
  if (!container.isRunning) return { status: 500, text: 'container not found: it is not running' }
  const command = url.searchParams.get('cmd')?.split(' ') ?? []
  const parts: Buffer[] = []
  let size = 0
  const output = () =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (size < maxOutputBytes) parts.push(chunk)
        size += chunk.length
        done()
      },
    })
  const streams = { stdin: undefined, stdout: output(), stderr: output(), terminal: undefined, signal }
  try {
    const code = await container.exec(command, streams)
    const text = Buffer.concat(parts).subarray(0, maxOutputBytes).toString()
    return code === 0 ? { status: 200, text } : { status: 500, text: `exit code ${code}: ${text}` }
  } catch (error) {
    return { status: 500, text: isError(error) ? error.message : 'it failed' }
  }
}
