/**
 * Determines the order of groups and versions in discovery. This server's groups are in catalogue order. The position
 * of an aggregated server's groups depends on the priorities of its APIServices.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import { compareVersions } from '../../../api/model/version-order.ts'
import type { Served } from '../../registry/catalogue/served.ts'

/** The priorities in an APIService. Higher values come first. */
export interface Priorities {
  readonly ofGroup: number
  readonly ofVersion: number
}

/** The resource types of one group version, as discovery lists them. */
export interface VersionContent {
  /** The entries of the APIResourceList. */
  readonly resources: readonly JsonObject[]
  /**
   * Whether the list of types is up to date. False if the group version belongs to an aggregated server that is
   * unreachable.
   */
  readonly isCurrent: boolean
}

/** The group versions that aggregated servers serve. */
export interface AggregatedVersions {
  /** Increases with every change to the group versions. */
  readonly generation: number
  all(): Iterable<{ readonly group: string; readonly version: string }>
  /** Returns the APIService priorities by `group/version`, including the versions that this server serves itself. */
  priorities(): ReadonlyMap<string, Priorities>
  /**
   * Returns the resource types that an aggregated server reports for a group version, and whether the server can be
   * reached.
   */
  discovered(group: string, version: string): VersionContent
}

export interface Group {
  readonly name: string
  readonly versions: readonly string[]
}

/** Returns all groups except the core group. */
export function orderedGroups(served: readonly Served[], aggregated: AggregatedVersions): Group[] {
  const local = [...Map.groupBy(served, ({ group }) => group)].filter(([group]) => group !== '')
  const own = new Map<string, readonly string[]>(local.map(([group, types]) => [group, versionsOf(types)]))
  const others = Map.groupBy(aggregated.all(), ({ group }) => group)
  if (others.size === 0) return [...own].map(([name, versions]) => ({ name, versions }))
  const priorities = aggregated.priorities()
  const builtIn = new Set(served.filter(({ kind }) => kind.evolution === undefined).map(({ group }) => group))
  const names = [...own.keys(), ...[...others.keys()].filter((group) => !own.has(group)).sort()]
  const groups = names.map((name) => {
    const added = others.get(name)?.map(({ version }) => version) ?? []
    const versions =
      added.length === 0 ? own.get(name)! : joined(name, [...(own.get(name) ?? []), ...added], priorities)
    // The group of APIServices itself has no APIService, and neither does a built-in group whose APIService has not
    // been created yet.
    const unregistered = builtIn.has(name) ? Number.POSITIVE_INFINITY : 0
    const all = versions.map((version) => priorities.get(`${name}/${version}`)?.ofGroup ?? unregistered)
    return { name, versions, priority: Math.max(...all) }
  })
  // The sort is stable, so groups of equal priority keep their order.
  return groups.sort((a, b) => compareNumbers(b.priority, a.priority)).map(({ name, versions }) => ({ name, versions }))
}

/** Adds group versions that have no resources, after all others. */
export function withSpoken(groups: readonly Group[], spoken: readonly string[]): Group[] {
  const all = new Map(groups.map(({ name, versions }) => [name, versions]))
  for (const apiVersion of spoken) {
    const [name = '', version = ''] = apiVersion.split('/')
    all.set(name, [...new Set([...(all.get(name) ?? []), version])])
  }
  return [...all].map(([name, versions]) => ({ name, versions }))
}

/** Compares two numbers without subtracting them, because subtracting equal infinities returns NaN. */
function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : Number(a > b)
}

function joined(group: string, versions: readonly string[], priorities: ReadonlyMap<string, Priorities>): string[] {
  const priority = (version: string) => priorities.get(`${group}/${version}`)?.ofVersion ?? 0
  return [...new Set(versions)].sort((a, b) => priority(b) - priority(a) || compareVersions(a, b))
}

/**
 * Returns the versions of a group, preferred version first. The versions of built-in kinds are already in order. The
 * versions of custom kinds are sorted.
 */
export function versionsOf(served: readonly Served[]): string[] {
  const versions = [...new Set(served.map(({ kind }) => kind.version))]
  return served.every(({ kind }) => kind.origin === 'custom') ? versions.sort(compareVersions) : versions
}
