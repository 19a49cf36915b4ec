/**
 * Memory of the commands that run in simulated containers. A user who may run commands decides what a command holds, so
 * each environment is bounded, and so are all environments of one simulation together. The bounds of one environment are
 * those of Linux: 128 KiB for a variable and 2 MiB for all of them.
 */
import { ReadLimit } from '../volumes/read-limit.ts'

/** Maximum length of a variable, in characters. */
export const maxVariableLength = 128 * 1024
/** Maximum length of all variables of an environment, in characters. */
export const maxEnvironmentLength = 2 * 1024 * 1024
const maxTotalLength = 32 * 1024 * 1024
/** Charged for each variable in addition to its text. */
const variableOverhead = 64

/** A command needs more memory than it may use. The message is one that Linux users know. */
export class CommandMemoryError extends Error {
  override readonly name = 'CommandMemoryError'
}

/** The memory that all commands of a simulation share. */
export class CommandMemory {
  /** For the objects that variables come from. */
  readonly reads = new ReadLimit()
  #used = 0

  /** Charges this length, or releases it where it is negative. Throws CommandMemoryError if no memory is left. */
  charge(length: number): void {
    if (length > 0 && this.#used + length > maxTotalLength)
      throw new CommandMemoryError('cannot allocate memory: the commands of the simulated nodes use all of it')
    this.#used += length
  }
}

/** The variables of one command. `close` releases their memory. */
export class Environment {
  readonly #memory: CommandMemory
  readonly #values = new Map<string, string>()
  #length = 0

  constructor(memory: CommandMemory) {
    this.#memory = memory
  }

  get(name: string): string | undefined {
    return this.#values.get(name)
  }

  entries(): Iterable<readonly [name: string, value: string]> {
    return this.#values
  }

  /** Throws CommandMemoryError for a variable that is too long, and where no memory is left. */
  set(name: string, value: string): void {
    if (name.length + value.length >= maxVariableLength)
      throw new CommandMemoryError(
        `argument list too long: ${name.slice(0, 100)} exceeds ${maxVariableLength} characters`,
      )
    const previous = this.#values.get(name)
    const change = chargedLength(name, value) - (previous === undefined ? 0 : chargedLength(name, previous))
    if (this.#length + change > maxEnvironmentLength)
      throw new CommandMemoryError(`argument list too long: all variables exceed ${maxEnvironmentLength} characters`)
    this.#memory.charge(change)
    this.#length += change
    this.#values.set(ownCopy(name), ownCopy(value))
  }

  close(): void {
    this.#memory.charge(-this.#length)
    this.#length = 0
    this.#values.clear()
  }
}

function chargedLength(name: string, value: string): number {
  return name.length + value.length + variableOverhead
}

/** A part of a text keeps the whole text in memory, such as the line that a user typed. A copy does not. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString()
}
