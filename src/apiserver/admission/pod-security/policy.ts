/**
 * The pod security policy of a namespace: a level and a release for each of three modes. In the mode `enforce`, the
 * server rejects violations. In the mode `warn`, it warns the client. In the mode `audit`, it only counts and records
 * violations. Labels of the namespace select the levels, and the server's configuration provides the defaults.
 */
import { at, type FieldError, invalid } from '../../../api/model/field-error.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** The pod security levels, from the least to the most restrictive. */
export const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]
const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]

export interface LevelVersion {
  readonly level: Level
  /** The version as written in the label, such as `latest` or `v1.22`. */
  readonly version: string
}

export type Policy = { readonly [mode in Mode]: LevelVersion }

type Labels = { readonly [key: string]: string }

export interface ReadPolicy {
  readonly policy: Policy
  readonly errors: readonly FieldError[]
}

/** Returns the policy for these labels. If a label is invalid, `enforce` uses the most restrictive level. */
export function policyOf(labels: Labels = {}, defaults: Policy, vendor: Vendor): ReadPolicy {
  const errors: FieldError[] = []
  const read = (key: string, usual: string, check: Check): string | undefined => {
    const name = vendorKey(vendor, key, 'pod-security')
    const value = Object.hasOwn(labels, name) ? labels[name]! : usual
    const fault = check(value)
    if (fault !== undefined) errors.push(invalid(at('metadata.labels', name), value, fault))
    return fault === undefined ? value : undefined
  }
  const readMode = (mode: Mode): LevelVersion => ({
    level: (read(mode, defaults[mode].level, levelFault) as Level | undefined) ?? strictest(mode),
    version: read(`${mode}-version`, defaults[mode].version, versionFault) ?? 'latest',
  })
  return { policy: { enforce: readMode('enforce'), audit: readMode('audit'), warn: readMode('warn') }, errors }
}

type Check = (value: string) => string | undefined

/**
 * Returns the level to use if a label is invalid. For `enforce`, this is the most restrictive level. The other modes,
 * which only report violations, then report none.
 */
function strictest(mode: Mode): Level {
  return mode === 'enforce' ? 'restricted' : 'privileged'
}

export function levelFault(value: string): string | undefined {
  return (levels as readonly string[]).includes(value) ? undefined : `must be one of ${levels.join(', ')}`
}

export function versionFault(value: string): string | undefined {
  return releaseOf(value) === undefined ? 'must be "latest" or "v1.x"' : undefined
}

/** Returns the minor version of a release: 22 for `v1.22`, or Infinity for `latest`. */
export function releaseOf(version: string): number | undefined {
  if (version === 'latest') return Infinity
  const digits = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(version)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Whether the first level is no more restrictive than the second. */
export function isAsFree(first: LevelVersion, second: LevelVersion): boolean {
  return levels.indexOf(first.level) <= levels.indexOf(second.level)
}

export function sameLevel(first: LevelVersion, second: LevelVersion): boolean {
  return first.level === second.level && first.version === second.version
}

/** Formats a level with its version, for example as `baseline:latest`. */
export function levelText({ level, version }: LevelVersion): string {
  return `${level}:${version}`
}
