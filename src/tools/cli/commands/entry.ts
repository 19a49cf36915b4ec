/** Types of the entries in the command list: single commands, and groups of commands such as `orchctl config`. */
import type { Command } from '../program/command.ts'

export interface CommandEntry {
  readonly name: string
  /** Alternative names of the command. */
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Commands with a common first word, such as `orchctl config current-context`. */
export interface CommandGroup {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly commands: readonly (CommandEntry | CommandGroup)[]
  /** Loads the command, such as `orchctl create -f`, that runs if no subcommand is given. */
  readonly load?: () => Promise<Command>
}
