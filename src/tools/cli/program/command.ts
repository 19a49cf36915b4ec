/**
 * What a command is: its flags, its help, and what it does with what it is given. One command per file;
 * `commands/all.ts` lists them. A command writes through its context and throws what went wrong; it never touches the process.
 */
import { helpText } from '../../../base/flags/flag-help.ts'
import { type CommandLine, type Flag, type Flags, parseCommandLine, UsageError } from '../../../base/flags/flags.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import type { FileName } from '../manifests/source.ts'
import type { Output } from '../printers/output.ts'

export interface Context {
  readonly out: (text: string | Uint8Array) => void
  /** Resolves when what was written has been taken: for output without end. */
  readonly drained: () => Promise<void>
  readonly err: (text: string) => void
  /** All of the standard input. */
  readonly input: () => Promise<Buffer>
  /** The same piece by piece, as it is typed. */
  readonly inputStream: () => AsyncIterable<Buffer>
  /** Hands every key to the program and shows none; returns what undoes it. Does nothing without a terminal. */
  readonly rawInput: () => () => void
  /** Calls with the size of the terminal, now and whenever it changes; returns what stops that. */
  readonly followSize: (onSize: (size: { readonly columns: number; readonly rows: number }) => void) => () => void
  /** Whether people see what is written: colour and progress are for them alone; in how many columns; and whether they can answer. */
  readonly terminal: {
    readonly out: boolean
    readonly err: boolean
    readonly input?: boolean
    readonly columns?: number | undefined
  }
  /** Runs another program on the user's terminal, such as an editor; gives its exit code. */
  readonly runProgram: (program: string, args: readonly string[]) => Promise<number>
  readonly env: { readonly [name: string]: string | undefined }
  readonly home: string
  readonly directory: string
  /** As the user wrote it: `orchctl get pods`. */
  readonly commandLine: string
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
  /** For those who complete words: what may stand after the name. */
  readonly forms: readonly string[]
  readonly flags: Flags
  readonly run: (context: Context, args: readonly string[]) => Promise<void>
}

export function defineCommand<F extends Flags>(definition: CommandDefinition<F>): Command {
  return {
    help: helpOf(definition),
    forms: definition.forms,
    flags: definition.flags,
    run: async (context, args) => {
      const line = parseOwnFirst(definition.flags, args)
      await definition.run(context, { ...line, options: await withTemplate(context, withKustomization(line.options)) })
    },
  }
}

/**
 * Every command takes the flags of all commands, as in kubectl: an alias or a script may set them once. A flag of the
 * command itself counts before one of all commands with the same name, which then has its default: `--user` of
 * `create rolebinding` is a subject, and not a user of the client config.
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

/** `-k` stands in place of `-f`: whatever reads files reads what it builds. */
function withKustomization<T extends object>(options: T): T {
  const { kustomize = '', filename = [] } = options as { kustomize?: string; filename?: readonly FileName[] }
  if (kustomize === '') return options
  if (filename.length > 0) throw new UsageError('-f and -k cannot be used together')
  return { ...options, filename: [{ kustomize }] }
}

/** A template is read before anything is sent: what is wrong with it leaves nothing half done. */
async function withTemplate<T extends object>({ terminal }: Context, options: T): Promise<T> {
  const { output, template } = options as { output?: Output; template?: string }
  if (output === undefined || template === undefined || (output.form !== 'template' && template === '')) return options
  const { readyTemplate } = await import('../printers/templates.ts')
  return { ...options, output: await readyTemplate({ output, template, seen: terminal.out }) }
}

function helpOf<F extends Flags>({ name, forms, about, examples, flags }: CommandDefinition<F>): string {
  return `${about}

Usage:
${forms.map((form) => `  orchctl ${name} ${form}`.trimEnd()).join('\n')}

Examples:
${examples.map((example) => `  ${example}`).join('\n')}

${flagsHelp(flags)}`
}

/** Those that every command has are listed by `orchctl options`, once. */
function flagsHelp(flags: Flags): string {
  const global: readonly Flag<unknown>[] = Object.values(connectionFlags)
  const entries = Object.entries(flags)
  const others = entries.filter(([, flag]) => !global.includes(flag))
  const hasAll = entries.length - others.length === global.length
  const own = Object.fromEntries(hasAll ? others : entries)
  const list = Object.keys(own).length === 0 ? '' : `Flags:\n${helpText(own)}\n`
  return hasAll ? `${list}${list && '\n'}Flags of all commands, such as -n: see \`orchctl options\`.\n` : list
}

/** What was asked has an answer that is told by the exit code alone: `diff` with differences, `can-i` with "no". */
export class ExitCode extends Error {
  override readonly name = 'ExitCode'
  readonly code: number

  constructor(code: number) {
    super(`exit code ${code}`)
    this.code = code
  }
}

/** What went wrong, for a command whose exit code 1 says something else: `diff` with differences. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: number

  constructor(code: number, cause: unknown) {
    super('failed', { cause })
    this.code = code
  }
}

/** For commands that take none. */
export function refuseWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}`)
}
