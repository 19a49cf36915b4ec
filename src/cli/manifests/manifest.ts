/**
 * What users hand in: objects from files (`-f`). Everything is read and understood before anything is sent, so that a
 * mistake in the last file leaves nothing half done. What is wrong is told with the file, the document and the line.
 */
import { UsageError } from '../../base/flags.ts'
import { ApiError } from '../../model/api-error.ts'
import { isObject, type Json, type JsonObject, own } from '../../model/json.ts'
import { type ApiObject, asObject } from '../../model/object.ts'
import type { Context } from '../command.ts'
import { readSources, type Source } from './sources.ts'

/** Where an object was written. */
export interface Origin extends Source {
  /** Which document of the file, from 0. */
  readonly document: number
  readonly documents: number
  /** Where in the document, for an item of a list. */
  readonly path: readonly (string | number)[]
}

export interface Manifest {
  readonly object: ApiObject
  readonly origin: Origin
}

export interface FileOptions {
  readonly filename: readonly string[]
  readonly recursive: boolean
}

/** All objects of these files, in their order; those of lists one by one. Throws UsageError. */
export async function readManifests(context: Context, options: FileOptions): Promise<Manifest[]> {
  const sources = await readSources(context, options)
  const manifests: Manifest[] = []
  for (const source of sources) manifests.push(...(await manifestsIn(source)))
  return manifests
}

/** The most that one document may have, with what its references expand to. */
const maxDocumentBytes = 64 * 1024 * 1024

/** The objects of one text. */
export async function manifestsIn(source: Source): Promise<Manifest[]> {
  const values = await parseSource(source)
  return values.flatMap((value, document) => {
    const origin: Origin = { ...source, document, documents: values.length, path: [] }
    return value === null ? [] : objectsIn(value, origin)
  })
}

async function parseSource(source: Source): Promise<Json[]> {
  const { parseYamlDocuments } = await import('../../codec/yaml.ts')
  try {
    const documents = parseYamlDocuments(source.text, maxDocumentBytes)
    for (const { duplicates } of documents)
      if (duplicates.length > 0) throw new UsageError(`${source.name}: ${duplicates[0]} is there more than once`)
    return documents.map(({ value }) => value)
  } catch (error) {
    if (error instanceof ApiError) throw await yamlError(source, error)
    throw error
  }
}

/** JSON is YAML, so this parser reads both; what it says is told with the place. */
async function yamlError({ name, text }: Source, error: ApiError): Promise<UsageError> {
  const { YAMLException } = await import('js-yaml')
  const { cause } = error
  if (!(cause instanceof YAMLException) || cause.mark === undefined)
    return new UsageError(`${name}: ${error.message.replace('the body', 'it')}`)
  const { line, column } = cause.mark!
  const before = text.split('\n').slice(0, line)
  const number =
    before.filter((text) => /^---(?:\s|$)/.test(text)).length + (/^(?:\s*#.*\n|\s*\n)*---/.test(text) ? 0 : 1)
  const which = /^---/m.test(text) ? `document ${Math.max(1, number)}, ` : ''
  return new UsageError(`${name}: ${which}line ${line + 1}, column ${column + 1}: ${cause.reason}`)
}

function objectsIn(value: Json, origin: Origin): Manifest[] {
  if (!isObject(value)) throw new UsageError(`${placeName(origin)}: it is not an object`)
  for (const field of ['apiVersion', 'kind']) requireText(value, field, origin)
  const { kind, items } = value
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items))
    return [{ object: checked(value, origin), origin }]
  return items.flatMap((item, i) => {
    const inner = { ...origin, path: [...origin.path, 'items', i] }
    return objectsIn(isObject(item) ? { ...typeOfItem(value, kind), ...item } : item, inner)
  })
}

/** Items of `ConfigMapList` need not say what they are. */
function typeOfItem(list: JsonObject, kind: string): JsonObject {
  return kind === 'List' ? {} : { apiVersion: list.apiVersion!, kind: kind.replace(/List$/, '') }
}

function requireText(value: JsonObject, field: string, origin: Origin): void {
  const text = own(value, field)
  if (typeof text !== 'string' || text === '') throw new UsageError(`${placeName(origin)}: ${field} is missing`)
}

function checked(value: JsonObject, origin: Origin): ApiObject {
  const metadata = own(value, 'metadata') ?? {}
  if (!isObject(metadata)) throw new UsageError(`${placeName(origin)}: metadata is not an object`)
  for (const field of ['name', 'namespace', 'generateName'])
    if (typeof (own(metadata, field) ?? '') !== 'string')
      throw new UsageError(`${placeName(origin)}: metadata.${field} is not a text: put it in quotes`)
  return asObject({ ...value, metadata })
}

/** `pods.yaml`, `pods.yaml, document 2`, `pods.yaml, items[3]`. */
export function placeName({ name, document, documents, path }: Origin): string {
  const which = documents > 1 ? `, document ${document + 1}` : ''
  const item =
    path.length === 0 ? '' : `, ${path.map((step) => (typeof step === 'number' ? `[${step}]` : step)).join('')}`
  return `${name}${which}${item}`
}
