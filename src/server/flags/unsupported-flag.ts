/**
 * Handles flags of kube-apiserver 1.23 to 1.36 and kube-controller-manager 1.23 that orch does not support. Each flag
 * is rejected with a reason and an alternative. A value that matches the fixed behavior of orch is accepted, so that
 * existing command lines keep working. No flag is ever accepted and then ignored. `docs/reference/flags.md` lists all
 * flags.
 */
import { type Flags, UsageError } from '../../base/flags/flags.ts'

/** A kube-apiserver or kube-controller-manager flag that orch does not support. */
export interface UnsupportedFlag {
  /** The reason why the flag is not supported, and what to use instead. */
  readonly why: string
  /** Values that are accepted because orch always behaves that way. If undefined, every value is rejected. */
  readonly only?: readonly string[]
}

/** Unsupported flags by name. */
export type UnsupportedFlags = { readonly [name: string]: UnsupportedFlag }

/**
 * Removes unsupported flags whose values match orch's fixed behavior. Throws UsageError for all other unsupported
 * flags.
 */
export function withoutUnsupported(
  args: readonly string[],
  supportedFlags: Flags,
  unsupported: UnsupportedFlags,
): string[] {
  const names = new Set(Object.values(supportedFlags).map(({ name }) => name))
  const supportedArgs: string[] = []
  for (let i = 0; i < args.length; i++) {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(args[i]!) ?? []
    const unsupportedFlag = names.has(name) || !Object.hasOwn(unsupported, name) ? undefined : unsupported[name]
    if (unsupportedFlag === undefined) {
      supportedArgs.push(args[i]!)
      continue
    }
    const separate = value === undefined && !isSwitch(unsupportedFlag) && unsupportedFlag.only !== undefined
    check(name, unsupportedFlag, value ?? (separate ? (args[++i] ?? '') : 'true'))
  }
  return supportedArgs
}

function isSwitch({ only = [] }: UnsupportedFlag): boolean {
  return only.includes('true') || only.includes('false')
}

function check(name: string, { why, only = [] }: UnsupportedFlag, value: string): void {
  if (only.includes(value)) return
  const acceptedValue = only.length === 0 ? '' : `; only --${name}=${only[0]} is accepted`
  throw new UsageError(`--${name} is not supported: ${why}${acceptedValue}`)
}
