/** Generates the ConfigMaps and Secrets of a kustomization from files, literals and env files. */
import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path'
import { type JsonObject, own, setKey } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { literalOf, variablesIn } from '../commands/create/data-sources.ts'
import type { RootFiles } from './files.ts'
import { checkMembers, type Kustomization, labelsIn, textIn, textsIn } from './kustomization.ts'
import { Resource } from './resource.ts'

export interface Generated {
  readonly resource: Resource
  readonly behavior: 'create' | 'replace' | 'merge'
}

/** Environment variables. They provide values for variables that have no value in env files. */
type Environment = { readonly [name: string]: string | undefined }

const members = ['name', 'namespace', 'behavior', 'files', 'literals', 'envs', 'env', 'options', 'type']
const behaviors = ['create', 'replace', 'merge'] as const

/** Returns the objects in the order listed, with ConfigMaps first. */
export async function generate(
  files: RootFiles,
  kustomization: Kustomization,
  environment: Environment,
): Promise<Generated[]> {
  const generated: Generated[] = []
  for (const [field, kind] of [
    ['configMapGenerator', 'ConfigMap'],
    ['secretGenerator', 'Secret'],
  ] as const)
    for (const [i, entry] of kustomization[field].entries()) {
      const place = `${kustomization.file}: ${field}[${i}]`
      checkMembers(entry, members, place)
      const data = await readData(files, entry, { place, environment })
      const resource = new Resource(objectOf(kind, entry, { data, place }), place)
      applyOptions(resource, [kustomization.generatorOptions, optionsOf(entry)], place)
      generated.push({ resource, behavior: behaviorOf(entry, place) })
    }
  return generated
}

function optionsOf(entry: JsonObject): JsonObject {
  const options = own(entry, 'options') ?? {}
  return options as JsonObject
}

function behaviorOf(entry: JsonObject, place: string): Generated['behavior'] {
  const text = textIn(entry, 'behavior', place) || 'create'
  const knownBehavior = behaviors.find((behavior) => behavior === text)
  if (knownBehavior === undefined)
    throw new UsageError(`${place}.behavior must be one of ${behaviors.join(', ')}, not ${text}`)
  return knownBehavior
}

async function readData(
  files: RootFiles,
  entry: JsonObject,
  { place, environment }: { place: string; environment: Environment },
): Promise<Map<string, Buffer>> {
  const data = new Map<string, Buffer>()
  const add = (key: string, value: Buffer) => {
    if (data.has(key)) throw new UsageError(`${place}: duplicate key ${JSON.stringify(key)}`)
    data.set(key, value)
  }
  const env = textIn(entry, 'env', place)
  for (const file of [...textsIn(entry, 'envs', place), ...(env === '' ? [] : [env])])
    for (const [key, value] of variablesIn(await files.read(file), files.nameOf(file), environment))
      add(key, Buffer.from(value))
  for (const source of textsIn(entry, 'files', place)) {
    const equals = source.indexOf('=')
    const file = source.slice(equals + 1)
    add(equals < 0 ? basename(file) : source.slice(0, equals), await files.read(file))
  }
  for (const literal of textsIn(entry, 'literals', place)) add(...literalOf(literal))
  return data
}

function objectOf(
  kind: 'ConfigMap' | 'Secret',
  entry: JsonObject,
  { data, place }: { data: ReadonlyMap<string, Buffer>; place: string },
): JsonObject {
  const name = textIn(entry, 'name', place)
  const namespace = textIn(entry, 'namespace', place)
  if (name === '') throw new UsageError(`${place}: the name is missing`)
  const metadata = { name, ...(namespace === '' ? {} : { namespace }) }
  if (kind === 'Secret') {
    const encoded = [...data].map(([key, value]) => [key, value.toString('base64')])
    const type = textIn(entry, 'type', place) || 'Opaque'
    return { apiVersion: 'v1', kind, metadata, type, ...(data.size > 0 && { data: Object.fromEntries(encoded) }) }
  }
  const texts = [...data].filter(isText)
  const others = [...data].filter((one) => !isText(one))
  return {
    apiVersion: 'v1',
    kind,
    metadata,
    ...(texts.length > 0 && { data: Object.fromEntries(texts.map(([key, value]) => [key, value.toString()])) }),
    ...(others.length > 0 && {
      binaryData: Object.fromEntries(others.map(([key, value]) => [key, value.toString('base64')])),
    }),
  }
}

function isText([, value]: readonly [string, Buffer]): boolean {
  return isUtf8(value)
}

/** Sets the options of a generated object. The options of an entry override the options of the kustomization. */
function applyOptions(resource: Resource, all: readonly JsonObject[], place: string): void {
  resource.hashed = true
  for (const options of all) {
    checkMembers(options, ['labels', 'annotations', 'disableNameSuffixHash', 'immutable'], `${place}.options`)
    for (const field of ['labels', 'annotations'] as const) {
      const marks = labelsIn(options, field, place)
      if (Object.keys(marks).length > 0)
        setKey(resource.metadata, field, { ...(own(resource.metadata, field) as JsonObject), ...marks })
    }
    if (own(options, 'immutable') === true) setKey(resource.object, 'immutable', true)
    const disabled = own(options, 'disableNameSuffixHash')
    if (typeof disabled === 'boolean') resource.hashed = !disabled
  }
}

/**
 * Adds a generated object or, depending on `behavior`, merges it into an existing object or replaces that object. An
 * existing object keeps its name and its hash setting.
 */
export function addGenerated(resources: Resource[], { resource, behavior }: Generated): void {
  const { name, namespace } = resource.identity
  const present = resources.find(
    (other) =>
      other.kind === resource.kind &&
      other.identities.some((one) => one.name === name && (namespace === '' || one.namespace === namespace)),
  )
  if (behavior === 'create') {
    if (present !== undefined)
      throw new UsageError(`${resource.origin}: ${resource} already exists: set behavior to merge or replace`)
    resources.push(resource)
    return
  }
  if (present === undefined) throw new UsageError(`${resource.origin}: no ${resource} to ${behavior}`)
  for (const field of ['data', 'binaryData'] as const) {
    const before = behavior === 'merge' ? ((own(present.object, field) ?? {}) as JsonObject) : {}
    const merged = { ...before, ...((own(resource.object, field) ?? {}) as JsonObject) }
    if (Object.keys(merged).length > 0) setKey(present.object, field, merged)
    else delete present.object[field]
  }
  for (const field of ['labels', 'annotations'] as const) {
    const marks = { ...(own(present.metadata, field) as JsonObject), ...(own(resource.metadata, field) as JsonObject) }
    if (Object.keys(marks).length > 0) setKey(present.metadata, field, marks)
  }
  for (const field of ['type', 'immutable'] as const) {
    const value = own(resource.object, field)
    if (value === undefined) delete present.object[field]
    else setKey(present.object, field, value)
  }
}
