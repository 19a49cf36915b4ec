/**
 * Tests the published OpenAPI documents, compared with the recorded facts about every type, the parameter tables and
 * discovery. Also tests the requests that return these documents.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { tokenRequest } from '../../../src/api/kinds/authentication/token-request.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { eviction } from '../../../src/api/kinds/policy/eviction.ts'
import { definitionName, groupName, vendorOf } from '../../../src/api/model/vendor.ts'
import * as metaTypes from '../../../src/api/schema/meta-types.ts'
import { derivation } from '../../../src/api/schema/of-version.ts'
import type { ObjectSchema, Schema } from '../../../src/api/schema/schema.ts'
import { homeOf } from '../../../src/apiserver/http/openapi/group-version.ts'
import { serve } from '../../support/in-process.ts'
import { ownFacts } from '../../support/own-facts.ts'
import { fieldsOf } from '../../support/protobuf-facts.ts'
import { root } from '../../support/server.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

interface FieldFacts {
  readonly type: string
  readonly required?: boolean
  readonly tag?: number
  readonly listType?: string
  readonly listMapKeys?: readonly string[]
  readonly mapType?: string
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
}

interface TypeFacts {
  readonly gvk?: readonly string[] | 'many'
  readonly mapType?: string
  readonly scalar?: string
  /** Messages that are inlined in JSON, by the name of the field that contains them in Protobuf. */
  readonly inlined?: { readonly [name: string]: { readonly type: string; readonly tag: number } }
  /** A message that exists only in Protobuf. */
  readonly wireOnly?: boolean
  readonly fields?: { readonly [name: string]: FieldFacts }
}

const facts: { readonly [name: string]: TypeFacts } = {
  ...JSON.parse(readFileSync(join(root, 'test/data/fields.json'), 'utf8')),
  ...ownFacts(),
}
const vendor = vendorOf('orch')
const published = (name: string) => definitionName(vendor, name)
/** Returns the facts about served types. Some recorded types are not served yet. */
const servedTypes = () =>
  Object.entries(facts).filter(([name, { wireOnly }]) => !wireOnly && Object.hasOwn(v2.definitions, published(name)))

/** The query parameters of each verb, from the table of standard operations. */
const list =
  'allowWatchBookmarks continue fieldSelector labelSelector limit pretty resourceVersion resourceVersionMatch timeoutSeconds watch'
const queries: { readonly [action: string]: string } = {
  get: 'pretty',
  list,
  watch: list,
  watchlist: list,
  post: 'dryRun fieldManager fieldValidation pretty',
  put: 'dryRun fieldManager fieldValidation pretty',
  patch: 'dryRun fieldManager fieldValidation force pretty',
  delete: 'dryRun gracePeriodSeconds pretty propagationPolicy',
  deletecollection:
    'continue dryRun fieldSelector gracePeriodSeconds labelSelector limit pretty propagationPolicy resourceVersion resourceVersionMatch timeoutSeconds',
}
/** The query parameters of connect subresources, by the kind of the options object. */
const connecting: { readonly [kind: string]: string } = {
  PodAttachOptions: 'container stderr stdin stdout tty',
  PodExecOptions: 'command container stderr stdin stdout tty',
  PodPortForwardOptions: 'ports',
  PodProxyOptions: 'path',
  NodeProxyOptions: 'path',
  ServiceProxyOptions: 'path',
}
const codes: { readonly [action: string]: string } = {
  get: '200 401',
  list: '200 401',
  watch: '200 401',
  watchlist: '200 401',
  post: '200 201 202 401',
  put: '200 201 401',
  patch: '200 201 401',
  delete: '200 202 401',
  deletecollection: '200 401',
  connect: '200 401',
}
const methods = ['get', 'put', 'post', 'delete', 'patch']

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any document
type Loose = any

// With this server's extensions, lists have more parameters, which list-extensions.test.ts covers.
const client = (await serve({ after }, ['--extensions=false'])).client()
const v2: Loose = (await client.get('/openapi/v2')).body
const v3: Loose = (await client.get('/openapi/v3/api/v1')).body

/** Served group versions, keyed by path, for example by `api/v1` or `apis/certificates.orch.io/v1`. */
const places = [...new Set(allKinds.map(({ group, version }) => placeOf(groupName(vendor, group), version)))].sort()
const documents = await Promise.all(
  places.map(async (place): Promise<Loose> => (await client.get(`/openapi/v3/${place}`)).body),
)

function placeOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

