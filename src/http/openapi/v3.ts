/** The documents of version 3: one for each version of each group. */
import type { JsonObject } from '../../model/json.ts'
import { Definitions } from '../../schema/openapi.ts'
import { versionPath } from './discovery-operations.ts'
import { type GroupVersion, groupVersions, type Served } from './group-version.ts'
import { markKinds } from './kinds-of-types.ts'
import { type Operation, type Path, resourcePaths } from './operations.ts'
import { type PathName, pathParameters, type QueryName, queryParameters } from './parameters.ts'

export function documentV3(served: Served, version: GroupVersion): JsonObject {
  const definitions = new Definitions(served.vendor, 3)
  const own = version.resources.flatMap((resource) => resourcePaths(version, resource))
  const paths = [versionPath(version), ...own].map((path) => [path.path, writePath(path, version.home, definitions)])
  markKinds(definitions, groupVersions(served))
  return {
    openapi: '3.0.0',
    info: { title: 'orch', version: served.version },
    paths: Object.fromEntries(paths),
    components: {
      schemas: definitions.all(),
      securitySchemes: {
        BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'A bearer token.' },
      },
    },
    security: [{ BearerToken: [] }],
  }
}

function writePath({ parameters, operations, tag }: Path, home: string, definitions: Definitions): JsonObject {
  return {
    ...Object.fromEntries(operations.map((each) => [each.method, writeOperation(each, { tag, home, definitions })])),
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(pathParameter) }),
  }
}

interface Place {
  readonly tag: string
  readonly home: string
  readonly definitions: Definitions
}

function writeOperation(operation: Operation, { tag, home, definitions }: Place): JsonObject {
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
