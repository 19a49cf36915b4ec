/**
 * The groups and their versions in the order in which clients are told of them: what this server serves in the order of
 * its catalogue, and what others serve at the place that their APIServices give it.
 */
import { compareVersions } from '../../../api/model/version-order.ts'
import type { Served } from '../../registry/catalogue/served.ts'

/** Those with more come first. */
export interface Priorities {
  readonly ofGroup: number
  readonly ofVersion: number
}

/** The versions that other servers serve. */
export interface VersionsElsewhere {
  /** Moves on with every change. */
  readonly generation: number
  all(): Iterable<{ readonly group: string; readonly version: string }>
  /** Of every version, also of those that this server serves, by `group/version`. */
  priorities(): ReadonlyMap<string, Priorities>
}

export interface Group {
  readonly name: string
  readonly versions: readonly string[]
}

/** All groups but the core group. */
export function orderedGroups(served: readonly Served[], elsewhere: VersionsElsewhere): Group[] {
  const local = [...Map.groupBy(served, ({ group }) => group)].filter(([group]) => group !== '')
  const own = new Map<string, readonly string[]>(local.map(([group, types]) => [group, versionsOf(types)]))
  const others = Map.groupBy(elsewhere.all(), ({ group }) => group)
  if (others.size === 0) return [...own].map(([name, versions]) => ({ name, versions }))
  const priorities = elsewhere.priorities()
  const builtIn = new Set(served.filter(({ kind }) => kind.evolution === undefined).map(({ group }) => group))
  const names = [...own.keys(), ...[...others.keys()].filter((group) => !own.has(group)).sort()]
  const groups = names.map((name) => {
    const added = others.get(name)?.map(({ version }) => version) ?? []
    const versions =
      added.length === 0 ? own.get(name)! : joined(name, [...(own.get(name) ?? []), ...added], priorities)
    // What is not registered is the group of the registrations themselves, or about to be.
    const unregistered = builtIn.has(name) ? Number.POSITIVE_INFINITY : 0
    const all = versions.map((version) => priorities.get(`${name}/${version}`)?.ofGroup ?? unregistered)
    return { name, versions, priority: Math.max(...all) }
  })
  // Groups of the same priority stay as they are.
  return groups.sort((a, b) => compareNumbers(b.priority, a.priority)).map(({ name, versions }) => ({ name, versions }))
}

/** With versions in which nothing is served, after all others. */
export function withSpoken(groups: readonly Group[], spoken: readonly string[]): Group[] {
  const all = new Map(groups.map(({ name, versions }) => [name, versions]))
  for (const apiVersion of spoken) {
    const [name = '', version = ''] = apiVersion.split('/')
    all.set(name, [...new Set([...(all.get(name) ?? []), version])])
  }
  return [...all].map(([name, versions]) => ({ name, versions }))
}

/** Infinite ones too, which a difference does not compare. */
function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : Number(a > b)
}

function joined(group: string, versions: readonly string[], priorities: ReadonlyMap<string, Priorities>): string[] {
  const priority = (version: string) => priorities.get(`${group}/${version}`)?.ofVersion ?? 0
  return [...new Set(versions)].sort((a, b) => priority(b) - priority(a) || compareVersions(a, b))
}

/** The versions of a group in the order of its kinds: the preferred one first. Custom kinds come in no order. */
export function versionsOf(served: readonly Served[]): string[] {
  const versions = [...new Set(served.map(({ kind }) => kind.version))]
  return served.every(({ kind }) => kind.origin === 'custom') ? versions.sort(compareVersions) : versions
}
