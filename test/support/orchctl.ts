/** Runs orchctl against a test server, as its administrator, either in this process or in a separate process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { Context } from '../../src/tools/cli/program/command.ts'
import { main } from '../../src/tools/cli/program/main.ts'
import { asForUsers } from './compile-cache.ts'
import { type Ran, runCommand } from './run-command.ts'
import { root, type Served } from './server.ts'

export interface Surroundings {
  readonly env?: Context['env']
  readonly home?: string
  readonly directory?: string
  /** Text for the standard input of orchctl. */
  readonly stdin?: string
  readonly runProgram?: Context['runProgram']
  readonly terminal?: Context['terminal']
}

/** Runs orchctl in this process, without the environment variables of this process. */
export async function orchctl(args: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  return await startOrchctl(args, surroundings).ended
}

export interface Running {
  readonly ended: Promise<Ran>
  /** Output of orchctl so far. */
  stdout(): string
  /** Emits `data` after each chunk of output from orchctl. */
  readonly output: EventEmitter
  stop(): void
}

export function startOrchctl(args: readonly string[], { stdin = '', ...surroundings }: Surroundings = {}): Running {
  const stop = new AbortController()
  const output = new EventEmitter()
  let stdout = ''
  let stderr = ''
  const context: Omit<Context, 'commandLine'> = {
    out: (text) => {
      stdout += typeof text === 'string' ? text : Buffer.from(text).toString()
      output.emit('data')
    },
    drained: async () => {},
    inputStream: async function* () {
      yield Buffer.from(stdin)
    },
    rawInput: () => () => {},
    followSize: () => () => {},
    err: (text) => {
      stderr += text
    },
    input: async () => Buffer.from(stdin),
    terminal: { out: false, err: false },
    runProgram: async (program, args) => {
      const ran = await runCommand(program, args)
      stdout += ran.stdout
      stderr += ran.stderr
      return ran.code
    },
    env: {},
    home: '/nonexistent',
    directory: '/nonexistent',
    ...surroundings,
    signal: stop.signal,
  }
  const ended = main(context, args).then((code) => ({ code, stdout, stderr }))
  return { ended, output, stdout: () => stdout, stop: () => stop.abort() }
}

export function configOf({ directory }: Served): string {
  return join(directory, 'admin.kubeconfig')
}

export function spawnOrchctl(server: Served, args: readonly string[]): ChildProcess {
  const env = { ...asForUsers(), KUBECONFIG: configOf(server) }
  return spawn(join(root, 'bin/orchctl'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
}
