/**
 * Aggregated discovery: one document with all groups, versions and resource types, so that a client needs only two
 * requests instead of one for each group version. Clients request the document with parameters in the Accept header.
 * The document's entries are derived from the APIResourceLists that the group version paths serve.
 */
import type { Json, JsonObject } from '../../../api/json/json.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { Group, VersionContent } from './discovery-groups.ts'

/** A version of the aggregated discovery document. */
export type DiscoveryListVersion = 'v2' | 'v2beta1'

/** Returns the versions of the aggregated discovery document that are enabled. */
export function discoveryListVersions({ version, gates }: Emulation): DiscoveryListVersion[] {
  if (!gates.has('AggregatedDiscoveryEndpoint')) return []
  const hasBeta = !gates.has('AggregatedDiscoveryRemoveBetaType')
  return [...(isAtLeast(version, '1.30') ? (['v2'] as const) : []), ...(hasBeta ? (['v2beta1'] as const) : [])]
}

/** The parameters of the Accept header that request the document. */
export interface DiscoveryListType {
  readonly group: string
  readonly version: DiscoveryListVersion
  readonly kind: 'APIGroupDiscoveryList'
}

/** Returns the group, version and kind of the aggregated discovery document in each of the given versions. */
export function discoveryListTypes(vendor: Vendor, versions: readonly DiscoveryListVersion[]): DiscoveryListType[] {
  const group = groupName(vendor, 'apidiscovery')
  return versions.map((version) => ({ group, version, kind: 'APIGroupDiscoveryList' }))
}

export interface DiscoveryListParts {
  readonly type: DiscoveryListType
  readonly groups: readonly Group[]
  readonly contentOf: (group: string, version: string) => VersionContent
  /** Whether metadata contains `creationTimestamp: null`, as in Kubernetes before 1.34. */
  readonly hasNullTimes: boolean
}

/** Builds the aggregated discovery document. */
export function discoveryList({ type, groups, contentOf, hasNullTimes }: DiscoveryListParts): JsonObject {
  const time = hasNullTimes ? { creationTimestamp: null } : {}
  return {
    kind: type.kind,
    apiVersion: `${type.group}/${type.version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: { ...(name === '' ? {} : { name }), ...time },
      versions: versions.map((version) => versionEntry(version, contentOf(name, version))),
    })),
  }
}

function versionEntry(version: string, { resources, isCurrent }: VersionContent): JsonObject {
  return {
    version,
    ...(resources.length === 0 ? {} : { resources: resourceEntries(resources) }),
    freshness: isCurrent ? 'Current' : 'Stale',
  }
}

/**
 * Converts the resources of an APIResourceList. Subresources become part of their parent's entry. A parent that is not
 * in the list gets an entry with only its name and scope.
 */
function resourceEntries(resources: readonly JsonObject[]): JsonObject[] {
  const nameOf = ({ name }: JsonObject) => String(name)
  const entries = new Map<string, { entry: JsonObject; subresources: JsonObject[] }>()
  for (const resource of resources)
    if (!nameOf(resource).includes('/'))
      entries.set(nameOf(resource), { entry: resourceEntry(resource), subresources: [] })
  for (const resource of resources) {
    const slash = nameOf(resource).indexOf('/')
    if (slash < 0) continue
    const parent = nameOf(resource).slice(0, slash)
    const owner = entries.get(parent) ?? { entry: ownerEntry(parent, resource), subresources: [] }
    entries.set(parent, owner)
    owner.subresources.push({
      subresource: nameOf(resource).slice(slash + 1),
      responseKind: kindOf(resource),
      verbs: resource.verbs ?? [],
    })
  }
  return [...entries.values()].map(({ entry, subresources }) =>
    subresources.length === 0 ? entry : { ...entry, subresources },
  )
}

function resourceEntry(resource: JsonObject): JsonObject {
  const { name, singularName, verbs, shortNames, categories } = resource
  return {
    resource: name!,
    responseKind: kindOf(resource),
    scope: scopeOf(resource),
    singularResource: singularName ?? '',
    verbs: verbs ?? [],
    ...optional({ shortNames, categories }),
  }
}

function ownerEntry(name: string, subresource: JsonObject): JsonObject {
  return { resource: name, scope: scopeOf(subresource), singularResource: '', verbs: [] }
}

function kindOf({ group = '', version = '', kind = '' }: JsonObject): JsonObject {
  return { group, version, kind }
}

function scopeOf({ namespaced }: JsonObject): string {
  return namespaced === true ? 'Namespaced' : 'Cluster'
}

function optional(members: { readonly [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
