/**
 * Writes an OpenAPI document piece by piece: its head, its paths and its types. Each path and type is written on demand
 * and can be garbage-collected once it is encoded, so the whole document is never in memory as an object.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import type { Definitions } from '../../../api/schema/openapi.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import type { GroupVersion } from './group-version.ts'
import { markKinds } from './kinds-of-types.ts'
import type { Operation, Path } from './operations.ts'
import type { PathName, QueryOptions } from './parameters.ts'

export type NamedPart = readonly [name: string, value: JsonObject]

export interface Parts {
  /** The top-level members of the document other than paths and types. */
  readonly head: JsonObject
  readonly paths: Iterable<NamedPart>
  /** The types that the paths refer to. The list is complete only after all paths have been written. */
  readonly types: Iterable<NamedPart>
}

/** The bytes of a whole document, in pieces. */
export type DocumentText = Iterable<string | Buffer>

/** Functions that write the parts of a document in the format of one OpenAPI version. */
export interface Writing extends QueryOptions {
  readonly definitions: Definitions
  readonly writeOperation: (operation: Operation, path: Path, writing: Writing) => JsonObject
  readonly pathParameter: (name: PathName) => JsonObject
  /**
   * Returns the query parameters that the path declares for all its operations. Undefined if each operation declares
   * its own parameters.
   */
  readonly sharedParameters?: (path: Path, writing: QueryOptions) => readonly JsonObject[]
}

/** Yields each path with its operations. Operations are written on demand. */
export function* writePaths(paths: Iterable<Path>, writing: Writing): Generator<NamedPart> {
  for (const path of paths) yield [path.path, writePath(path, writing)]
}

function writePath(path: Path, writing: Writing): JsonObject {
  const operations = path.operations.map((each) => [each.method, writing.writeOperation(each, path, writing)])
  const own = path.parameters.map(writing.pathParameter)
  const shared = writing.sharedParameters?.(path, writing)
  const parameters = shared === undefined ? own : [...own, ...shared].sort(byName)
  return { ...Object.fromEntries(operations), ...(parameters.length === 0 ? {} : { parameters }) }
}

function byName(a: JsonObject, b: JsonObject): number {
  return compareUtf8(String(a.name), String(b.name))
}

/** Yields the types that the written paths refer to, marked with their group, version and kind. */
export function* writeTypes(
  definitions: Definitions,
  versions: readonly GroupVersion[],
  sharing = versions,
): Generator<NamedPart> {
  markKinds(definitions, versions, sharing)
  yield* definitions.entries()
}

export const bearerToken = { type: 'apiKey', in: 'header', name: 'authorization', description: 'A bearer token.' }