test('every OpenAPI definition matches the recorded properties of its type', () => {
  const compared = { types: 0, fields: 0, markers: 0 }
  const types = servedTypes()
  assert.deepEqual(Object.keys(v2.definitions), types.map(([name]) => published(name)).sort())
  for (const [name, expected] of types) {
    const definition = v2.definitions[published(name)]
    compared.types++
    assert.equal(definition['x-orch-map-type'], expected.mapType, name)
    assert.deepEqual(kindsOf(definition).sort(), kindsExpected(name, expected, v2).toSorted(), name)
    if (expected.scalar !== undefined) assert.equal(typeOf(definition), expected.scalar, name)
    compared.markers += Number(expected.mapType !== undefined) + Number(expected.gvk !== undefined)
    if (expected.fields === undefined) continue
    assert.deepEqual(Object.keys(definition.properties).sort(), Object.keys(expected.fields).sort(), name)
    const required = Object.entries(expected.fields).filter(([, field]) => field.required)
    assert.deepEqual((definition.required ?? []).toSorted(), required.map(([field]) => field).sort(), name)
    for (const [field, fact] of Object.entries(expected.fields)) {
      const property = definition.properties[field]
      assert.equal(typeOf(property), publishedType(fact.type), `${name}.${field}`)
      assert.deepEqual(
        markersOf(property),
        markersExpected(field === 'items' ? withoutMerging(fact) : fact),
        `${name}.${field}`,
      )
      compared.fields++
      compared.markers += Object.keys(markersOf(property)).length
    }
  }
  assert.ok(compared.types > 0 && compared.fields > 0)
  console.error(`openapi: ${compared.types} types, ${compared.fields} fields and ${compared.markers} markers compared`)
})

function numberOf(message: string, field: string): number {
  return fieldsOf(message).find(({ name }) => name === field)?.number ?? 0
}

test('every Protobuf tag in the schemas matches the recorded tag', () => {
  let tags = 0
  const seenNames = new Set<string>()
  const compare = (schema: Schema, home: string) => {
    if (schema.type === 'list') return compare(schema.items, home)
    if (schema.type === 'map') return compare(schema.values, home)
    if (schema.type === 'any' && schema.described) return compare(schema.described(vendor), home)
    // For a type without fields, there are no recorded facts.
    if (schema.type !== 'object' || Object.keys(schema.fields).length === 0) return
    const name = schema.name!.includes('.') ? schema.name! : `${home}.${schema.name}`
    if (seenNames.has(name)) return
    seenNames.add(name)
    for (const [field, { tag, within, schema: inner }] of Object.entries(schema.fields)) {
      const message = within === undefined ? name : messageWithin(name, within[0]!)
      assert.ok(facts[message]?.fields?.[field], `${name}.${field}: there are no facts of it`)
      assert.equal(tag, numberOf(message, field), `${name}.${field}`)
      tags++
      compare(inner, packageOf(name))
    }
  }
  for (const kind of allKinds) {
    compare(kind.schema, homeOf(kind))
    if (!kind.lifecycle.virtual || kind.lifecycle.verbs?.includes('list')) compare(metaTypes.listOf(kind), homeOf(kind))
    for (const { as } of Object.values(kind.views.subresources ?? {}))
      if (as !== undefined) compare(as.kind.schema, homeOf(as.kind))
  }
  // Types that clients send to an endpoint, and that are never stored.
  for (const kind of [eviction, tokenRequest]) compare(kind.schema, `${kind.group}.${kind.version}`)
  for (const schema of Object.values(metaTypes))
    if (typeof schema !== 'function' && schema.type === 'object')
      compare(derivation('1.23').schema<ObjectSchema>(schema), '')
  assert.deepEqual(
    [...seenNames].sort(),
    servedTypes()
      .filter(([, { fields }]) => fields)
      .map(([name]) => name)
      .sort(),
  )
  console.error(`openapi: ${tags} Protobuf tags compared`)
})

test('every OpenAPI entry has a description, every reference resolves, and operation IDs are unique', () => {
  for (const [document, types] of [[v2, v2.definitions], ...documents.map((each) => [each, each.components.schemas])]) {
    for (const [name, definition] of Object.entries<Loose>(types)) {
      assert.ok(definition.description, name)
      for (const [field, property] of Object.entries<Loose>(definition.properties ?? {}))
        assert.ok(property.description, `${name}.${field}`)
    }
    for (const reference of referencesIn(document))
      assert.ok(Object.hasOwn(types, reference.slice(reference.lastIndexOf('/') + 1)), reference)
    const ids = operationsIn(document).map(({ operation }) => operation.operationId)
    assert.ok(ids.length > 0)
    assert.equal(new Set(ids).size, ids.length)
  }
})

test('the OpenAPI documents of each profile contain no names of the other vendor', () => {
  assert.doesNotMatch(JSON.stringify([v2, documents]), /k8s|kubernetes/i)
})

