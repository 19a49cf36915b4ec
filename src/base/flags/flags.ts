/**
 * The command line: tables of flags, and the one parser of them. A flag is `--name=value`, `--name value` or
 * `--switch`; one with a letter also `-n value`, `-nvalue`, and switches may share a dash (`-Aw`). After `--` there are
 * no flags. One that is `repeated` may be given several times; of any other the last counts, so that an alias may set it
 * before its user does. A mistake is reported before anything starts, with the name of the flag and, for a misspelt one,
 * the closest known flag.
 */

/** The user wrote something wrong; the message says what, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** One flag: its name, its default, its help, and how its text is read. */
export interface Flag<T> {
  readonly name: string
  /** The one letter that also stands for it; '' for none. */
  readonly letter: string
  /** What stands for the value in the help: `PORT`. '' for a switch. */
  readonly value: string
  readonly help: string
  /** The default as text, as it would be written; '' for none. */
  readonly default: string
  /** Reads one value; throws UsageError with what is wrong with it. */
  readonly read: (text: string) => T
  /** For one that may be given several times: reads all its values, in their order. */
  readonly readAll?: (texts: readonly string[]) => T
  /** Where it is not given it is undefined, and has no default. */
  readonly mayLack?: boolean
  /** What it means where it stands without a value, though it may have one: the word after it is its value if it is one. */
  readonly bare?: string
  /** Neither help nor completion shows it: it is there to say why it is refused. */
  readonly hidden?: boolean
}

/** Flags by the names of their options. */
export type Flags = { readonly [option: string]: Flag<unknown> }
/** The values of flags, by the names of their options. */
export type OptionsOf<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never }

/** What a flag is made from. */
export interface FlagSpec<T>
  extends Pick<Flag<T>, 'name' | 'read' | 'help'>,
    Partial<Pick<Flag<T>, 'letter' | 'value' | 'default'>> {}

/** Returns a flag. Without `letter` it has none, without `value` it is a switch, without `default` its default is ''. */
export function flag<T>({ name, letter = '', value = '', default: fallback = '', read, help }: FlagSpec<T>): Flag<T> {
  return { name, letter, value, default: fallback, read, help }
}

/** Returns a switch: a flag without a value, off unless it is given. */
export function toggle(spec: Pick<FlagSpec<boolean>, 'name' | 'letter' | 'help'>): Flag<boolean> {
  return flag({ ...spec, read: (text) => text !== '' && readBoolean(text) })
}

/** The same, for those who ask whether it was given: undefined where it was not. */
export function ifGiven<T>(asked: Flag<T>): Flag<T | undefined> {
  return { ...asked, mayLack: true }
}

/** Returns a flag that may be given several times, each time with one value; none unless it is given. */
export function repeated<T>({ read, help, ...spec }: Omit<FlagSpec<T>, 'default'>): Flag<readonly T[]> {
  const readAll = (texts: readonly string[]) => texts.filter((text) => text !== '').map(read)
  const one = flag({ ...spec, read: (text) => readAll([text]), help: `${help}; may be given several times` })
  return { ...one, readAll }
}

/** The same flag, which may also stand without a value. Its values are listed: `none|client|server`. */
export function withBare<T>(flag: Flag<T>, bare: string): Flag<T> {
  return { ...flag, bare }
}

/**
 * A flag that users know from elsewhere and that does nothing here. Only `accepted`, which says what happens anyway, is
 * let through; any other value is an error with the reason. Without `value` it is a switch.
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

/** Reads a flag whose value is any text. */
export const text = (value: string): string => value

const truths = new Set(['true', 'True', 'TRUE', 't', 'T', '1'])
const untruths = new Set(['false', 'False', 'FALSE', 'f', 'F', '0'])

/** `true` or `false`, in the spellings that programs in Go take. */
export function readBoolean(value: string): boolean {
  if (!truths.has(value) && !untruths.has(value)) throw new UsageError(`${JSON.stringify(value)} is not true or false`)
  return truths.has(value)
}

/** Accepts one of these words. */
export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const known = words.find((word) => word === text)
    if (known === undefined)
      throw new UsageError(`${JSON.stringify(text)} is not one of ${words.filter((word) => word !== '').join(', ')}`)
    return known
  }
}

/** What was read from the command line: options and the other arguments. */
export interface CommandLine<F extends Flags> {
  readonly options: OptionsOf<F>
  /** The arguments that are not flags. */
  readonly words: readonly string[]
}

/** Reads flags and words, in any order. Throws UsageError. */
export function parseCommandLine<F extends Flags>(flags: F, args: readonly string[]): CommandLine<F> {
  const { given, words } = scan(flags, args)
  const read = Object.entries(flags).map(([option, flag]) => [option, readFlag(flag, given.get(flag.name))])
  return { options: Object.freeze(Object.fromEntries(read)) as OptionsOf<F>, words }
}

