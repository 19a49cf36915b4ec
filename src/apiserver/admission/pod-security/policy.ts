/**
 * What a namespace asks of its pods: a level of the pod security standard and the release whose rules count, for each
 * of three modes. `enforce` refuses, `warn` tells the client, `audit` only counts. Labels of the namespace say so, and
 * what they leave open the configuration of the server does.
 */
import { at, type FieldError, invalid } from '../../../api/model/field-error.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** From the freest to the strictest. */
export const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]
const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]

export interface LevelVersion {
  readonly level: Level
  /** As written: `latest`, or `v1.22`. */
  readonly version: string
}

export type Policy = { readonly [mode in Mode]: LevelVersion }

type Labels = { readonly [key: string]: string }

export interface ReadPolicy {
  readonly policy: Policy
  readonly errors: readonly FieldError[]
}

/** The policy that labels ask for. Where they cannot be read it is as strict as can be for `enforce`. */
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

/** A level that cannot be read must not admit anything; in modes that only report it may stay silent. */
function strictest(mode: Mode): Level {
  return mode === 'enforce' ? 'restricted' : 'privileged'
}

export function levelFault(value: string): string | undefined {
  return (levels as readonly string[]).includes(value) ? undefined : `must be one of ${levels.join(', ')}`
}

export function versionFault(value: string): string | undefined {
  return releaseOf(value) === undefined ? 'must be "latest" or "v1.x"' : undefined
}

/** The number of a release: 22 for `v1.22`, Infinity for `latest`. */
export function releaseOf(version: string): number | undefined {
  if (version === 'latest') return Infinity
  const digits = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(version)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Whether the level of the first allows all that the level of the second does. */
export function isAsFree(first: LevelVersion, second: LevelVersion): boolean {
  return levels.indexOf(first.level) <= levels.indexOf(second.level)
}

export function sameLevel(first: LevelVersion, second: LevelVersion): boolean {
  return first.level === second.level && first.version === second.version
}

/** As messages name it: `baseline:latest`. */
export function levelText({ level, version }: LevelVersion): string {
  return `${level}:${version}`
}
