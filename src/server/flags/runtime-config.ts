/**
 * `--runtime-config`: selects the served versions and types. By default, the server serves everything except alpha
 * versions and those beta versions that are off by default (`optIn`):
 *
 *   batch/v1beta1=false                           a version of a group
 *   storage.orch.io/v1/volumeattachments=false    a type in that version
 *   v1/podtemplates=false                         a type of the core group
 *   api/beta=false                                all beta versions; also api/all, api/ga, api/alpha
 *
 * The most specific setting takes precedence, regardless of the order. Objects of a type that is not served are still
 * stored if the server serves another version of the type or itself needs the type.
 */

import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import type { Kind } from '../../api/schema/kind.ts'
import { exists } from '../../api/versions/availability.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import { closestMatch, UsageError } from '../../base/flags/flags.ts'

export type RuntimeConfig = ReadonlyMap<string, boolean>

export type IsServed = (kind: Kind) => boolean

/** All kinds of the emulated version. The flag selects which of them are served. */
export interface SelectableKinds {
  readonly kinds: readonly Kind[]
  readonly vendor: Vendor
  readonly version: EmulatedVersion
}

/** Returns a function that determines whether a kind is served. Throws UsageError for a name that matches nothing. */
export function servedBy(config: RuntimeConfig, { kinds, vendor, version }: SelectableKinds): IsServed {
  const knownVersions = new Set([
    ...classes,
    ...onlySpoken.map(({ group, version }) => apiVersionOf(vendor, group, version)),
    ...kinds.filter((kind) => exists(kind, version)).flatMap((kind) => [versionOf(kind, vendor), typeOf(kind, vendor)]),
  ])
  const alpha = alphaVersions(config, { kinds, vendor })
  for (const name of config.keys())
    if (!knownVersions.has(plain(name)) && !alpha.has(name)) throw unknown(name, [...knownVersions])
  const switches = new Map([...config].map(([name, on]) => [plain(name), on]))
  return (kind) =>
    // This flag does not affect custom kinds, because their definitions determine whether they are served.
    kind.origin === 'custom' ||
    (exists(kind, version) &&
      (switches.get(typeOf(kind, vendor)) ??
        switches.get(versionOf(kind, vendor)) ??
        switches.get(`api/${stageOf(kind.version)}`) ??
        switches.get('api/all') ??
        (kind.optIn !== true && stageOf(kind.version) !== 'alpha')))
}

/**
 * Returns the names in the configuration that refer to alpha versions of known groups. Each Kubernetes version has
 * different alpha versions. The server implements none of them, so it accepts the names but does not serve the
 * versions.
 */
export function alphaVersions(
  config: RuntimeConfig,
  { kinds, vendor }: Pick<SelectableKinds, 'kinds' | 'vendor'>,
): ReadonlySet<string> {
  const groups = new Set(kinds.map(({ group }) => groupName(vendor, group)))
  return new Set(
    [...config.keys()].filter((name) => {
      const [group = '', version = ''] = plain(name).split('/')
      return groups.has(group) && /^v[1-9]alpha[1-9]$/.test(version)
    }),
  )
}

/** API versions that are used only in webhook calls. They serve no resources. */
const onlySpoken = [{ group: 'imagepolicy', version: 'v1alpha1' }]

/** Returns the enabled API versions for webhook calls. */
export function spokenBy(config: RuntimeConfig, vendor: Vendor): string[] {
  return onlySpoken
    .map(({ group, version }) => apiVersionOf(vendor, group, version))
    .filter((apiVersion) => isSpoken(config, apiVersion))
}

/**
 * Whether an API version for webhook calls is enabled. Alpha versions are disabled unless the configuration names them.
 */
export function isSpoken(config: RuntimeConfig, apiVersion: string): boolean {
  const switches = new Map([...config].map(([name, on]) => [plain(name), on]))
  const stage = stageOf(apiVersion)
  return switches.get(apiVersion) ?? switches.get(`api/${stage}`) ?? switches.get('api/all') ?? stage !== 'alpha'
}

const classes = ['api/all', 'api/ga', 'api/beta', 'api/alpha']

/** Normalizes a name: `api/v1` is an alias of `v1`, the core group. */
function plain(name: string): string {
  return classes.includes(name) ? name : name.replace(/^api\//, '')
}

function versionOf({ group, version }: Kind, vendor: Vendor): string {
  return apiVersionOf(vendor, group, version)
}

function typeOf(kind: Kind, vendor: Vendor): string {
  return `${versionOf(kind, vendor)}/${kind.plural}`
}

function stageOf(version: string): 'ga' | 'beta' | 'alpha' {
  if (version.includes('alpha')) return 'alpha'
  return version.includes('beta') ? 'beta' : 'ga'
}

function unknown(name: string, knownVersions: readonly string[]): UsageError {
  const hint = closestMatch(name, knownVersions)
  return new UsageError(
    `--runtime-config: unknown API ${JSON.stringify(name)}${hint === undefined ? '' : `; did you mean ${hint}?`}`,
  )
}
