/**
 * Flag tables and their parser. A flag is written as `--name=value`, `--name value` or `--switch`. A flag with a
 * one-letter short form can also be written as `-n value` or `-nvalue`, and switches can be combined (`-Aw`). `--` ends
 * the flags. A repeatable flag may occur more than once. For any other flag, the last value applies, so that a user can
 * override a flag that is set in a shell alias. Invalid flags are reported before the program does anything else. The
 * error names the flag and, if the flag is misspelled, suggests the most similar flag.
 */

/** A usage error. Its message is a single line, or one line for each error in a configuration file. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command-line flag: its name, default, help and parser. */
export interface Flag<T> {
  readonly name: string
  /** The letter of the short form, or '' if the flag has no short form. */
  readonly letter: string
  /** Placeholder of the value in the help, such as `PORT`, or '' for a switch. */
  readonly value: string
  readonly help: string
  /** Default value as text, or '' if the flag has no default. */
  readonly default: string
  /** Parses one value. Throws UsageError if the value is invalid. */
  readonly read: (text: string) => T
  /** Parses all values of a repeatable flag, in order. */
  readonly readAll?: (texts: readonly string[]) => T
  /** Whether the flag has no default. A flag without a default is undefined unless the user sets it. */
  readonly mayLack?: boolean
  /** Value used when the flag is given without a value, unless the next argument is a valid value. */
  readonly bare?: string
  /** Whether help and completion omit the flag, because the flag exists only to explain why it is not supported. */
  readonly hidden?: boolean
}

/** A table of flags. The keys are the names of the options in code. */
export type Flags = { readonly [option: string]: Flag<unknown> }
/** The parsed options for a table of flags. */
export type OptionsOf<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never }

export interface FlagSpec<T>
  extends Pick<Flag<T>, 'name' | 'read' | 'help'>,
    Partial<Pick<Flag<T>, 'letter' | 'value' | 'default'>> {}

/** Returns a flag. By default, a flag is a switch without a short form, and its default value is ''. */
export function flag<T>({ name, letter = '', value = '', default: fallback = '', read, help }: FlagSpec<T>): Flag<T> {
  return { name, letter, value, default: fallback, read, help }
}

/** Returns a switch: a flag without a value that is off by default. */
export function toggle(spec: Pick<FlagSpec<boolean>, 'name' | 'letter' | 'help'>): Flag<boolean> {
  return flag({ ...spec, read: (text) => text !== '' && readBoolean(text) })
}

/** Returns a copy of a flag without its default. The flag is undefined unless the user sets it. */
export function ifGiven<T>(baseFlag: Flag<T>): Flag<T | undefined> {
  return { ...baseFlag, mayLack: true }
}

/** Returns a flag that may occur more than once. Each occurrence has one value. The default is an empty list. */
export function repeated<T>({ read, help, ...spec }: Omit<FlagSpec<T>, 'default'>): Flag<readonly T[]> {
  const readAll = (texts: readonly string[]) => texts.filter((text) => text !== '').map(read)
  const one = flag({ ...spec, read: (text) => readAll([text]), help: `${help}; can be repeated` })
  return { ...one, readAll }
}

/**
 * Returns a copy of a flag in which the value is optional. The help lists the possible values, such as
 * `none|client|server`.
 */
export function withBare<T>(flag: Flag<T>, bare: string): Flag<T> {
  return { ...flag, bare }
}

/**
 * Returns a flag that exists in other programs but has no effect in this program. The flag accepts only the value
 * `accepted`, which describes the actual behavior, and rejects all other values with a reason. Without `value`, the
 * flag is a switch.
 */
export function refusedFlag(
  name: string,
  reason: string,
  { value = '', accepted = '' }: { readonly value?: string; readonly accepted?: string } = {},
): Flag<undefined> {
  const read = (text: string) => {
    if (text !== '' && text !== accepted) throw new UsageError(reason)
    return undefined
  }
  return { ...flag({ name, value, read, help: reason }), hidden: true }
}

