/**
 * Runs a command in a container with the user's input and output, and returns its exit code. If the output is shown on
 * a terminal but the command has no remote terminal (`-t`), control sequences other than colors are escaped.
 */
import { TransportError } from '../../../client/requests/transport.ts'
import type { Session } from '../connection/session.ts'
import { escapeOutput } from '../printers/escape.ts'
import { type Context, ExitCode } from '../program/command.ts'
import { type Channels, openChannels, streams } from './channels.ts'

export interface RemoteCommand {
  /** URL path of the pod's `exec` or `attach` subresource. */
  readonly path: string
  readonly container: string
  /** Command and arguments. Used only by `exec`. */
  readonly command?: readonly string[]
  readonly tty: boolean
  /** Standard input for the command. If undefined, the command gets no input. */
  readonly input?: AsyncIterable<Uint8Array> | undefined
  /** Receives the output. If undefined, the output is shown to the user. */
  readonly onOutput?: (data: Buffer) => Promise<void>
  readonly onOpen?: (channels: Channels) => void
}

/** Runs the command. Throws ExitCode if the command fails. */
export async function runRemotely(session: Session, remote: RemoteCommand): Promise<void> {
  const channels = await openChannels(session, remote.path, queryOf(remote))
  remote.onOpen?.(channels)
  const { context } = session
  const undo = remote.tty && remote.input !== undefined ? context.rawInput() : () => {}
  const stopSizes = remote.tty
    ? context.followSize(({ columns, rows }) => {
        const size = Buffer.from(JSON.stringify({ Width: columns, Height: rows }))
        // Ignore the error: if the connection is closed, the terminal size no longer matters.
        channels.send(streams.resize, size).catch(() => {})
      })
    : () => {}
  try {
    const feeding = remote.input === undefined ? undefined : feed(channels, remote.input)
    // If reading the input fails, close the connection. The error is reported afterwards.
    feeding?.catch(() => channels.close())
    judge(context, await readOutput(session, channels, remote))
  } finally {
    undo()
    stopSizes()
    channels.close()
  }
}

function queryOf({ command = [], container, tty, input }: RemoteCommand): URLSearchParams {
  const query = new URLSearchParams(command.map((word) => ['command', word]))
  query.set('container', container)
  query.set('stdin', String(input !== undefined))
  query.set('stdout', 'true')
  query.set('stderr', String(!tty))
  query.set('tty', String(tty))
  return query
}

async function feed(channels: Channels, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of input) await channels.send(streams.stdin, chunk)
  await channels.end(streams.stdin)
}

/** Reads the output. Returns the final status from the server, or undefined if the server sent no status. */
async function readOutput(
  { context }: Session,
  channels: Channels,
  { tty, onOutput }: RemoteCommand,
): Promise<string | undefined> {
  let status: string | undefined
  const escapeForTerminal = context.terminal.out && !tty ? decoding(escapeOutput) : (data: Buffer) => data
  const reported = decoding(context.terminal.err && !tty ? escapeOutput : (text) => text)
  for await (const { channel, data } of channels.messages()) {
    if (channel === streams.error) status = (status ?? '') + data.toString('utf8')
    else if (channel === streams.stderr) context.err(reported(data))
    else if (channel === streams.stdout && onOutput !== undefined) await onOutput(data)
    else if (channel === streams.stdout) {
      context.out(escapeForTerminal(data))
      await context.drained()
    }
    if (status !== undefined && isWhole(status)) break
  }
  return status
}

/** Decodes text in chunks, including characters that are split between two chunks. */
function decoding(change: (text: string) => string): (data: Buffer) => string {
  const decoder = new TextDecoder()
  return (data) => change(decoder.decode(data, { stream: true }))
}

function isWhole(status: string): boolean {
  try {
    JSON.parse(status)
    return true
  } catch {
    return false
  }
}

interface Outcome {
  status?: string
  message?: string
  reason?: string
  details?: { causes?: { reason?: string; message?: string }[] }
}

function judge({ err }: Context, text: string | undefined): void {
  if (text === undefined) return
  const outcome = readOutcome(text)
  if (outcome.status === 'Success') return
  const code = outcome.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  if (outcome.reason === 'NonZeroExitCode' && code !== undefined && /^\d{1,3}$/.test(code)) {
    err(`command terminated with exit code ${code}\n`)
    throw new ExitCode(Number(code))
  }
  throw new TransportError(outcome.message ?? 'the command failed, and the server reported no reason')
}

function readOutcome(text: string): Outcome {
  try {
    return JSON.parse(text) as Outcome
  } catch {
    return { message: text }
  }
}