/** The same where there may be nothing but flags, each once: what starts a server is mostly written in a file. */
export function parseFlags<F extends Flags>(flags: F, args: readonly string[]): OptionsOf<F> {
  const { options, words } = parseCommandLine(flags, args)
  for (const [name, texts] of scan(flags, args).given)
    if (texts.length > 1 && findFlag(flags, name).readAll === undefined)
      throw new UsageError(`--${name} is given twice`)
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: flags begin with --`)
  return options
}

/**
 * Takes the first argument that is not a flag out of the others: `--config=x get y` is `get` and `--config=x y`. Before
 * it there may be flags of this table only.
 */
export function splitCommand(flags: Flags, args: readonly string[]): { command: string | undefined; rest: string[] } {
  for (let i = 0; i < args.length && args[i] !== '--'; i++) {
    if (!isFlag(args[i]!)) return { command: args[i], rest: args.toSpliced(i, 1) }
    const last = argumentFlags(flags, args[i]!).at(-1)!
    if (last.text === undefined && takesNext(last.flag, args[i + 1])) i++
  }
  return { command: undefined, rest: [...args] }
}

function scan(flags: Flags, args: readonly string[]): { given: Map<string, string[]>; words: string[] } {
  const given = new Map<string, string[]>()
  const words: string[] = []
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--') return { given, words: [...words, ...args.slice(i + 1)] }
    if (!isFlag(args[i]!)) words.push(args[i]!)
    else
      for (const { flag, text } of argumentFlags(flags, args[i]!)) {
        const next = text === undefined && takesNext(flag, args[i + 1]) ? args[++i] : undefined
        given.set(flag.name, [...(given.get(flag.name) ?? []), text ?? next ?? valueAlone(flag)])
      }
  }
  return { given, words }
}

/** A dash alone is a word: it mostly stands for the standard input. */
function isFlag(argument: string): boolean {
  return argument.startsWith('-') && argument !== '-'
}

interface Given {
  readonly flag: Flag<unknown>
  /** undefined: nothing in this argument. */
  readonly text: string | undefined
}

/** The flags in one argument: one, or several letters of which all but the last are switches. */
function argumentFlags(flags: Flags, argument: string): Given[] {
  if (!argument.startsWith('--')) return letterFlags(flags, argument)
  const equals = argument.indexOf('=')
  if (equals < 0) return [{ flag: findFlag(flags, argument.slice(2)), text: undefined }]
  return [{ flag: findFlag(flags, argument.slice(2, equals)), text: argument.slice(equals + 1) }]
}

function letterFlags(flags: Flags, argument: string): Given[] {
  const found: Given[] = []
  for (let i = 1; i < argument.length; i++) {
    const flag = findLetter(flags, argument[i]!)
    const rest = argument.slice(i + 1)
    if (rest.startsWith('=')) return [...found, { flag, text: rest.slice(1) }]
    if (flag.value !== '') return [...found, { flag, text: rest === '' ? undefined : rest }]
    found.push({ flag, text: undefined })
  }
  return found
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

/** Whether the argument after a flag is its value: a number may be negative, anything else with a dash is a flag. */
function takesNext({ value, bare }: Flag<unknown>, next: string | undefined): boolean {
  if (value === '' || next === undefined) return false
  if (bare !== undefined) return value.split('|').includes(next)
  return !isFlag(next) || /^-\d/.test(next)
}

/** Of a flag without a value. */
function valueAlone({ name, value, bare }: Flag<unknown>): string {
  if (value !== '' && bare === undefined) throw new UsageError(`--${name} needs a value: --${name}=${value}`)
  return bare ?? 'true'
}

function readFlag(flag: Flag<unknown>, given: readonly string[] | undefined): unknown {
  if (given === undefined && flag.mayLack) return undefined
  const texts = given ?? [flag.default]
  try {
    return flag.readAll === undefined ? flag.read(texts.at(-1)!) : flag.readAll(texts)
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${flag.name}: ${error.message}`)
    throw error
  }
}

/** How many letters of a name may be wrong so that another was probably meant: none of a very short one. */
export function maxTypos(name: string): number {
  if (name.length < 3) return 0
  return name.length < 6 ? 1 : 2
}

/** The closest of these words, if any is close: at most so many letters are wrong, missing or too much. */
export function closestMatch(
  word: string,
  known: readonly string[],
  farthest = Math.max(1, Math.floor(word.length / 2)),
): string | undefined {
  let best: { readonly name: string; readonly away: number } | undefined
  for (const name of known) {
    if (Math.abs(name.length - word.length) > farthest) continue
    const away = distance(name, word)
    if (away <= farthest && away < (best?.away ?? Number.POSITIVE_INFINITY)) best = { name, away }
  }
  return best?.name
}

/** How many letters must be changed, added, dropped or swapped with their neighbour to get from one word to the other. */
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
