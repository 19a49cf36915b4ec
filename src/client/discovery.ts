/**
 * Which resource types a server has, asked of the server: each once, in the version that its group prefers, or else in
 * the first that has it. A group that cannot be asked is told and does not keep the others.
 */
import type { CallOptions, Client } from './client.ts'
import type { ResourceType } from './resource-type.ts'

export interface ServedType extends ResourceType {
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
}

export interface ServedTypes {
  readonly types: ServedType[]
  /** Which group versions could not be asked, and why. */
  readonly failures: string[]
}

interface GroupVersion {
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
}

export async function discover(client: Client, options: CallOptions = {}): Promise<ServedTypes> {
  const found = new Map<string, ServedType>()
  const failures: string[] = []
  for (const place of await groupVersions(client, options)) {
    try {
      for (const type of await typesOf(client, place, options)) {
        const name = `${type.group}/${type.plural}`
        if (!found.has(name)) found.set(name, type)
      }
    } catch (error) {
      if (options.signal?.aborted) throw error
      failures.push(`${place.group}/${place.version}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { types: [...found.values()], failures }
}

/** All group versions, those that are preferred before the others of their group. */
async function groupVersions(client: Client, options: CallOptions): Promise<GroupVersion[]> {
  const core = await client.read<{ versions: string[] }>('/api', options)
  const { groups } = await client.read<{ groups: ApiGroup[] }>('/apis', options)
  return [
    ...core.versions.map((version) => ({ group: '', version })),
    ...groups.flatMap((group) => versionsOf(group).map((version) => ({ group: group.name, version }))),
  ]
}

function versionsOf({ versions, preferredVersion }: ApiGroup): string[] {
  const all = versions.map(({ version }) => version)
  return preferredVersion === undefined ? all : [...new Set([preferredVersion.version, ...all])]
}

/** Without subresources. */
async function typesOf(client: Client, { group, version }: GroupVersion, options: CallOptions): Promise<ServedType[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const { resources } = await client.read<{ resources: ApiResource[] }>(path, options)
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, shortNames = [], ...rest }) => ({ ...rest, group, version, plural: name, shortNames }))
}
