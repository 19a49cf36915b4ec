/** The document of version 2: all groups in one. */
import type { JsonObject } from '../../model/json.ts'
import { Definitions } from '../../schema/openapi.ts'
import { discoveryPaths, versionPath } from './discovery-operations.ts'
import { groupVersions, type Served } from './group-version.ts'
import { markKinds } from './kinds-of-types.ts'
import { type Operation, type Path, resourcePaths } from './operations.ts'
import { type PathName, pathParameters, type QueryName, queryParameters } from './parameters.ts'

export function documentV2(served: Served): JsonObject {
  const versions = groupVersions(served)
  const definitions = new Definitions(served.vendor, 2)
  const paths: JsonObject = {}
  for (const path of discoveryPaths(versions)) paths[path.path] = writePath(path, '', definitions)
  for (const version of versions) {
    const own = version.resources.flatMap((resource) => resourcePaths(version, resource))
    for (const path of [versionPath(version), ...own]) paths[path.path] = writePath(path, version.home, definitions)
  }
  markKinds(definitions, versions)
  return {
    swagger: '2.0',
    info: { title: 'orch', version: served.version },
    paths,
    definitions: definitions.all(),
    securityDefinitions: {
      BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'A bearer token.' },
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
  const parameters = [...(bodyParameter ? [bodyParameter] : []), ...operation.query.map(queryParameter)]
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
