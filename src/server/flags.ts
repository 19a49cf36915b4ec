/**
 * The command line: a table of flags, and the one parser of it. Spelt as users of kube-apiserver know them:
 * `--name=value`, `--name value`, `--switch`. What is wrong is refused before anything starts, with the flag's name
 * and, for a misspelt one, the nearest right one.
 */

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface Flag<T> {
  readonly name: string
  /** What stands for the value in the help: `PORT`. '' for a switch. */
  readonly value: string
  readonly help: string
  /** The default as text, as it would be written; '' for none. */
  readonly default: string
  /** Reads one value; throws UsageError with what is wrong with it. */
  readonly read: (text: string) => T
}

export type Flags = { readonly [option: string]: Flag<unknown> }
export type OptionsOf<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never }

export function parseFlags<F extends Flags>(flags: F, args: readonly string[]): OptionsOf<F> {
  const given = new Map<string, string>()
  for (let i = 0; i < args.length; i++) {
    const [name, inline] = splitArgument(args[i]!)
    const flag = findFlag(flags, name)
    if (given.has(flag.name)) throw new UsageError(`--${flag.name} is given twice`)
    given.set(flag.name, inline ?? (flag.value === '' ? 'true' : valueAfter(flag, args[++i])))
  }
  return Object.freeze(
    Object.fromEntries(Object.entries(flags).map(([option, flag]) => [option, readFlag(flag, given.get(flag.name))])),
  ) as OptionsOf<F>
}

function splitArgument(argument: string): [string, string | undefined] {
  if (!argument.startsWith('--'))
    throw new UsageError(`unexpected argument ${JSON.stringify(argument)}: flags begin with --`)
  const equals = argument.indexOf('=')
  return equals < 0 ? [argument.slice(2), undefined] : [argument.slice(2, equals), argument.slice(equals + 1)]
}

function findFlag(flags: Flags, name: string): Flag<unknown> {
  const all = Object.values(flags)
  const flag = all.find((candidate) => candidate.name === name)
  if (flag !== undefined) return flag
  const nearest = all.map((candidate) => candidate.name).toSorted((a, b) => distance(a, name) - distance(b, name))[0]
  const hint =
    nearest !== undefined && distance(nearest, name) <= Math.max(3, name.length / 2)
      ? `; did you mean --${nearest}?`
      : ''
  throw new UsageError(`unknown flag --${name}${hint} (--help lists all flags)`)
}

function valueAfter(flag: Flag<unknown>, next: string | undefined): string {
  if (next === undefined || next.startsWith('--'))
    throw new UsageError(`--${flag.name} needs a value: --${flag.name}=${flag.value}`)
  return next
}

function readFlag(flag: Flag<unknown>, text: string | undefined): unknown {
  try {
    return flag.read(text ?? flag.default)
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${flag.name}: ${error.message}`)
    throw error
  }
}

export function helpText(flags: Flags): string {
  const rows = Object.values(flags).map((flag) => ({
    left: `  --${flag.name}${flag.value === '' ? '' : `=${flag.value}`}`,
    right: `${flag.help}${flag.default === '' ? '' : ` (default ${flag.default})`}`,
  }))
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2
  return rows.map(({ left, right }) => `${left.padEnd(width)}${right}`).join('\n')
}

/** How many letters must be changed, added or dropped to get from one word to the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === b[j] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
