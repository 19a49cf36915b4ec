/** The version 3 documents: one for each group version. */
import type { JsonObject } from '../../../api/json/json.ts'
import { Definitions } from '../../../api/schema/openapi.ts'
import { versionPath } from './discovery-operations.ts'
import { type Described, type GroupVersion, groupVersions, isForeign } from './group-version.ts'
import { type Operation, type Path, versionPaths } from './operations.ts'
import { type PathName, pathParameters, type QueryName, queryParameters } from './parameters.ts'
import { type Parts, type Writing, writePaths, writeTypes } from './parts.ts'

export function partsV3(described: Described, version: GroupVersion): Parts {
  const definitions = new Definitions(described.vendor, 3)
  return {
    head: {
      openapi: '3.0.0',
      info: { title: 'orch', version: described.version },
      security: [{ BearerToken: [] }],
    },
    paths: writePaths(allPaths(described, version), { definitions, writeOperation, pathParameter }),
    types: writeTypes(definitions, [...new Set([...ownVersions(described), version])]),
  }
}

/**
 * Shared types are marked only with the built-in group versions, so that one document does not change with another
 * group.
 */
function ownVersions(described: Described): GroupVersion[] {
  return groupVersions({ ...described, types: described.types.filter(({ kind }) => !isForeign(kind)) })
}

function* allPaths({ vendor }: Described, version: GroupVersion): Generator<Path> {
  yield versionPath(vendor, version)
  yield* versionPaths(version)
}

function writeOperation(operation: Operation, { tag, home }: Path, { definitions }: Writing): JsonObject {
  const { body, kind, action, query } = operation
  const answers = Object.entries(operation.answers).map(([code, { doc, schema }]) => [
    code,
    { description: doc, content: content(operation.produces, definitions.write(schema, home)) },
  ])
  return {
    description: operation.doc,
    operationId: operation.id,
    tags: [tag],
    ...(query.length === 0 ? {} : { parameters: query.map(queryParameter) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            ...(body.required ? { required: true } : {}),
            content: content(body.types, definitions.write(body.schema, home)),
          },
        }),
    responses: Object.fromEntries(answers),
    ...(action === undefined ? {} : { [definitions.marker('action')]: action }),
    ...(kind === undefined ? {} : { [definitions.marker('group-version-kind')]: { ...kind } }),
  }
}

function content(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

function queryParameter(name: QueryName): JsonObject {
  const { type, doc } = queryParameters[name]
  return { name, in: 'query', description: doc, schema: { type } }
}

function pathParameter(name: PathName): JsonObject {
  const { type, doc } = pathParameters[name]
  return { name, in: 'path', required: true, description: doc, schema: { type } }
}
