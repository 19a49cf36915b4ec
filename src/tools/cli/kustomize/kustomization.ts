/**
 * Reads the file `kustomization.yaml`. Reports unsupported and unknown fields by name, so that no field is silently
 * ignored.
 */

import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { closestMatch, UsageError } from '../../../base/flags/flags.ts'
import type { RootFiles } from './files.ts'

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** Supported fields and the types of their values. */
const fields = {
  apiVersion: 'text',
  kind: 'text',
  metadata: 'map',
  resources: 'texts',
  bases: 'texts',
  components: 'texts',
  namespace: 'text',
  namePrefix: 'text',
  nameSuffix: 'text',
  commonLabels: 'map',
  commonAnnotations: 'map',
  labels: 'maps',
  configMapGenerator: 'maps',
  secretGenerator: 'maps',
  generatorOptions: 'map',
  patchesStrategicMerge: 'texts',
  patchesJson6902: 'maps',
  patches: 'maps',
  images: 'maps',
  replicas: 'maps',
  vars: 'maps',
} as const

const notBuilt = new Set([
  ...['buildMetadata', 'configurations', 'crds', 'generators', 'helmChartInflationGenerator', 'helmCharts'],
  ...['helmGlobals', 'inventory', 'openapi', 'replacements', 'sortOptions', 'transformers', 'validators'],
])

interface Sorts {
  readonly text: string
  readonly texts: readonly string[]
  readonly map: JsonObject
  readonly maps: readonly JsonObject[]
}

export type Kustomization = { readonly [F in keyof typeof fields]: Sorts[(typeof fields)[F]] } & {
  /** Path of the kustomization file as the user specified it, for messages. */
  readonly file: string
}

/** Reads the kustomization file of a directory. Throws UsageError if the file is missing or invalid. */
export async function readKustomization(files: RootFiles): Promise<Kustomization> {
  const presentNames = fileNames.filter((name) => files.has(name))
  const [name] = presentNames
  if (name === undefined)
    throw new UsageError(`unable to find one of ${fileNames.join(', ')} in directory ${JSON.stringify(files.name)}`)
  if (presentNames.length > 1)
    throw new UsageError(`${files.name} contains ${presentNames.join(' and ')}: keep only one of them`)
  const values = await files.documents(name)
  const [value = {}] = values.filter((one) => one !== null)
  const file = files.nameOf(name)
  if (!isObject(value) || values.length > 1)
    throw new UsageError(`${file}: the file must contain exactly one kustomization`)
  const content = withKnownFields(value, file)
  checkKind(content, file)
  const entries = Object.entries(fields).map(([field, sort]) => [
    field,
    readField(own(content, field), sort, `${file}: ${field}`),
  ])
  return { ...(Object.fromEntries(entries) as Omit<Kustomization, 'file'>), file }
}

/** Corrects the case of field names. As in kustomize, any case is accepted, because old files contain `nameprefix`. */
function withKnownFields(value: JsonObject, file: string): JsonObject {
  const knownContent: JsonObject = {}
  for (const [field, content] of Object.entries(value)) {
    const name = knownField(field, file)
    if (Object.hasOwn(knownContent, name)) throw new UsageError(`${file}: duplicate field ${name}`)
    knownContent[name] = content
  }
  return knownContent
}

function knownField(field: string, file: string): string {
  const sameWord = (name: string) => name.toLowerCase() === field.toLowerCase()
  const matchingField = Object.keys(fields).find(sameWord)
  if (matchingField !== undefined) return matchingField
  if ([...notBuilt].some(sameWord))
    throw new UsageError(`${file}: ${JSON.stringify(field)} is not supported: use the kustomize program`)
  const hint = closestMatch(field, Object.keys(fields))
  throw new UsageError(
    `${file}: unknown field ${JSON.stringify(field)}${hint === undefined ? '' : `; did you mean ${hint}?`}`,
  )
}

function checkKind(value: JsonObject, file: string): void {
  const kind = own(value, 'kind') ?? 'Kustomization'
  if (kind !== 'Kustomization' && kind !== 'Component')
    throw new UsageError(`${file}: kind must be Kustomization or Component, not ${JSON.stringify(kind)}`)
}

function readField(value: Json | undefined, sort: keyof Sorts, place: string): Sorts[keyof Sorts] {
  const content = value ?? null
  if (sort === 'text') {
    if (content !== null && typeof content !== 'string') throw new UsageError(`${place} is not a string`)
    return content ?? ''
  }
  if (sort === 'map') {
    if (content !== null && !isObject(content)) throw new UsageError(`${place} is not a map`)
    return content ?? {}
  }
  if (content !== null && !Array.isArray(content)) throw new UsageError(`${place} is not a list`)
  const list = content ?? []
  const fits = (item: Json) => (sort === 'texts' ? typeof item === 'string' : isObject(item))
  const wrong = list.findIndex((item) => !fits(item))
  if (wrong >= 0) throw new UsageError(`${place}[${wrong}] is not a ${sort === 'texts' ? 'string' : 'map'}`)
  return list as string[] | JsonObject[]
}

/** Returns a string member of an entry, or '' if it is missing. */
export function textIn(entry: JsonObject, field: string, place: string): string {
  const value = own(entry, field) ?? ''
  if (typeof value !== 'string') throw new UsageError(`${place}.${field} is not a string`)
  return value
}

/** Returns a field that must be a list of strings. A missing field is an empty list. */
export function textsIn(entry: JsonObject, field: string, place: string): string[] {
  const value = own(entry, field) ?? []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw new UsageError(`${place}.${field} is not a list of strings`)
  return value
}

/** Returns a field that must be a map of strings. A missing field is an empty map. */
export function labelsIn(entry: JsonObject, field: string, place: string): JsonObject {
  const value = own(entry, field) ?? {}
  if (!isObject(value)) throw new UsageError(`${place}.${field} is not a map`)
  for (const [key, text] of Object.entries(value))
    if (typeof text !== 'string')
      throw new UsageError(`${place}.${field}.${key} is not a string: put the value in quotes`)
  return value
}

/** Throws UsageError if an entry has an unknown field. */
export function checkMembers(entry: JsonObject, knownMembers: readonly string[], place: string): void {
  for (const member of Object.keys(entry))
    if (!knownMembers.includes(member)) {
      const hint = closestMatch(member, knownMembers)
      throw new UsageError(
        `${place}: unknown field ${JSON.stringify(member)}${hint === undefined ? '' : `; did you mean ${hint}?`}`,
      )
    }
}
