/**
 * A document in parts: its head, its paths, its types. Each path and type is made when it is asked for and is garbage
 * once it is encoded, so that the whole is never in memory but as bytes.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import type { Definitions } from '../../../api/schema/openapi.ts'
import type { GroupVersion } from './group-version.ts'
import { markKinds } from './kinds-of-types.ts'
import type { Operation, Path } from './operations.ts'
import type { PathName } from './parameters.ts'

export type NamedPart = readonly [name: string, value: JsonObject]

export interface Parts {
  /** What is neither a path nor a type. */
  readonly head: JsonObject
  readonly paths: Iterable<NamedPart>
  /** The types that the paths refer to: to be read after them. */
  readonly types: Iterable<NamedPart>
}

/** The bytes of a whole document, in the pieces that it was made in. */
export type DocumentText = Iterable<string | Buffer>

/** How one version of OpenAPI writes. */
export interface Writing {
  readonly definitions: Definitions
  readonly writeOperation: (operation: Operation, path: Path, writing: Writing) => JsonObject
  readonly pathParameter: (name: PathName) => JsonObject
}

/** Each path with its operations, written when it is reached. */
export function* writePaths(paths: Iterable<Path>, writing: Writing): Generator<NamedPart> {
  for (const path of paths) yield [path.path, writePath(path, writing)]
}

function writePath(path: Path, writing: Writing): JsonObject {
  const operations = path.operations.map((each) => [each.method, writing.writeOperation(each, path, writing)])
  return {
    ...Object.fromEntries(operations),
    ...(path.parameters.length === 0 ? {} : { parameters: path.parameters.map(writing.pathParameter) }),
  }
}

/** The types that were mentioned so far, marked with the kinds that they are. */
export function* writeTypes(definitions: Definitions, versions: readonly GroupVersion[]): Generator<NamedPart> {
  markKinds(definitions, versions)
  yield* definitions.entries()
}

export const bearerToken = { type: 'apiKey', in: 'header', name: 'authorization', description: 'A bearer token.' }
