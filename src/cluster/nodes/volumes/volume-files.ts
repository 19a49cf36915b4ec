/** Builds the files of a pod's volume. Throws VolumeError for missing sources and unsupported fields. */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Volume } from '../../../api/kinds/core/types/volume.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { VolumeFile, VolumeFiles } from './atomic-files.ts'
import { fieldValue, type NodeAmounts, resourceValue } from './downward.ts'
import type { PodTokens } from './pod-tokens.ts'
import type { SourceData, SourceName, SourceObjects } from './source-objects.ts'
import { VolumeError } from './volume-error.ts'

export interface FileSources {
  readonly objects: SourceObjects
  readonly tokens: PodTokens
  readonly client: Client
  readonly podKey: string
  readonly amounts: NodeAmounts
}

type Projected = NonNullable<Volume['projected']>
type Projection = NonNullable<Projected['sources']>[number]
type DownwardItems = NonNullable<Volume['downwardAPI']>['items']
type KeyItems = NonNullable<Volume['configMap']>['items']

/** Returns the files of a volume, or undefined if the volume has no generated files. */
export async function volumeFiles(pod: Pod, volume: Volume, sources: FileSources): Promise<VolumeFiles | undefined> {
  const { configMap, secret, downwardAPI, projected } = volume
  if (configMap !== undefined)
    return new Map(await keyFiles(pod, { plural: 'configmaps', ...configMap, name: configMap.name ?? '' }, sources))
  if (secret !== undefined)
    return new Map(await keyFiles(pod, { plural: 'secrets', ...secret, name: secret.secretName ?? '' }, sources))
  if (downwardAPI !== undefined)
    return new Map(downwardFiles(pod, downwardAPI.items, { defaultMode: downwardAPI.defaultMode, sources }))
  if (projected === undefined) return undefined
  const files = new Map<string, VolumeFile>()
  for (const source of projected.sources ?? [])
    for (const [path, file] of await projectedFiles(pod, { source, projected }, sources)) files.set(path, file)
  return files
}

const usualMode = 0o644

interface Keys {
  readonly plural: SourceName['plural']
  readonly name: string
  readonly items?: KeyItems
  readonly defaultMode?: number
  readonly optional?: boolean
}

type Entry = readonly [path: string, file: VolumeFile]

async function keyFiles(pod: Pod, keys: Keys, { objects, podKey, client }: FileSources): Promise<Entry[]> {
  const { plural, name, items, defaultMode = usualMode, optional = false } = keys
  const data: SourceData = await objects.read({ plural, name, namespace: pod.metadata.namespace! }, podKey, client)
  if (data === undefined) {
    if (optional) return []
    throw new VolumeError(`${plural === 'secrets' ? 'secret' : 'configmap'} "${name}" not found`)
  }
  if (items === undefined || items.length === 0)
    return [...data].map(([key, content]) => [key, { content, mode: defaultMode }])
  return items.flatMap(({ key = '', path = '', mode = defaultMode }): Entry[] => {
    const content = data.get(key)
    if (content !== undefined) return [[path, { content, mode }]]
    if (optional) return []
    throw new VolumeError(`"${name}" has no key ${JSON.stringify(key)}`)
  })
}

interface DownwardOptions {
  readonly defaultMode: number | undefined
  readonly sources: FileSources
}

function downwardFiles(
  pod: Pod,
  items: DownwardItems = [],
  { defaultMode = usualMode, sources }: DownwardOptions,
): Entry[] {
  return items.map(({ path = '', fieldRef, resourceFieldRef, mode = defaultMode }) => {
    const value =
      fieldRef === undefined ? resourceValue(pod, resourceFieldRef ?? {}, sources.amounts) : fieldValue(pod, fieldRef)
    if (value === undefined)
      throw new VolumeError(`the file ${JSON.stringify(path)} has no supported fieldRef or resourceFieldRef`)
    return [path, { content: Buffer.from(value), mode }]
  })
}

async function projectedFiles(
  pod: Pod,
  { source, projected }: { readonly source: Projection; readonly projected: Projected },
  sources: FileSources,
): Promise<Entry[]> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source
  const { defaultMode = usualMode } = projected
  if (configMap !== undefined)
    return await keyFiles(pod, { plural: 'configmaps', ...configMap, name: configMap.name ?? '', defaultMode }, sources)
  if (secret !== undefined)
    return await keyFiles(pod, { plural: 'secrets', ...secret, name: secret.name ?? '', defaultMode }, sources)
  if (downwardAPI !== undefined) return downwardFiles(pod, downwardAPI.items, { defaultMode, sources })
  if (serviceAccountToken === undefined) return []
  const { audience = '', expirationSeconds = 3600, path = '' } = serviceAccountToken
  const token = await sources.tokens.current(pod, { audience, seconds: Number(expirationSeconds) }, sources.client)
  return [[path, { content: Buffer.from(token.text), mode: tokenMode(pod, defaultMode) }]]
}

/**
 * Returns the mode of a token file: 0600 if all containers run as one user or the pod has an fsGroup, and the default
 * mode otherwise. The fsGroup gets read access later.
 */
function tokenMode({ spec }: Pod, defaultMode: number): number {
  const { fsGroup } = spec?.securityContext ?? {}
  const users = new Set(
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(
      ({ securityContext }) => securityContext?.runAsUser ?? spec?.securityContext?.runAsUser,
    ),
  )
  const hasOneUser = users.size === 1 && !users.has(undefined)
  return hasOneUser || fsGroup !== undefined ? 0o600 : defaultMode
}
