/** Reads recorded facts about the Kubernetes versions that the server emulates. See `scripts/import-levels.ts`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type EmulatedVersion, emulatedVersions, type KubeVersion } from '../../src/api/versions/emulated-version.ts'

const directory = join(import.meta.dirname, '../data/levels')
const text = (name: string) => readFileSync(join(directory, name), 'utf8')
const packed = (name: string) => JSON.parse(gunzipSync(readFileSync(join(directory, name))).toString())

/** Rows of a table, by the name in the first column. `states` has one entry per version. */
export interface LevelRow {
  readonly columns: readonly string[]
  readonly states: { readonly [version in EmulatedVersion]: string }
}

function readTable(name: string, leading: number): LevelRow[] {
  const [, ...lines] = text(name).trimEnd().split('\n')
  return lines.map((line) => {
    const cells = line.split('\t')
    const states = emulatedVersions.map((version, i) => [version, cells[leading + i] ?? ''] as const)
    return { columns: cells.slice(0, leading), states: Object.fromEntries(states) as LevelRow['states'] }
  })
}

/** Returns the feature gates with their state in each version, such as `b+` or `g+!`. */
export const gateRows = (): LevelRow[] => readTable('gates.tsv', 1)

/**
 * Returns the served types with group, version, plural name, kind, scope and subresources, and whether each Kubernetes
 * version serves the type (`on` or `off`).
 */
export const kindRows = (): LevelRow[] => readTable('kinds.tsv', 6)

/** Returns the newest patch release of each version, such as `v1.23.17`. */
export function patchReleases(): Map<string, string> {
  const [, ...lines] = text('versions.tsv').trimEnd().split('\n')
  return new Map(lines.map((line) => line.split('\t') as [string, string]))
}

export interface LevelField {
  readonly type: string
  readonly tag?: number
  readonly required?: boolean
  readonly listType?: string
  readonly listMapKeys?: readonly string[]
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly gate?: string
  readonly since?: KubeVersion
  readonly until?: KubeVersion
}

export interface LevelType {
  readonly since?: KubeVersion
  readonly until?: KubeVersion
  readonly scalar?: string
  /** Protobuf messages whose fields are inlined in JSON, for the types of 1.23. */
  readonly inlined?: { readonly [name: string]: { readonly tag: number } }
  readonly fields?: { readonly [name: string]: LevelField }
}

/** Returns every type of every version by its full name, such as `core.v1.PodSpec`. */
export const typeFacts = (): { readonly [name: string]: LevelType } => packed('fields.json.gz')

export interface LevelDiscovery {
  readonly groups: readonly {
    readonly name: string
    readonly versions: readonly string[]
    readonly preferredVersion: string
  }[]
  readonly resources: { readonly [groupVersion: string]: readonly { readonly [key: string]: unknown }[] }
}

/** Returns the recorded discovery documents by version. */
export const recordedDiscovery = () => byVersion<LevelDiscovery>(packed('discovery.json.gz'))

/** An API object without its type. */
export interface LevelObject {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [member: string]: unknown
}

export type LevelRoles = {
  readonly [list in 'clusterRoles' | 'clusterRoleBindings' | 'roles' | 'roleBindings']: readonly LevelObject[]
}

/** Returns the default roles and bindings of every version. */
export const recordedRoles = () =>
  byVersion<LevelRoles>(JSON.parse(brotliDecompressSync(readFileSync(join(directory, 'roles.json.br'))).toString()))

export interface LevelFlow {
  /** API version of the objects. */
  readonly version: string
  readonly flowSchemas: readonly LevelObject[]
  readonly priorityLevels: readonly LevelObject[]
}

/** Returns the recorded flow control objects by version. */
export const recordedFlow = () => byVersion<LevelFlow>(packed('flow.json.gz'))

/** Returns the admission plugins with their state in each version, `on` or `off`. */
export const pluginRows = (): LevelRow[] => readTable('admission-plugins.tsv', 1)

export interface LevelFlag {
  readonly name: string
  readonly type: string
  /** The default in each recorded version, or undefined if the version does not have the flag. */
  readonly defaults: ReadonlyMap<EmulatedVersion, string | undefined>
}

/** Flags of kube-apiserver in the recorded versions. */
export function recordedFlags(): LevelFlag[] {
  const [head = '', ...lines] = text('flags.tsv').trimEnd().split('\n')
  const versions = head.split('\t').slice(2) as EmulatedVersion[]
  return lines.map((line) => {
    const [name = '', type = '', ...defaults] = line.split('\t')
    const cells = versions.map((version, i) => [version, defaults[i] === '-' ? undefined : defaults[i]] as const)
    return { name, type, defaults: new Map(cells) }
  })
}

function byVersion<T>(documents: { readonly [name: string]: T }): Map<EmulatedVersion, T> {
  return new Map(
    Object.entries(documents).map(([name, document]) => [name.replace('.json', '') as EmulatedVersion, document]),
  )
}
