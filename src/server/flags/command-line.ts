/** Parses the command line of a server, both in the main process and in its workers. */
import { type Flags, parseFlags } from '../../base/flags/flags.ts'
import type { FlagGroups } from './configuration-file.ts'
import { type ServerOptions, serverFlagGroups, serverFlags } from './options.ts'
import type { UpOptions } from './up.ts'

/** Name of a command that starts an API server. */
export type ServerCommand = (typeof serverCommands)[number]

/** Names of the commands that start an API server. */
export const serverCommands = ['up', 'apiserver'] as const

/** The parsed command line of `orch up` or `orch apiserver`. */
export interface ServerCommandLine {
  readonly options: ServerOptions
  /**
   * The options of the server and of the control loops. Undefined for `orch apiserver`, which runs no control loops.
   */
  readonly up: (ServerOptions & UpOptions) | undefined
}

/** Import the flags of `orch up` on demand, because a plain API server does not need them. */
async function loadUpFlags() {
  return await import('./up.ts')
}

/** Returns the flags that a server command accepts, by option name. */
export async function allFlagsOf(command: ServerCommand): Promise<Flags> {
  return command === 'up' ? (await loadUpFlags()).allUpFlags : serverFlags
}

/** Returns the flags of a command, grouped as in its help text. */
export async function flagGroupsOf(command: ServerCommand): Promise<FlagGroups> {
  if (command === 'apiserver') return serverFlagGroups
  const { allUpFlags, upOnlyFlags } = await loadUpFlags()
  const upFlags: Flags = allUpFlags
  const shared = Object.entries(serverFlagGroups).map(([title, flags]) => [
    title,
    Object.fromEntries(Object.entries(flags).map(([option, flag]) => [option, upFlags[option] ?? flag])),
  ])
  return { 'Control loop and node': upOnlyFlags, ...Object.fromEntries(shared) }
}

/** Parses the flags of a command that starts an API server. Throws UsageError. */
export async function readServerFlags(command: ServerCommand, flags: readonly string[]): Promise<ServerCommandLine> {
  if (command === 'apiserver') return { options: parseFlags(serverFlags, flags), up: undefined }
  const up = parseFlags((await loadUpFlags()).allUpFlags, flags)
  return { options: up, up }
}

/** Throws UsageError if the flags name an unknown control loop. */
export async function assertLoopNames({ up }: ServerCommandLine): Promise<void> {
  if (up === undefined) return
  const [{ controlLoops }, { selectLoops }] = await Promise.all([
    import('../../cluster/controllers/all.ts'),
    import('../../cluster/controllers/select-loops.ts'),
  ])
  selectLoops(controlLoops, up.controllers)
}
