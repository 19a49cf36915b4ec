/**
 * The served group versions. OpenAPI v3 has one document for each group version, and OpenAPI v2 has one document for
 * all group versions.
 */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { EmulatedVersion } from '../../../api/versions/emulated-version.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import type { AggregatedDocuments } from './aggregated-documents.ts'

export interface GroupVersion {
  /** The name of the API group, or '' for the core group. */
  readonly group: string
  readonly version: string
  /** The base path of the group version, such as `/api/v1` or `/apis/storage.orch.io/v1`. */
  readonly path: string
  /** The prefix for the names of the group version's types, such as `core.v1`. */
  readonly home: string
  /** The name of the group version in operation IDs, such as `CoreV1`. */
  readonly name: string
  /** The tag that groups the operations of the group version, such as `core_v1`. */
  readonly tag: string
  readonly types: readonly Served[]
}

/** The types and settings that an OpenAPI document describes, at one generation of the catalogue. */
export interface Described {
  readonly vendor: Vendor
  /** The Kubernetes version that the server emulates. */
  readonly emulated: EmulatedVersion
  /** Whether lists support query parameters that Kubernetes does not have (`--extensions`). */
  readonly extensions: boolean
  /** Version of the server. */
  readonly version: string
  readonly types: readonly Served[]
  readonly aggregated: AggregatedDocuments
}

/** Groups the types by group version, in the order in which the group versions first occur. */
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

/** Whether the kind belongs to a user-defined API group. */
export function isForeign({ group }: Kind): boolean {
  return group.endsWith('.')
}

/**
 * Returns the prefix for the names of a kind's types, such as `core.v1`. For a user-defined group, the prefix is the
 * reversed domain, such as `com.example.stable.v1`.
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