test('every OpenAPI operation declares exactly the parameters and responses that the reference tables list', () => {
  let compared = 0
  for (const { path, item, operation } of operationsIn(v2)) {
    const action = operation['x-orch-action']
    const inPath = (item.parameters ?? []).map(({ name }: Loose) => name)
    assert.deepEqual(
      inPath.sort(),
      [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).sort(),
      `${path} ${action}`,
    )
    if (action === undefined) continue
    const query = operation.parameters.filter((parameter: Loose) => parameter.in === 'query')
    const { kind } = operation['x-orch-group-version-kind']
    const expected = action === 'connect' ? connecting[kind] : queries[action]
    assert.deepEqual(query.map(({ name }: Loose) => name).join(' '), expected, `${path} ${action}`)
    assert.equal(Object.keys(operation.responses).join(' '), codes[action], `${path} ${action}`)
    assert.ok(kind, `${path} ${action}`)
    compared += query.length
  }
  assert.ok(compared > 100)
  console.error(`openapi: ${compared} query parameters compared`)
})

test('OpenAPI operation IDs are the same as those that generated clients use', () => {
  const pod = '/api/v1/namespaces/{namespace}/pods/{name}'
  assert.equal(v2.paths[pod].get.operationId, 'readCoreV1NamespacedPod')
  assert.equal(v2.paths[`${pod}/exec`].post.operationId, 'connectCoreV1PostNamespacedPodExec')
  assert.equal(v2.paths['/api/v1/nodes/{name}/proxy/{path}'].get.operationId, 'connectCoreV1GetNodeProxyWithPath')
})

test('every verb in discovery has an OpenAPI operation', async () => {
  const actions: { readonly [verb: string]: string } = { create: 'post', update: 'put' }
  const isConnected = (path: string, verb: string) =>
    v2.paths[path]?.[actions[verb] ?? verb]?.['x-orch-action'] === 'connect'
  const lists = await Promise.all(
    places.map(async (place) =>
      (await client.get(`/${place}`)).body.resources.map((each: Loose) => ({ place, ...each })),
    ),
  )
  assert.ok(lists.flat().length > 3)
  for (const { place, name, namespaced, verbs } of lists.flat()) {
    const [plural, subresource] = name.split('/')
    const collection = `/${place}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`
    for (const verb of verbs.filter((each: string) => each !== 'watch')) {
      const single = subresource !== undefined || ['get', 'update', 'patch', 'delete'].includes(verb)
      const path = `${collection}${single ? '/{name}' : ''}${subresource === undefined ? '' : `/${subresource}`}`
      const told = methods.map((method) => v2.paths[path]?.[method]?.['x-orch-action'])
      assert.ok(isConnected(path, verb) || told.includes(actions[verb] ?? verb), `${verb} ${path}`)
    }
  }
})

test('OpenAPI version 3 describes the same types as version 2', () => {
  for (const { components } of documents)
    for (const [name, definition] of Object.entries<Loose>(components.schemas)) {
      const properties = (types: Loose) => Object.keys(types[name].properties ?? {})
      assert.deepEqual(properties(components.schemas), properties(v2.definitions), name)
      for (const property of Object.values<Loose>(definition.properties ?? {}))
        if (property.$ref) assert.deepEqual(Object.keys(property), ['$ref'])
    }
  const { requestBody } = v3.paths['/api/v1/namespaces/{namespace}/configmaps'].post
  assert.equal(
    requestBody.content['application/json'].schema.$ref,
    `#/components/schemas/${published('core.v1.ConfigMap')}`,
  )
})

test('a client with the current OpenAPI document gets a 304, and gzip is supported', async () => {
  const first = await client.get('/openapi/v2')
  const tag = first.headers.etag!
  for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await client.get('/openapi/v2', { 'if-none-match': held })
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', tag], held)
  }
  assert.equal((await client.get('/openapi/v2', { 'if-none-match': '"other"' })).status, 200)
  const packed = await client.get('/openapi/v2', { 'accept-encoding': 'gzip' })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  assert.ok(Number(packed.headers['content-length']) * 5 < Number(first.headers['content-length']))
})

