/**
 * Flags of kube-apiserver and kube-controller-manager 1.23 that this program does not have. Each is answered with a line
 * that says why, and what to use instead. A value that says what is so here anyway is taken, so that the command line of
 * another server can be used as it is; nothing is taken and then ignored. `docs/flags.md` lists them all.
 */
import { type Flags, UsageError } from '../../base/flags/flags.ts'

/** A flag of another program. */
export interface ForeignFlag {
  /** Why it is not there, and what to use instead. */
  readonly why: string
  /** The values that say what is so anyway. */
  readonly only?: readonly string[]
}

/** Flags of another program by their names. */
export type ForeignFlags = { readonly [name: string]: ForeignFlag }

/** The arguments without foreign flags whose values are so anyway. Throws UsageError for all other foreign flags. */
export function withoutForeign(args: readonly string[], known: Flags, foreign: ForeignFlags): string[] {
  const names = new Set(Object.values(known).map(({ name }) => name))
  const kept: string[] = []
  for (let i = 0; i < args.length; i++) {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(args[i]!) ?? []
    const found = names.has(name) || !Object.hasOwn(foreign, name) ? undefined : foreign[name]
    if (found === undefined) {
      kept.push(args[i]!)
      continue
    }
    const separate = value === undefined && !isSwitch(found) && found.only !== undefined
    check(name, found, value ?? (separate ? (args[++i] ?? '') : 'true'))
  }
  return kept
}

function isSwitch({ only = [] }: ForeignFlag): boolean {
  return only.includes('true') || only.includes('false')
}

function check(name: string, { why, only = [] }: ForeignFlag, value: string): void {
  if (only.includes(value)) return
  const taken = only.length === 0 ? '' : `; only --${name}=${only[0]} is taken`
  throw new UsageError(`--${name} is not supported: ${why}${taken}`)
}
