/**
 * Runs a command as the leader of a process group. On a timeout, the whole group is killed, so that no child process
 * keeps the output open and blocks the test.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export interface CommandOptions {
  /** Text for the standard input of the command. */
  readonly input?: string
  /** Timeout. Defaults to two minutes. */
  readonly timeoutMs?: number
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Throws on a timeout, or if a signal terminated the command. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { input = '', timeoutMs = 120_000, ...settings }: CommandOptions = {},
): Promise<Ran> {
  const child = spawn(command, args, { ...settings, detached: true })
  const kill = () => killGroup(child.pid)
  const timer = setTimeout(kill, timeoutMs)
  process.once('exit', kill)
  child.stdin.on('error', ignoreClosedPipe).end(input)
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ]).finally(() => {
    clearTimeout(timer)
    process.off('exit', kill)
  })
  if (code === null) throw new Error(`${[command, ...args].join(' ')}: ended by ${signal}\n${stdout}${stderr}`)
  return { code, stdout, stderr }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // The process had exited before the signal was sent.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * Ignores errors caused by a closed standard input, because a command that reads no input may exit before the input is
 * written.
 */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
