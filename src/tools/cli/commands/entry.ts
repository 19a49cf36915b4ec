/** Entries of the list of commands: single commands, or groups of commands below one word. */
import type { Command } from '../program/command.ts'

export interface CommandEntry {
  readonly name: string
  /** Alternative names. */
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Commands below one word, such as `orchctl config current-context`. */
export interface CommandGroup {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly commands: readonly (CommandEntry | CommandGroup)[]
  /** The command for the word alone, such as `orchctl create -f`. */
  readonly load?: () => Promise<Command>
}
