/**
 * Entries of the list of commands. An entry is a single command or a group of commands that start with the same word.
 */
import type { Command } from '../program/command.ts'

export interface CommandEntry {
  readonly name: string
  /** Alternative names of the command. */
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** A group of commands that start with the same word, such as `orchctl config current-context`. */
export interface CommandGroup {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly commands: readonly (CommandEntry | CommandGroup)[]
  /** Loads the command that runs if no subcommand is given, such as `orchctl create -f`. */
  readonly load?: () => Promise<Command>
}
