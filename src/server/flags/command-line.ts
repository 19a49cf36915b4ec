/** The command line of a server, read: the same for the whole program and for each of its workers. */
import { type Flags, parseFlags } from '../../base/flags/flags.ts'
import { type ServerOptions, serverFlags } from './options.ts'
import type { UpOptions } from './up.ts'

/** A command that starts an API server. */
export type ServerCommand = 'up' | 'apiserver'

/** The options of a command that starts an API server. */
export interface ServerCommandLine {
  readonly options: ServerOptions
  /** Where the control loops are to run as well: the same options with theirs. */
  readonly up: (ServerOptions & UpOptions) | undefined
}

/** A server without control loops loads neither them nor their flags. */
async function loadUpFlags() {
  const { allUpFlags } = await import('./up.ts')
  return allUpFlags
}

/** The flags that a command takes. */
export async function knownFlags(command: ServerCommand): Promise<Flags> {
  return command === 'up' ? await loadUpFlags() : serverFlags
}

/** Parses the flags of a command that starts an API server. Throws UsageError. */
export async function readServerFlags(command: ServerCommand, flags: readonly string[]): Promise<ServerCommandLine> {
  if (command === 'apiserver') return { options: parseFlags(serverFlags, flags), up: undefined }
  const up = parseFlags(await loadUpFlags(), flags)
  return { options: up, up }
}