/** Parses the value of a flag that accepts any text. */
export const text = (value: string): string => value

const truths = new Set(['true', 'True', 'TRUE', 't', 'T', '1'])
const untruths = new Set(['false', 'False', 'FALSE', 'f', 'F', '0'])

/** Parses a boolean value in any spelling that Go accepts. */
export function readBoolean(value: string): boolean {
  if (!truths.has(value) && !untruths.has(value))
    throw new UsageError(`${JSON.stringify(value)} is neither true nor false`)
  return truths.has(value)
}

/** Returns a parser that accepts only the given words. */
export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const matchingWord = words.find((word) => word === text)
    if (matchingWord === undefined)
      throw new UsageError(`${JSON.stringify(text)} is not one of ${words.filter((word) => word !== '').join(', ')}`)
    return matchingWord
  }
}

/** The result of parsing a command line. */
export interface CommandLine<F extends Flags> {
  readonly options: OptionsOf<F>
  /** Arguments other than flags. */
  readonly words: readonly string[]
}

/** Parses flags and other arguments in any order. Throws UsageError if a flag is invalid. */
export function parseCommandLine<F extends Flags>(flags: F, args: readonly string[]): CommandLine<F> {
  const { givenValues, words } = scan(flags, args)
  const optionValues = Object.entries(flags).map(([option, flag]) => [
    option,
    readFlag(flag, givenValues.get(flag.name)),
  ])
  return { options: Object.freeze(Object.fromEntries(optionValues)) as OptionsOf<F>, words }
}

/**
 * Parses a command line that consists of flags only. Each flag may occur only once, because the command line of a
 * server usually comes from a file.
 */
