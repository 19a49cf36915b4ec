/** The OpenAPI v3 documents: one document for each group version. */
import { isObject, type JsonObject } from '../../../api/json/json.ts'
import { Definitions } from '../../../api/schema/openapi.ts'
import { type EmulatedVersion, isAtLeast } from '../../../api/versions/emulated-version.ts'
import { offered } from '../response/negotiate.ts'
import { versionPath } from './discovery-operations.ts'
import { type Described, type GroupVersion, groupVersions, isForeign } from './group-version.ts'
import { type Operation, type Path, versionPaths } from './operations.ts'
import {
  type PathName,
  pathParameters,
  type QueryName,
  type QueryOptions,
  queryIn,
  queryParameters,
} from './parameters.ts'
import { type Parts, type Writing, writePaths, writeTypes } from './parts.ts'

export function partsV3(described: Described, version: GroupVersion): Parts {
  const { vendor, emulated, extensions } = described
  const definitions = new Definitions(vendor, 3, emulated)
  const isPublic = isAtLeast(emulated, '1.24')
  const versions = [...new Set([...ownVersions(described), version])]
  const writing = isPublic
    ? { definitions, emulated, extensions, writeOperation: writePublicOperation, pathParameter, sharedParameters }
    : { definitions, emulated, extensions, writeOperation, pathParameter: plainPathParameter }
  return {
    head: isPublic ? publicHead(emulated) : plainHead(described),
    paths: writePaths(isPublic ? publicPaths(described, version) : allPaths(described, version), writing),
    types: writeTypes(definitions, versions, sharingVersions(emulated, { versions, version })),
  }
}

interface DocumentVersions {
  readonly versions: readonly GroupVersion[]
  /** The group version that the document describes. */
  readonly version: GroupVersion
}

/**
 * Returns the group versions to list on shared definitions such as DeleteOptions. Since Kubernetes 1.36, these are only
 * the core group and the document's own group version.
 */
function sharingVersions(emulated: EmulatedVersion, { versions, version }: DocumentVersions): readonly GroupVersion[] {
  return isAtLeast(emulated, '1.36') ? versions.filter((each) => each.group === '' || each === version) : versions
}

function plainHead({ version }: Described): JsonObject {
  return { openapi: '3.0.0', info: { title: 'orch', version }, security: [{ BearerToken: [] }] }
}

/** Returns the `openapi` and `info` members of a document, as kube-apiserver has written them since 1.24. */
function publicHead(emulated: EmulatedVersion): JsonObject {
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: emulated } }
}

/**
 * Returns the built-in group versions. Shared definitions list only these, so that adding a custom group does not
 * change every document.
 */
function ownVersions(described: Described): GroupVersion[] {
  return groupVersions({ ...described, types: described.types.filter(({ kind }) => !isForeign(kind)) })
}

function* allPaths({ vendor }: Described, version: GroupVersion): Generator<Path> {
  yield versionPath(vendor, version)
  yield* versionPaths(version)
}

/** Yields the paths of a group version. The discovery path is included only for built-in groups. */
function* publicPaths({ vendor }: Described, version: GroupVersion): Generator<Path> {
  if (!version.types.some(({ kind }) => isForeign(kind))) yield versionPath(vendor, version)
  yield* versionPaths(version)
}

function writeOperation(operation: Operation, { tag, home }: Path, writing: Writing): JsonObject {
  const { definitions } = writing
  const { body, kind, action } = operation
  const query = queryIn(writing, operation.query)
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

function plainPathParameter(name: PathName): JsonObject {
  const { type, doc } = pathParameters[name]
  return { name, in: 'path', required: true, description: doc, schema: { type } }
}

/**
 * Writes an operation as kube-apiserver has done since 1.24: with any content type, and without a schema for errors.
 */
function writePublicOperation(operation: Operation, path: Path, writing: Writing): JsonObject {
  const shared = sharedQuery(path)
  const query = operation.query.filter((name) => !shared.has(name))
  const produces = isWatch(operation) ? [...wholeForms(writing), ...operation.produces] : operation.produces
  const { parameters, requestBody, responses, ...written } = writeOperation(
    { ...operation, query, produces },
    path,
    writing,
  )
  const { 401: unauthorized, ...good } = responses as JsonObject
  return {
    ...written,
    ...(Array.isArray(parameters) && { parameters: parameters.map((each) => unique(each as JsonObject)) }),
    ...(isObject(requestBody) && { requestBody: publicBody(requestBody, { operation, writing }) }),
    responses: { ...good, 401: { description: (unauthorized as JsonObject).description! } },
  }
}

function isWatch({ action }: Operation): boolean {
  return action === 'watch' || action === 'watchlist'
}

function wholeForms({ definitions: { vendor } }: Writing): readonly string[] {
  return offered({ vendor, hasProtobuf: true })
}

/**
 * Writes a request body. Only patches restrict the content type. Since Kubernetes 1.31, bodies are marked as required.
 */
function publicBody(
  { content: forms, required }: JsonObject,
  { operation, writing: { emulated } }: { readonly operation: Operation; readonly writing: Writing },
): JsonObject {
  const [form] = Object.values(forms as JsonObject)
  return {
    content: operation.action === 'patch' ? forms! : { '*/*': form! },
    ...(required === true && isAtLeast(emulated, '1.31') && { required }),
  }
}

/** Returns the query parameters that all operations of a path have in common. The path itself declares them. */
function sharedQuery({ operations: [first, ...rest] }: Path): ReadonlySet<QueryName> {
  return new Set(first?.query.filter((name) => rest.every(({ query }) => query.includes(name))))
}

function sharedParameters(path: Path, options: QueryOptions): readonly JsonObject[] {
  return queryIn(options, [...sharedQuery(path)]).map((name) => unique(queryParameter(name)))
}

function pathParameter(name: PathName): JsonObject {
  return unique(plainPathParameter(name))
}

function unique(parameter: JsonObject): JsonObject {
  return { ...parameter, schema: { ...(parameter.schema as JsonObject), uniqueItems: true } }
}
