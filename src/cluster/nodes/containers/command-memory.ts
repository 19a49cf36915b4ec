/**
 * Memory limits for commands in simulated containers. Users decide how much memory a command uses, so both the size of
 * each environment and the combined size of all environments in one simulation are limited. The limits of one
 * environment are the same as on Linux: 128 KiB per variable and 2 MiB in total.
 */
import { ReadLimit } from '../volumes/read-limit.ts'

/** Maximum length of a variable in characters. */
export const maxVariableLength = 128 * 1024
/** Maximum total length of the variables of an environment in characters. */
export const maxEnvironmentLength = 2 * 1024 * 1024
const maxTotalLength = 32 * 1024 * 1024
/** Fixed overhead that is charged for each variable in addition to its text, in characters. */
const variableOverhead = 64

/** Thrown if a command exceeds its memory limit. The message is the same as on Linux. */
export class CommandMemoryError extends Error {
  override readonly name = 'CommandMemoryError'
}

/** The memory budget that all commands of a simulation share. */
export class CommandMemory {
  /** Limits the number of concurrent reads of ConfigMaps and Secrets for environment variables. */
  readonly reads = new ReadLimit()
  #used = 0

  /**
   * Reserves memory for a text of this length. A negative length releases memory. Throws CommandMemoryError if the
   * budget is exhausted.
   */
  charge(length: number): void {
    if (length > 0 && this.#used + length > maxTotalLength)
      throw new CommandMemoryError(
        'cannot allocate memory: commands on simulated nodes already use all available memory',
      )
    this.#used += length
  }
}

/** The environment variables of one command. `close` returns their memory to the budget. */
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

  /** Sets a variable. Throws CommandMemoryError if the variable is too long or no memory is left. */
  set(name: string, value: string): void {
    if (name.length + value.length >= maxVariableLength)
      throw new CommandMemoryError(
        `argument list too long: ${name.slice(0, 100)} exceeds ${maxVariableLength} characters`,
      )
    const previous = this.#values.get(name)
    const change = chargedLength(name, value) - (previous === undefined ? 0 : chargedLength(name, previous))
    if (this.#length + change > maxEnvironmentLength)
      throw new CommandMemoryError(
        `argument list too long: the variables exceed ${maxEnvironmentLength} characters in total`,
      )
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

/** Copies a string. In V8, a substring keeps its whole original, such as a long input line, in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString()
}
