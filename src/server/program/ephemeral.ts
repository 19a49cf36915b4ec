/**
 * A server that keeps nothing (`--ephemeral`), for test suites in any language: its store lies in memory where the
 * machine has a directory for that, its port is a free one, its client config goes to the standard output, and it ends
 * with the program that started it. What a flag says counts instead.
 */
import { fstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../base/files/temporary-directory.ts'
import { type Flags, UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { ServerOptions } from '../flags/options.ts'

const parentCheckMs = 500

/**
 * The command line with what `--ephemeral` means; unchanged without it. `known`: the flags of the command. The directory
 * is removed when the process ends.
 */
export function withEphemeralDefaults(args: readonly string[], known: Flags): readonly string[] {
  if (!args.some((arg) => arg === '--ephemeral' || arg === '--ephemeral=true')) return args
  const isGiven = (name: string) => args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))
  for (const name of ['etcd-servers', 'data-dir'])
    if (isGiven(name))
      throw new UsageError(`--${name} and --ephemeral exclude each other: an ephemeral server keeps nothing`)
  const directory = ephemeralDirectory()
  return [
    ...args,
    `--data-dir=${join(directory, 'data')}`,
    ...(isGiven('secure-port') ? [] : ['--secure-port=0']),
    // Tests of controllers expect that nobody but they makes pods run.
    ...(isGiven('nodes') || !Object.hasOwn(known, 'nodes') ? [] : ['--nodes=0']),
    ...(isGiven('admin-kubeconfig') ? [] : [`--admin-kubeconfig=${join(directory, printedConfig)}`]),
  ]
}

const printedConfig = 'admin.kubeconfig'

/** What an ephemeral server prints when it is ready: its client config, or the file that has it. */
export function ephemeralGreeting(url: string, { adminKubeconfig, dataDir }: ServerOptions): string {
  if (adminKubeconfig === join(dataDir, '..', printedConfig)) return readFileSync(adminKubeconfig, 'utf8')
  return `orch is serving at ${url}, keeps nothing, and ends with its caller (administrator: ${adminKubeconfig || 'none'})\n`
}

/**
 * Calls `stop` once when nobody needs the server any more: its standard input, if that is a pipe, has ended, or the
 * process that started it is gone.
 */
export function whenAbandoned(stop: () => void): void {
  const parent = process.ppid
  let called = false
  const once = () => {
    if (called) return
    called = true
    clearInterval(timer)
    stop()
  }
  const timer = setInterval(() => {
    if (process.ppid !== parent) once()
  }, parentCheckMs).unref()
  if (!isPipe(0)) return
  process.stdin.on('end', once)
  process.stdin.on('close', once)
  process.stdin.on('error', once)
  process.stdin.resume()
}

/** A terminal, a file and /dev/null say nothing about whether somebody is there. */
function isPipe(descriptor: number): boolean {
  try {
    const state = fstatSync(descriptor)
    return state.isFIFO() || state.isSocket()
  } catch {
    return false // It was closed before we began.
  }
}

/** A directory, in memory where that is possible, that is removed when the process ends. */
export function ephemeralDirectory(): string {
  try {
    return temporaryDirectory('orch-ephemeral-')
  } catch (error) {
    throw new UsageError(`--ephemeral: ${messageOf(error)}`, { cause: error })
  }
}
