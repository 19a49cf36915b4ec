/** The command line of a server, read: the same for the whole program and for each of its workers. */
import { parseFlags } from '../base/flags.ts'
import { syncFlags } from './flags/loops.ts'
import { type ServerOptions, serverFlags, type UpOptions, upFlags } from './flags/options.ts'

export type ServerCommand = 'up' | 'apiserver'

type UpFlags = Omit<typeof serverFlags, keyof typeof upFlags> & typeof upFlags

export interface ServerCommandLine {
  readonly options: ServerOptions
  /** Where the control loops are to run as well: the same options with theirs. */
  readonly up: (ServerOptions & UpOptions) | undefined
}

export function readServerFlags(command: ServerCommand, flags: readonly string[]): ServerCommandLine {
  if (command === 'apiserver') return { options: parseFlags(serverFlags, flags), up: undefined }
  const up = parseFlags({ ...serverFlags, ...upFlags, ...syncFlags } as UpFlags, flags)
  return { options: up, up }
}
