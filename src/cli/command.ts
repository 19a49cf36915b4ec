/**
 * What a command is: its flags, its help, and what it does with what it is given. One command per file; `commands.ts`
 * lists them. A command writes through its context and throws what went wrong; it never touches the process.
 */
import { type CommandLine, type Flags, helpText, parseCommandLine, UsageError } from '../base/flags.ts'

export interface Context {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: { readonly [name: string]: string | undefined }
  readonly home: string
  readonly directory: string
  /** Aborts when the user has had enough. */
  readonly signal: AbortSignal
}

export interface CommandDefinition<F extends Flags> {
  readonly name: string
  /** What may stand after the name, one line for each way. */
  readonly forms: readonly string[]
  readonly about: string
  readonly examples: readonly string[]
  readonly flags: F
  readonly run: (context: Context, line: CommandLine<F>) => Promise<void>
}

/** A command whatever its flags are. */
export interface Command {
  readonly help: string
  readonly run: (context: Context, args: readonly string[]) => Promise<void>
}

export function defineCommand<F extends Flags>(definition: CommandDefinition<F>): Command {
  return {
    help: helpOf(definition),
    run: async (context, args) => await definition.run(context, parseCommandLine(definition.flags, args)),
  }
}

function helpOf<F extends Flags>({ name, forms, about, examples, flags }: CommandDefinition<F>): string {
  return `${about}

Usage:
${forms.map((form) => `  orchctl ${name} ${form}`.trimEnd()).join('\n')}

Examples:
${examples.map((example) => `  ${example}`).join('\n')}

Flags:
${helpText(flags)}
`
}

/** For commands that take none. */
export function refuseWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}`)
}
