/** What the list of commands is made of: a command by itself, or several below one word. */
import type { Command } from '../program/command.ts'

export interface CommandEntry {
  readonly name: string
  /** Other words for it. */
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Commands below one word: `orchctl config current-context`. */
export interface CommandGroup {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly commands: readonly (CommandEntry | CommandGroup)[]
  /** What the word does by itself: `orchctl create -f`. */
  readonly load?: () => Promise<Command>
}
