/** The OpenAPI v2 document, which covers all groups. */
import type { JsonObject } from '../../../api/json/json.ts'
import { Definitions } from '../../../api/schema/openapi.ts'
import { discoveryPaths, versionPath } from './discovery-operations.ts'
import { type Described, type GroupVersion, groupVersions, isForeign } from './group-version.ts'
import { type Operation, type Path, versionPaths } from './operations.ts'
import { type PathName, pathParameters, type QueryName, queryIn, queryParameters } from './parameters.ts'
import { bearerToken, type Parts, type Writing, writePaths, writeTypes } from './parts.ts'

/** Returns the top-level members of the document other than paths and types. */
export function headV2({ version }: Described): JsonObject {
  return {
    swagger: '2.0',
    info: { title: 'orch', version },
    securityDefinitions: { BearerToken: bearerToken },
    security: [{ BearerToken: [] }],
  }
}

/** Returns the paths and definitions for the given types, which must be either all built-in or all custom. */
export function partsV2(described: Described): Pick<Parts, 'paths' | 'types'> {
  const versions = groupVersions(described)
  const definitions = new Definitions(described.vendor, 2, described.emulated)
  const writing = {
    definitions,
    emulated: described.emulated,
    extensions: described.extensions,
    writeOperation,
    pathParameter,
  }
  return {
    paths: writePaths(allPaths(described, versions), writing),
    types: writeTypes(definitions, versions),
  }
}

/** Yields all paths of the given types. Discovery paths are included only for built-in types. */
function* allPaths(described: Described, versions: readonly GroupVersion[]): Generator<Path> {
  const { vendor, types } = described
  const isOwn = !types.some(({ kind }) => isForeign(kind))
  if (isOwn) yield* discoveryPaths(described, versions)
  for (const version of versions) {
    if (isOwn) yield versionPath(vendor, version)
    yield* versionPaths(version)
  }
}

function writeOperation(operation: Operation, { tag, home }: Path, writing: Writing): JsonObject {
  const { definitions } = writing
  const { body, kind, action } = operation
  const bodyParameter = body && {
    in: 'body',
    name: 'body',
    ...(body.required ? { required: true } : {}),
    schema: definitions.write(body.schema, home),
  }
  const answers = Object.entries(operation.answers).map(([code, { doc, schema }]) => [
    code,
    { description: doc, schema: definitions.write(schema, home) },
  ])
  const parameters = [
    ...(bodyParameter ? [bodyParameter] : []),
    ...queryIn(writing, operation.query).map(queryParameter),
  ]
  return {
    description: operation.doc,
    operationId: operation.id,
    tags: [tag],
    schemes: ['https'],
    ...(body === undefined ? {} : { consumes: [...body.types] }),
    produces: [...operation.produces],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: Object.fromEntries(answers),
    ...(action === undefined ? {} : { [definitions.marker('action')]: action }),
    ...(kind === undefined ? {} : { [definitions.marker('group-version-kind')]: { ...kind } }),
  }
}

function queryParameter(name: QueryName): JsonObject {
  const { type, doc } = queryParameters[name]
  return { name, in: 'query', type, description: doc }
}

function pathParameter(name: PathName): JsonObject {
  const { type, doc } = pathParameters[name]
  return { name, in: 'path', required: true, type, description: doc }
}
