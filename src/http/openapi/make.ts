/**
 * Makes the bytes of a document from its parts. Loaded when the first is asked for, with all that it needs. A document
 * of all kinds takes a tenth of a second: it is made in slices of a few milliseconds, and requests are answered in
 * between.
 */
import { setImmediate } from 'node:timers/promises'
import { stringifyJson } from '../../codec/json.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Described, GroupVersion } from './group-version.ts'
import { bearerToken, type NamedPart } from './parts.ts'
import { encodeV2 } from './protobuf-v2.ts'
import { partsV2 } from './v2.ts'
import { partsV3 } from './v3.ts'

/** All versions in one document of OpenAPI v2. */
export async function makeV2Json(described: Described): Promise<Buffer> {
  const { head, paths, types } = partsV2(described)
  const pathsText = await membersOf(paths)
  const typesText = await membersOf(types)
  const { swagger, info, ...rest } = head
  const maps = `"paths":{${pathsText}},"definitions":{${typesText}}`
  return Buffer.from(`${opened({ swagger, info })},${maps},${JSON.stringify(rest).slice(1)}`)
}

/** One version of a group as a document of OpenAPI v3. */
export async function makeV3Json(described: Described, version: GroupVersion): Promise<Buffer> {
  const { head, paths, types } = partsV3(described, version)
  const pathsText = await membersOf(paths)
  const typesText = await membersOf(types)
  const components = opened({ securitySchemes: { BearerToken: bearerToken } })
  return Buffer.from(`${opened(head)},"paths":{${pathsText}},"components":${components},"schemas":{${typesText}}}}`)
}

/** The document of v2 in its Protobuf form, which kubectl asks for. */
export async function makeV2Protobuf(described: Described): Promise<Buffer> {
  const { head, paths, types } = partsV2(described)
  const encodedPaths = await inSlices(paths, ([name, value]) => encodeV2({ paths: { [name]: value } }))
  const encodedTypes = await inSlices(types, ([name, value]) => encodeV2({ definitions: { [name]: value } }))
  return Buffer.concat([encodeV2(head), ...encodedPaths, ...encodedTypes])
}

/** The members of a map, in the order of their names and without its braces. */
async function membersOf(entries: Iterable<NamedPart>): Promise<string> {
  const members = await inSlices(entries, ([name, value]) => `${JSON.stringify(name)}:${stringifyJson(value)}`)
  return members.sort().join(',')
}

/** A JSON object that is still open for more members. */
function opened(object: JsonObject): string {
  return JSON.stringify(object).slice(0, -1)
}

const sliceMs = 5

async function inSlices<T, R>(items: Iterable<T>, map: (item: T) => R): Promise<R[]> {
  const results: R[] = []
  let until = performance.now() + sliceMs
  for (const item of items) {
    results.push(map(item))
    if (performance.now() < until) continue
    await setImmediate()
    until = performance.now() + sliceMs
  }
  return results
}
