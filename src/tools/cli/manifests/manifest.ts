/**
 * Reads objects from files (`-f`). All files are parsed before anything is sent, so that an error in the last file has
 * no side effects. Errors name the file, the document and the line.
 */

import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { type ApiObject, asObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Context } from '../program/command.ts'
import { separateJson } from './json-stream.ts'
import { parseSource } from './parse-source.ts'
import type { FileName, Source } from './source.ts'
import { readSources } from './sources.ts'

/** The position of an object in a file, with the text of the file. */
export interface Origin extends Source {
  /** Index of the document in the file, starting at 0. */
  readonly document: number
  readonly documents: number
  /** Path within the document, for an item of a list. */
  readonly path: readonly (string | number)[]
}

export interface Manifest {
  readonly object: ApiObject
  readonly origin: Origin
}

export interface FileOptions {
  readonly filename: readonly FileName[]
  readonly recursive: boolean
}

/**
 * Returns all objects of these files in order. Replaces each list with its items. Throws UsageError if a file is
 * invalid.
 */
export async function readManifests(context: Context, options: FileOptions): Promise<Manifest[]> {
  const manifests: Manifest[] = []
  for (const { kustomize } of options.filename.filter((name) => typeof name !== 'string'))
    manifests.push(...(await builtManifests(context, kustomize)))
  for (const source of await readSources(context, options)) manifests.push(...(await manifestsIn(source)))
  return manifests
}

/** Returns the objects that the label selector matches. */
export async function chosenManifests(manifests: readonly Manifest[], selector: string): Promise<readonly Manifest[]> {
  if (selector === '') return manifests
  const { LabelMatcher, parseLabelSelector } = await import('../../../api/selectors/label-selector.ts')
  const matcher = new LabelMatcher(parseLabelSelector(selector))
  return manifests.filter(({ object }) => matcher.matches(object.metadata.labels))
}

/**
 * Returns the objects of a kustomization. These objects do not occur verbatim in any file, so their fields have no
 * positions.
 */
async function builtManifests(context: Context, name: string): Promise<Manifest[]> {
  const { buildKustomization } = await import('../kustomize/build.ts')
  const objects = await buildKustomization(context, name)
  return objects.flatMap((value, document) =>
    objectsIn(value, { name, text: '', document, documents: objects.length, path: [] }),
  )
}

/** Parses all objects in the text of a file. */
export async function manifestsIn({ name, text }: Source): Promise<Manifest[]> {
  const source = { name, text: separateJson(text) }
  const values = await parseSource(source)
  return values.flatMap((value, document) => {
    const origin: Origin = { ...source, document, documents: values.length, path: [] }
    return value === null ? [] : objectsIn(value, origin)
  })
}

/** Returns an object embedded in another document, such as the object of a test case. */
export function manifestOf(value: Json, origin: Origin): Manifest {
  const [manifest, ...more] = objectsIn(value, origin)
  if (manifest === undefined || more.length > 0)
    throw new UsageError(`${placeName(origin)}: expected an object, not a list`)
  return manifest
}

function objectsIn(value: Json, origin: Origin): Manifest[] {
  if (!isObject(value)) throw new UsageError(`${placeName(origin)}: the document is not an object`)
  for (const field of ['apiVersion', 'kind']) requireText(value, field, origin)
  const { kind, items } = value
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items))
    return [{ object: checked(value, origin), origin }]
  return items.flatMap((item, i) => {
    const inner = { ...origin, path: [...origin.path, 'items', i] }
    return objectsIn(isObject(item) ? { ...typeOfItem(value, kind), ...item } : item, inner)
  })
}

/** Derives the type of an item from its list, because the items of a `ConfigMapList` may omit apiVersion and kind. */
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
      throw new UsageError(`${placeName(origin)}: metadata.${field} is not a string: put the value in quotes`)
  return asObject({ ...value, metadata })
}

/** Returns `pods.yaml`, `pods.yaml, document 2` or `pods.yaml, items[3]`. */
export function placeName({ name, document, documents, path }: Origin): string {
  const which = documents > 1 ? `, document ${document + 1}` : ''
  const item =
    path.length === 0 ? '' : `, ${path.map((step) => (typeof step === 'number' ? `[${step}]` : step)).join('')}`
  return `${name}${which}${item}`
}
