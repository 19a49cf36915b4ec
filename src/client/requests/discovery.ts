/**
 * Which resource types a server has, asked of the server: each once, in the version that its group prefers, or else in
 * the first that has it. A group that cannot be asked is reported and does not hold up the others.
 */
import { messageOf } from '../../base/text/errors.ts'
import type { CallOptions, Client } from './client.ts'
import { type ResourceType, typeName } from './resource-type.ts'

/** A type that a server offers. */
export interface DiscoveredType extends ResourceType {
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  /** What one object is called; '' where that is the kind in lower case. */
  readonly singular: string
  /** Names that stand for several types at once: `all`. */
  readonly categories: readonly string[]
}

/** The types that a server offers, and the groups that could not be asked. */
export interface DiscoveredTypes {
  readonly types: DiscoveredType[]
  /** Which group versions could not be asked, and why. */
  readonly failures: string[]
}

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

interface ApiGroup {
  readonly name: string
  readonly versions: readonly { readonly version: string }[]
  readonly preferredVersion?: { readonly version: string }
}

interface ApiResource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly singularName?: string
  readonly categories?: readonly string[]
}

/** Asks a server which types it offers. */
export async function discover(client: Client, options: CallOptions = {}): Promise<DiscoveredTypes> {
  const found = new Map<string, DiscoveredType>()
  const failures: string[] = []
  for await (const answer of askAll(client, await groupVersions(client, options), options)) {
    if (typeof answer === 'string') failures.push(answer)
    else for (const type of answer) if (!found.has(typeName(type))) found.set(typeName(type), type)
  }
  return { types: [...found.values()], failures }
}

const atOnce = 32

/** The types of each place, or why there are none, in the order of the places. */
async function* askAll(client: Client, places: readonly GroupVersion[], options: CallOptions) {
  for (let i = 0; i < places.length; i += atOnce)
    yield* await Promise.all(places.slice(i, i + atOnce).map((place) => ask(client, place, options)))
}

async function ask(client: Client, place: GroupVersion, options: CallOptions): Promise<DiscoveredType[] | string> {
  try {
    return await typesOf(client, place, options)
  } catch (error) {
    if (options.signal?.aborted) throw error
    return `${place.group}/${place.version}: ${messageOf(error)}`
  }
}

/** All group versions, those that are preferred before the others of their group. */
export async function groupVersions(client: Client, options: CallOptions): Promise<GroupVersion[]> {
  const [core, { groups }] = await Promise.all([
    client.read<{ versions: string[] }>('/api', options),
    client.read<{ groups: ApiGroup[] }>('/apis', options),
  ])
  return [
    ...core.versions.map((version) => ({ group: '', version })),
    ...groups.flatMap((group) => versionsOf(group).map((version) => ({ group: group.name, version }))),
  ]
}

function versionsOf({ versions, preferredVersion }: ApiGroup): string[] {
  const all = versions.map(({ version }) => version)
  return preferredVersion === undefined ? all : [...new Set([preferredVersion.version, ...all])]
}

/** Whether objects of a type have such a part: `scale`. */
export async function hasSubresource(
  client: Client,
  { group, version, plural, subresource }: GroupVersion & { readonly plural: string; readonly subresource: string },
  options: CallOptions,
): Promise<boolean> {
  const resources = await resourcesOf(client, { group, version }, options)
  return resources.some(({ name }) => name === `${plural}/${subresource}`)
}

async function resourcesOf(
  client: Client,
  { group, version }: GroupVersion,
  options: CallOptions,
): Promise<ApiResource[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return (await client.read<{ resources: ApiResource[] }>(path, options)).resources
}

/** The types of one version of a group, without subresources. */
export async function typesOf(
  client: Client,
  { group, version }: GroupVersion,
  options: CallOptions,
): Promise<DiscoveredType[]> {
  return (await resourcesOf(client, { group, version }, options))
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs, shortNames = [], singularName = '', categories = [] }) => ({
      group,
      version,
      plural: name,
      kind,
      namespaced,
      verbs,
      shortNames,
      singular: singularName,
      categories,
    }))
}
