/** The versions of groups that are served: each is described by a document of its own, and all by one together. */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import type { DescribedElsewhere } from './published-elsewhere.ts'

export interface GroupVersion {
  /** The group as on the wire; '' for the core group. */
  readonly group: string
  readonly version: string
  /** Where it is served: `/api/v1`, `/apis/storage.orch.io/v1`. */
  readonly path: string
  /** The package of its types: `core.v1`. */
  readonly home: string
  /** As it stands in names of operations: `CoreV1`. */
  readonly name: string
  /** As it groups operations: `core_v1`. */
  readonly tag: string
  readonly types: readonly Served[]
}

/** What is described: the types of one generation of the catalogue, and what other servers publish. */
export interface Described {
  readonly vendor: Vendor
  /** The version of the server. */
  readonly version: string
  readonly types: readonly Served[]
  readonly elsewhere: DescribedElsewhere
}

/** The versions of groups among these types, in the order of their first type. */
export function groupVersions({ types }: Described): GroupVersion[] {
  const byPath = Map.groupBy(types, ({ group, kind }) => pathOf(group, kind.version))
  return [...byPath].map(([path, members]) => {
    const { group, kind } = members[0]!
    const words = kind.group.split('.')
    const name = words.map(capital).join('')
    return {
      group,
      version: kind.version,
      path,
      home: homeOf(kind),
      name: `${name}${capital(kind.version)}`,
      tag: `${name.charAt(0).toLowerCase()}${name.slice(1)}_${kind.version}`,
      types: members,
    }
  })
}

/** Whether a kind is in somebody else's group: one that a user defined. */
export function isForeign({ group }: Kind): boolean {
  return group.endsWith('.')
}

/**
 * The package of the types of a kind: `core.v1`. Where the group belongs to somebody else, it is their domain turned
 * around, with a dot before it that says so: `.com.example.stable.v1`.
 */
export function homeOf(kind: Kind): string {
  const { group, version } = kind
  if (!isForeign(kind)) return `${group.split('.')[0]}.${version}`
  return `${group.split('.').reverse().join('.')}.${version}`
}

function pathOf(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
