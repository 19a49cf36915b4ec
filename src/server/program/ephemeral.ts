/**
 * A server without persistent data (`--ephemeral`), for test suites in any language. Its store is in memory if the
 * machine has a memory-backed directory. The server uses a free port, prints its kubeconfig to standard output, and
 * exits when its parent program exits. Explicit flags override these defaults.
 */
import { fstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../base/files/temporary-directory.ts'
import { type Flags, UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { ServerOptions } from '../flags/options.ts'

const parentCheckMs = 500

/**
 * Returns the command line with the defaults of `--ephemeral` added, or the unchanged command line without that flag.
 * `knownFlags` contains the flags of the command. The directory is removed when the process exits.
 */
export function withEphemeralDefaults(args: readonly string[], knownFlags: Flags): readonly string[] {
  if (!args.some((arg) => arg === '--ephemeral' || arg === '--ephemeral=true')) return args
  const isGiven = (name: string) => args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))
  for (const name of ['etcd-servers', 'data-dir'])
    if (isGiven(name))
      throw new UsageError(`--${name} and --ephemeral are mutually exclusive: an ephemeral server keeps no data`)
  const directory = ephemeralDirectory()
  return [
    ...args,
    `--data-dir=${join(directory, 'data')}`,
    ...(isGiven('secure-port') ? [] : ['--secure-port=0']),
    // There are no nodes by default, because tests of controllers expect that no other program acts on the pods.
    ...(isGiven('nodes') || !Object.hasOwn(knownFlags, 'nodes') ? [] : ['--nodes=0']),
    ...(isGiven('admin-kubeconfig') ? [] : [`--admin-kubeconfig=${join(directory, printedConfig)}`]),
  ]
}

const printedConfig = 'admin.kubeconfig'

/** Returns what `--ephemeral` prints once the server is ready: the kubeconfig, or its path. */
export function ephemeralGreeting(url: string, { adminKubeconfig, dataDir }: ServerOptions): string {
  if (adminKubeconfig === join(dataDir, '..', printedConfig)) return readFileSync(adminKubeconfig, 'utf8')
  return `orch is serving at ${url}, stores nothing, and exits with its caller (administrator: ${adminKubeconfig || 'none'})\n`
}

/** Calls `stop` once when the parent process exits, or when standard input ends if it is a pipe. */
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

/**
 * Whether a descriptor is a pipe. Only the end of a pipe shows that the parent process has exited. The end of a
 * terminal, a regular file or /dev/null does not.
 */
function isPipe(descriptor: number): boolean {
  try {
    const state = fstatSync(descriptor)
    return state.isFIFO() || state.isSocket()
  } catch {
    return false // Standard input was already closed at startup.
  }
}

/** Creates a directory that is removed when the process exits. The directory is in memory if possible. */
export function ephemeralDirectory(): string {
  try {
    return temporaryDirectory('orch-ephemeral-')
  } catch (error) {
    throw new UsageError(`--ephemeral: ${messageOf(error)}`, { cause: error })
  }
}
