/**
 * Discovers the resource types of a server. Each type is listed once, in the preferred version of its group or else in
 * the first version that has it. A group whose discovery fails is reported and does not affect the other groups.
 */
import { messageOf } from '../../base/text/errors.ts'
import type { CallOptions, Client } from './client.ts'
import { type ResourceType, typeName } from './resource-type.ts'

/** A resource type of a server. */
export interface DiscoveredType extends ResourceType {
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  /** Singular name, or '' if it equals the kind in lower case. */
  readonly singular: string
  /** Categories that the type belongs to, such as `all`. */
  readonly categories: readonly string[]
}

/** The types of a server, and the groups whose discovery failed. */
export interface DiscoveredTypes {
  readonly types: DiscoveredType[]
  /** Group versions whose discovery failed, with their errors. */
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

/** Discovers the types of a server. */
export async function discover(client: Client, options: CallOptions = {}): Promise<DiscoveredTypes> {
  const typesByKey = new Map<string, DiscoveredType>()
  const failures: string[] = []
  for await (const answer of askAll(client, await groupVersions(client, options), options)) {
    if (typeof answer === 'string') failures.push(answer)
    else for (const type of answer) if (!typesByKey.has(typeName(type))) typesByKey.set(typeName(type), type)
  }
  return { types: [...typesByKey.values()], failures }
}

const atOnce = 32

/**
 * Yields the resource types of each group version, or the error of its discovery. Several requests are sent at once.
 */
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

/** Returns all group versions of the server. In each group, the preferred version comes first. */
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

/** Whether a type has a subresource such as `scale`. */
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

/** Returns the types of one group version, without subresources. */
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
