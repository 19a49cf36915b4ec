/** Parses the command line of a server, both in the main process and in its workers. */
import { type Flags, parseFlags } from '../../base/flags/flags.ts'
import { type ServerOptions, serverFlags } from './options.ts'
import type { UpOptions } from './up.ts'

/** A command that starts an API server. */
export type ServerCommand = 'up' | 'apiserver'

/** The options of a command that starts an API server. */
export interface ServerCommandLine {
  readonly options: ServerOptions
  /** The same options plus those of the control loops. Undefined for `orch apiserver`, which runs none. */
  readonly up: (ServerOptions & UpOptions) | undefined
}

/** Loads the flags of `orch up` on demand: a server without control loops does not need them. */
async function loadUpFlags() {
  const { allUpFlags } = await import('./up.ts')
  return allUpFlags
}

/** Returns all flags of a command. */
export async function knownFlags(command: ServerCommand): Promise<Flags> {
  return command === 'up' ? await loadUpFlags() : serverFlags
}

/** Parses the flags of a command that starts an API server. Throws UsageError. */
export async function readServerFlags(command: ServerCommand, flags: readonly string[]): Promise<ServerCommandLine> {
  if (command === 'apiserver') return { options: parseFlags(serverFlags, flags), up: undefined }
  const up = parseFlags(await loadUpFlags(), flags)
  return { options: up, up }
}