export function parseFlags<F extends Flags>(flags: F, args: readonly string[]): OptionsOf<F> {
  const { options, words } = parseCommandLine(flags, args)
  for (const [name, texts] of scan(flags, args).givenValues)
    if (texts.length > 1 && findFlag(flags, name).readAll === undefined)
      throw new UsageError(`--${name} is specified twice`)
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: flags begin with --`)
  return options
}

/**
 * Splits a command line at the first argument that is not a flag. For example, `--config=x get y` is split into `get`
 * and `--config=x y`. Only flags in the given table may precede the first argument.
 */
export function splitCommand(flags: Flags, args: readonly string[]): { command: string | undefined; rest: string[] } {
  for (let i = 0; i < args.length && args[i] !== '--'; i++) {
    if (!isFlag(args[i]!)) return { command: args[i], rest: args.toSpliced(i, 1) }
    const last = argumentFlags(flags, args[i]!).at(-1)!
    if (last.text === undefined && takesNext(last.flag, args[i + 1])) i++
  }
  return { command: undefined, rest: [...args] }
}

function scan(flags: Flags, args: readonly string[]): { givenValues: Map<string, string[]>; words: string[] } {
  const givenValues = new Map<string, string[]>()
  const words: string[] = []
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--') return { givenValues, words: [...words, ...args.slice(i + 1)] }
    if (!isFlag(args[i]!)) words.push(args[i]!)
    else
      for (const { flag, text } of argumentFlags(flags, args[i]!)) {
        const next = text === undefined && takesNext(flag, args[i + 1]) ? args[++i] : undefined
        givenValues.set(flag.name, [...(givenValues.get(flag.name) ?? []), text ?? next ?? valueAlone(flag)])
      }
  }
  return { givenValues, words }
}

/** Whether an argument is a flag. A single dash is not a flag, because it usually stands for standard input. */
function isFlag(argument: string): boolean {
  return argument.startsWith('-') && argument !== '-'
}

interface Given {
  readonly flag: Flag<unknown>
  /** Value that the argument itself contains, as in `--name=value`. Undefined if there is none. */
  readonly text: string | undefined
}

/**
 * Returns the flags in one argument: either a single flag, or several one-letter flags. All of them except the last
 * must be switches.
 */
function argumentFlags(flags: Flags, argument: string): Given[] {
  if (!argument.startsWith('--')) return letterFlags(flags, argument)
  const equals = argument.indexOf('=')
  if (equals < 0) return [{ flag: findFlag(flags, argument.slice(2)), text: undefined }]
  return [{ flag: findFlag(flags, argument.slice(2, equals)), text: argument.slice(equals + 1) }]
}

function letterFlags(flags: Flags, argument: string): Given[] {
  const letterValues: Given[] = []
  for (let i = 1; i < argument.length; i++) {
    const flag = findLetter(flags, argument[i]!)
    const rest = argument.slice(i + 1)
    if (rest.startsWith('=')) return [...letterValues, { flag, text: rest.slice(1) }]
    if (flag.value !== '') return [...letterValues, { flag, text: rest === '' ? undefined : rest }]
    letterValues.push({ flag, text: undefined })
  }
  return letterValues
}

function findLetter(flags: Flags, letter: string): Flag<unknown> {
  const flag = Object.values(flags).find((candidate) => candidate.letter === letter)
  if (flag === undefined) throw new UsageError(`unknown flag -${letter} (--help lists all flags)`)
  return flag
}

function findFlag(flags: Flags, name: string): Flag<unknown> {
  const all = Object.values(flags)
  const flag = all.find((candidate) => candidate.name === name)
  if (flag !== undefined) return flag
  const hint = closestMatch(
    name,
    all.filter(({ hidden = false }) => !hidden).map((candidate) => candidate.name),
  )
  throw new UsageError(
    `unknown flag --${name}${hint === undefined ? '' : `; did you mean --${hint}?`} (--help lists all flags)`,
  )
}

/**
 * Whether the next argument is the value of a flag. A negative number is a value. Any other argument that starts with a
 * dash is a flag.
 */
function takesNext({ value, bare }: Flag<unknown>, next: string | undefined): boolean {
  if (value === '' || next === undefined) return false
  if (bare !== undefined) return value.split('|').includes(next)
  return !isFlag(next) || /^-\d/.test(next)
}

/** Returns the value of a flag that appears without `=value`. Throws UsageError if the flag requires a value. */
function valueAlone({ name, value, bare }: Flag<unknown>): string {
  if (value !== '' && bare === undefined) throw new UsageError(`--${name} requires a value: --${name}=${value}`)
  return bare ?? 'true'
}

function readFlag(flag: Flag<unknown>, givenValues: readonly string[] | undefined): unknown {
  if (givenValues === undefined && flag.mayLack) return undefined
  const texts = givenValues ?? [flag.default]
  try {
    return flag.readAll === undefined ? flag.read(texts.at(-1)!) : flag.readAll(texts)
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${flag.name}: ${error.message}`)
    throw error
  }
}

/** Returns the number of typing errors to tolerate in a name of this length. A very short name must match exactly. */
export function maxTypos(name: string): number {
  if (name.length < 3) return 0
  return name.length < 6 ? 1 : 2
}

/**
 * Returns the candidate that is most similar to a word. Returns undefined if all candidates exceed the maximum edit
 * distance.
 */
export function closestMatch(
  word: string,
  candidates: readonly string[],
  farthest = Math.max(1, Math.floor(word.length / 2)),
): string | undefined {
  let best: { readonly name: string; readonly away: number } | undefined
  for (const name of candidates) {
    if (Math.abs(name.length - word.length) > farthest) continue
    const away = distance(name, word)
    if (away <= farthest && away < (best?.away ?? Number.POSITIVE_INFINITY)) best = { name, away }
  }
  return best?.name
}

/**
 * Returns the edit distance between two words: the number of letters to change, insert, delete or swap with a neighbor
 * to turn one word into the other.
 */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const swapped =
        i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j] ? before[j - 1]! + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1), swapped))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
