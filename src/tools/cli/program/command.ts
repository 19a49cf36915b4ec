/**
 * Defines what a command consists of: flags, help text and action. Each command has its own file, and `commands/all.ts`
 * lists them. A command uses only its context for input and output, never `process`.
 */
import { helpText } from '../../../base/flags/flag-help.ts'
import { type CommandLine, type Flag, type Flags, parseCommandLine, UsageError } from '../../../base/flags/flags.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import type { FileName } from '../manifests/source.ts'
import type { Output } from '../printers/output.ts'

export interface Context {
  readonly out: (text: string | Uint8Array) => void
  /** Resolves when all output has been consumed. Commands with unbounded output wait for this promise. */
  readonly drained: () => Promise<void>
  readonly err: (text: string) => void
  /** Reads standard input to its end. */
  readonly input: () => Promise<Buffer>
  /** Reads standard input in chunks, as the user types. */
  readonly inputStream: () => AsyncIterable<Buffer>
  /**
   * Switches the terminal to raw mode without echo. Returns a function that restores the previous mode. Does nothing if
   * there is no terminal.
   */
  readonly rawInput: () => () => void
  /**
   * Calls `onSize` with the terminal size, immediately and after each change. Returns a function that stops the calls.
   */
  readonly followSize: (onSize: (size: { readonly columns: number; readonly rows: number }) => void) => () => void
  /**
   * Describes which streams are terminals, and how wide the terminal is. Colors and progress are shown only on
   * terminals, and prompts require the input to be a terminal.
   */
  readonly terminal: {
    readonly out: boolean
    readonly err: boolean
    readonly input?: boolean
    readonly columns?: number | undefined
  }
  /** Runs another program, such as an editor, on the user's terminal. Returns its exit code. */
  readonly runProgram: (program: string, args: readonly string[]) => Promise<number>
  readonly env: { readonly [name: string]: string | undefined }
  readonly home: string
  readonly directory: string
  /** The command line as the user typed it, such as `orchctl get pods`. */
  readonly commandLine: string
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal
}

export interface CommandDefinition<F extends Flags> {
  readonly name: string
  /** Arguments after the command name, with one line per variant. */
  readonly forms: readonly string[]
  readonly about: string
  readonly examples: readonly string[]
  readonly flags: F
  readonly run: (context: Context, line: CommandLine<F>) => Promise<void>
}

/** A command, independent of the type of its options. */
export interface Command extends Pick<CommandDefinition<Flags>, 'forms' | 'about' | 'examples' | 'flags'> {
  readonly help: string
  readonly run: (context: Context, args: readonly string[]) => Promise<void>
}

export function defineCommand<F extends Flags>(definition: CommandDefinition<F>): Command {
  return {
    help: helpOf(definition),
    forms: definition.forms,
    about: definition.about,
    examples: definition.examples,
    flags: definition.flags,
    run: async (context, args) => {
      const line = parseOwnFirst(definition.flags, args)
      await definition.run(context, { ...line, options: await withTemplate(context, withKustomization(line.options)) })
    },
  }
}

/**
 * Every command accepts the global flags, as in kubectl, so that an alias or a script can set them once. A command's
 * own flag takes precedence over a global flag with the same name, which then keeps its default. For example, `--user`
 * of `create rolebinding` is a subject rather than a kubeconfig user.
 */
function parseOwnFirst<F extends Flags>(flags: F, args: readonly string[]): CommandLine<F> {
  const global: readonly Flag<unknown>[] = Object.values(connectionFlags)
  const own = new Set(Object.values(flags).flatMap((flag) => (global.includes(flag) ? [] : [flag.name])))
  const isShadowed = (flag: Flag<unknown>) => global.includes(flag) && own.has(flag.name)
  const entries = Object.entries({ ...connectionFlags, ...flags } as Flags)
  const counting = Object.fromEntries(entries.filter(([, flag]) => !isShadowed(flag)))
  const { options, words } = parseCommandLine(counting, args)
  const values = Object.entries(flags).map(([option, flag]) => [
    option,
    isShadowed(flag) ? (flag.readAll?.([]) ?? flag.read(flag.default)) : options[option],
  ])
  return { options: Object.fromEntries(values) as CommandLine<F>['options'], words }
}

/** Replaces the `-k` flag with a kustomization in `-f`, so that all commands that read files support both flags. */
function withKustomization<T extends object>(options: T): T {
  const { kustomize = '', filename = [] } = options as { kustomize?: string; filename?: readonly FileName[] }
  if (kustomize === '') return options
  if (filename.length > 0) throw new UsageError('-f and -k cannot be used together')
  return { ...options, filename: [{ kustomize }] }
}

/** Parses the template before anything is sent, so that an invalid template has no side effects. */
async function withTemplate<T extends object>({ terminal }: Context, options: T): Promise<T> {
  const { output, template } = options as { output?: Output; template?: string }
  if (output === undefined || template === undefined || (output.form !== 'template' && template === '')) return options
  const { readyTemplate } = await import('../printers/templates.ts')
  return { ...options, output: await readyTemplate({ output, template, isTerminal: terminal.out }) }
}

function helpOf<F extends Flags>({ name, forms, about, examples, flags }: CommandDefinition<F>): string {
  return `${about}

Usage:
${forms.map((form) => `  orchctl ${name} ${form}`.trimEnd()).join('\n')}

Examples:
${examples.map((example) => `  ${example}`).join('\n')}

${flagsHelp(flags)}`
}

/** Lists the command's own flags. `orchctl options` lists the global flags. */
function flagsHelp(flags: Flags): string {
  const global: readonly Flag<unknown>[] = Object.values(connectionFlags)
  const entries = Object.entries(flags)
  const others = entries.filter(([, flag]) => !global.includes(flag))
  const hasAll = entries.length - others.length === global.length
  const own = Object.fromEntries(hasAll ? others : entries)
  const list = Object.keys(own).length === 0 ? '' : `Flags:\n${helpText(own)}\n`
  return hasAll
    ? `${list}${list && '\n'}For flags that all commands accept, such as -n, run \`orchctl options\`.\n`
    : list
}

/**
 * Thrown to end a command with an exit code that expresses its result, such as differences in `diff` or "no" in
 * `can-i`.
 */
export class ExitCode extends Error {
  override readonly name = 'ExitCode'
  readonly code: number

  constructor(code: number) {
    super(`exit code ${code}`)
    this.code = code
  }
}

/** Thrown on failure by a command whose exit code 1 has another meaning, such as differences in `diff`. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: number

  constructor(code: number, cause: unknown) {
    super('failed', { cause })
    this.code = code
  }
}

/** Rejects all arguments, for commands that accept none. */
export function refuseWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}`)
}