test('the format of OpenAPI documents is negotiated', async () => {
  const old = await client.get('/openapi/v2', {
    accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  })
  assert.equal(old.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  assert.equal((await client.get('/openapi/v2', { accept: '*/*' })).headers['content-type'], 'application/json')
  assert.equal((await client.get('/openapi/v2', { accept: 'image/png' })).status, 406)
  assert.equal((await client.get('/openapi/v3', { accept: 'image/png' })).status, 406)
  assert.equal((await client.post('/openapi/v2', {})).status, 405)
})

test('URLs of OpenAPI v3 documents contain a hash, so that responses can be cached forever', async () => {
  const index = (await client.get('/openapi/v3')).body
  assert.deepEqual(Object.keys(index.paths).toSorted(), places)
  const address = index.paths['api/v1'].serverRelativeURL
  const document = await client.get(address)
  assert.deepEqual(document.body, v3)
  assert.match(document.headers['cache-control']!, /max-age=31536000, immutable/)
  assert.doesNotMatch((await client.get('/openapi/v3/api/v1')).headers['cache-control']!, /immutable/)
  const stale = await client.get(`${address}0`)
  assert.deepEqual([stale.status, stale.headers.location], [302, address])
  assert.equal((await client.get('/openapi/v3/api/v2')).status, 404)
})

const packageOf = (name: string) => name.slice(0, name.lastIndexOf('.'))

/** Returns the name of the inlined message with this tag. */
function messageWithin(name: string, tag: number): string {
  const found = Object.values(facts[name]!.inlined ?? {}).find((message) => message.tag === tag)
  assert.ok(found, `${name} has no message ${tag}`)
  return `${packageOf(name)}.${found.type}`
}

/** Returns the type in the notation of the facts, with published names. */
function typeOf(schema: Loose): string {
  if (schema.$ref) return schema.$ref.slice('#/definitions/'.length)
  if (schema.type === 'array') return `${typeOf(schema.items)}[]`
  if (schema.additionalProperties) return `map<string,${typeOf(schema.additionalProperties)}>`
  return schema.format ? `${schema.type}:${schema.format}` : (schema.type ?? 'any')
}

function publishedType(type: string): string {
  return type.replaceAll(/[\w.]+\.[A-Z]\w+/g, published)
}

function markersOf(property: Loose): JsonObject {
  const entries = Object.entries<Loose>(property).filter(([key]) => key.startsWith('x-orch-'))
  return Object.fromEntries(entries.map(([key, value]) => [key.slice('x-orch-'.length), value]))
}

/**
 * Returns the expected merge markers of a field. A list without a list type is atomic, unless patches merge the list by
 * a merge key. Recorded merge markers of strings have no meaning.
 */
function markersExpected(fact: FieldFacts): JsonObject {
  const { patchStrategy, patchMergeKey } = fact.type === 'string' ? ({} as Partial<FieldFacts>) : fact
  const merged = patchMergeKey === undefined ? 'set' : 'map'
  const listType = fact.listType ?? (patchStrategy?.startsWith('merge') ? merged : 'atomic')
  const keys = fact.listMapKeys ?? (listType === 'map' ? [patchMergeKey!] : undefined)
  return {
    ...(fact.type.endsWith('[]') || fact.listType !== undefined ? { 'list-type': listType } : {}),
    ...(keys === undefined ? {} : { 'list-map-keys': [...keys] }),
    ...(fact.mapType === undefined ? {} : { 'map-type': fact.mapType }),
    ...(patchStrategy === undefined ? {} : { 'patch-strategy': patchStrategy }),
    ...(patchMergeKey === undefined ? {} : { 'patch-merge-key': patchMergeKey }),
  }
}

/**
 * Removes the recorded merge markers of the `items` of a list. These markers have no meaning, because clients never
 * write a list of objects.
 */
function withoutMerging({ listType: _, listMapKeys: __, ...fact }: FieldFacts): FieldFacts {
  return fact
}

function kindsOf(definition: Loose): string[] {
  return (definition['x-orch-group-version-kind'] ?? []).map(
    ({ group, version, kind }: Loose) => `${group === '' ? version : `${group}/${version}`} ${kind}`,
  )
}

/**
 * Returns the expected kinds of a type. A type that clients can send in every group version has one kind for each of
 * them.
 */
function kindsExpected(name: string, { gvk = [] }: TypeFacts, { paths }: Loose): readonly string[] {
  if (gvk !== 'many') return gvk
  const places = Object.keys(paths).filter((path) => /^\/(api|apis\/[^/]+)\/[^/]+\/$/.test(path))
  return places.map((path) => `${path.replace(/^\/apis?\//, '').slice(0, -1)} ${name.slice(name.lastIndexOf('.') + 1)}`)
}

function operationsIn({ paths }: Loose): { path: string; item: Loose; operation: Loose }[] {
  return Object.entries<Loose>(paths).flatMap(([path, item]) =>
    methods.filter((method) => item[method]).map((method) => ({ path, item, operation: item[method] })),
  )
}

function referencesIn(value: Loose): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (typeof value.$ref === 'string') return [value.$ref]
  return Object.values(value).flatMap(referencesIn)
}
