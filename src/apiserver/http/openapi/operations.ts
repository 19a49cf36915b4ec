/**
 * All operations on the served resources, path by path, independent of the OpenAPI version: request bodies, query
 * parameters and responses. `v2.ts` and `v3.ts` write them in their formats.
 */
import { groupName } from '../../../api/model/vendor.ts'
import type { Verb } from '../../../api/model/verb.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { deleteOptions, listOf, patch, status, watchEvent } from '../../../api/schema/meta-types.ts'
import { type Schema, s } from '../../../api/schema/schema.ts'
import type { Endpoint } from '../../registry/catalogue/endpoint.ts'
import type { Served, ServedSubresource } from '../../registry/catalogue/served.ts'
import { offered, streamed } from '../response/negotiate.ts'
import { patchTypes } from '../verbs/patch.ts'
import { type GroupVersion, homeOf, isForeign } from './group-version.ts'
import { type PathName, type QueryName, queryOf } from './parameters.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch'

export interface Operation {
  readonly method: Method
  /** The operation ID, which is unique across all documents. Code generators derive method names from this ID. */
  readonly id: string
  readonly doc: string
  /**
   * The action of the method, such as `get`, `list` or `deletecollection`. Undefined if the operation does not involve
   * objects.
   */
  readonly action?: string
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
  readonly query: readonly QueryName[]
  readonly body?: { readonly schema: Schema; readonly required: boolean; readonly types: readonly string[] }
  readonly answers: { readonly [code: string]: { readonly doc: string; readonly schema: Schema } }
  readonly produces: readonly string[]
}

export interface Path {
  readonly path: string
  /** The tag that groups related operations. */
  readonly tag: string
  /** The package of the types that the operation uses. */
  readonly home: string
  readonly parameters: readonly PathName[]
  readonly operations: readonly Operation[]
}

/** Yields all paths of one group version with their operations. */
export function* versionPaths(groupVersion: GroupVersion): Generator<Path> {
  for (const served of groupVersion.types) yield* typePaths(groupVersion, served)
}

/** Returns the paths of one resource type: for collections, objects, their subresources, and the legacy watch paths. */
function typePaths(groupVersion: GroupVersion, served: Served): Path[] {
  const { kind } = served
  const place = pathOfKind(groupVersion, kind)
  const operation = operationsOf(served)
  const { one, parameters } = place
  const name = groupVersion.name
  const noun = `${parameters.length > 0 ? 'Namespaced' : ''}${kind.kind}`
  const paths = [
    place.path('', parameters, [
      operation.list(`list${name}${noun}`),
      operation.create(`create${name}${noun}`),
      operation.removeAll(`delete${name}Collection${noun}`),
    ]),
    place.path('/{name}', place.ofOne, [
      operation.read(`read${one}`),
      operation.replace(`replace${one}`),
      operation.patch(`patch${one}`),
      operation.remove(`delete${one}`),
    ]),
    ...[...served.subresources].flatMap(([sub, subresource]) =>
      subresource.endpoint?.connects === undefined
        ? [subresourcePath(groupVersion, served, { sub, subresource })]
        : connectPaths(groupVersion, served, subresource.endpoint),
    ),
    ...(isForeign(kind)
      ? []
      : [
          place.watchPath('', parameters, [operation.watchAll(`watch${one}List`)]),
          place.watchPath('/{name}', place.ofOne, [operation.watchOne(`watch${one}`)]),
        ]),
    ...(kind.scope === 'Cluster' ? [] : acrossNamespaces(operation, kind, groupVersion)),
  ]
  return paths.filter(({ operations }) => operations.length > 0)
}

/** An operation on a path. Undefined if the type does not support the operation's verb. */
type Offered = Operation | undefined

function pathOfKind({ path: base, name, tag, home }: GroupVersion, kind: Kind) {
  const namespaced = kind.scope === 'Namespaced'
  const place = namespaced ? `/namespaces/{namespace}/${kind.plural}` : `/${kind.plural}`
  const one = `${namespaced ? 'Namespaced' : ''}${kind.kind}`
  const parameters: PathName[] = namespaced ? ['namespace'] : []
  const make = (prefix: string) => (rest: string, named: readonly PathName[], operations: readonly Offered[]) => ({
    path: `${prefix}${place}${rest}`,
    tag,
    home,
    parameters: named,
    operations: operations.filter((operation) => operation !== undefined),
  })
  return {
    one: `${name}${one}`,
    /** In the IDs of connect operations, clients expect the method before the type. */
    connect: (method: Method) => `connect${name}${capital(method)}${one}`,
    parameters,
    ofOne: ['name', ...parameters] as PathName[],
    path: make(base),
    watchPath: make(`${base}/watch`),
  }
}

interface NamedSubresource {
  readonly sub: string
  readonly subresource: ServedSubresource
}

function subresourcePath(groupVersion: GroupVersion, served: Served, { sub, subresource }: NamedSubresource): Path {
  const place = pathOfKind(groupVersion, served.kind)
  const type = subresource.type ?? served.kind
  const operation = operationsOf({ ...served, kind: type, verbs: subresource.verbs })
  const id = `${place.one}${sub.split('/').map(capital).join('')}`
  const path = place.path(`/{name}/${sub}`, place.ofOne, [
    operation.create(`create${id}`),
    operation.read(`read${id}`),
    operation.replace(`replace${id}`),
    operation.patch(`patch${id}`),
  ])
  return subresource.type === undefined ? path : { ...path, home: homeOf(type) }
}

const methodOf: { readonly [V in Verb]?: Method } = {
  create: 'post',
  get: 'get',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
}

/**
 * Returns the paths of a connect subresource, such as `proxy` or `exec`. Requests and responses of a connect
 * subresource have no schema.
 */
function connectPaths(
  groupVersion: GroupVersion,
  served: Served,
  { connects, subresource, verbs, doc }: Endpoint,
): Path[] {
  const place = pathOfKind(groupVersion, served.kind)
  const { kind, options, takesPath } = connects!
  const operations = (suffix: string) =>
    verbs
      .map((verb) => methodOf[verb]!)
      .map((method) => ({
        method,
        id: `${place.connect(method)}${capital(subresource)}${suffix}`,
        action: 'connect',
        doc,
        kind: { group: served.group, version: served.kind.version, kind },
        query: Object.keys(options).sort() as QueryName[],
        answers: answers(s.string(), [200]),
        produces: ['*/*'],
      }))
  const below = `/{name}/${subresource}`
  return [
    place.path(below, place.ofOne, operations('')),
    ...(takesPath ? [place.path(`${below}/{path}`, [...place.ofOne, 'path'], operations('WithPath'))] : []),
  ]
}

function acrossNamespaces(operation: Operations, type: Kind, { path, name, tag, home }: GroupVersion): Path[] {
  const { kind, plural } = type
  const all = operation.list(`list${name}${kind}ForAllNamespaces`)
  const changes = operation.watchAll(`watch${name}${kind}ListForAllNamespaces`)
  return [
    { path: `${path}/${plural}`, tag, home, parameters: [], operations: all ? [all] : [] },
    ...(changes === undefined || isForeign(type)
      ? []
      : [{ path: `${path}/watch/${plural}`, tag, home, parameters: [], operations: [changes] }]),
  ]
}

type Operations = ReturnType<typeof operationsOf>

/**
 * Returns functions that describe each operation on objects of a type, such as `list` or `patch`, for a given path.
 * They return undefined for an unsupported verb.
 */
function operationsOf(served: Served) {
  const { vendor, kind, verbs } = served
  const group = groupName(vendor, kind.group)
  const forms = { whole: offered(served), streams: streamed(served) }
  const shared = { kind: { group, version: kind.version, kind: kind.kind }, produces: forms.whole }
  const make = (verb: Verb, operation: Draft) => (id: string) =>
    verbs.includes(verb) ? { ...shared, ...operation, id } : undefined
  const noun = `${/^[AEIOU]/.test(kind.kind) ? 'an' : 'a'} ${kind.kind}`
  const words = { noun, all: `objects of kind ${kind.kind}`, forms }
  return { ...readings(kind, words, make), ...writings(kind, words, make), ...deletions(kind, words, make) }
}

type Draft = Omit<Operation, 'id' | 'kind' | 'produces'> & Partial<Operation>
type Make = (verb: Verb, operation: Draft) => (id: string) => Operation | undefined

/**
 * The nouns that descriptions use for one object and for all objects of a type, and the media types that the type
 * supports.
 */
interface Words {
  readonly noun: string
  readonly all: string
  readonly forms: { readonly whole: readonly string[]; readonly streams: readonly string[] }
}

function readings(kind: Kind, { noun, all, forms: { whole, streams } }: Words, make: Make) {
  return {
    read: make('get', {
      method: 'get',
      action: 'get',
      doc: `Reads ${noun}.`,
      query: queryOf.get,
      answers: answers(kind.schema, [200]),
    }),
    list: make('list', {
      method: 'get',
      action: 'list',
      doc: `Lists or watches ${all}.`,
      query: queryOf.list,
      answers: answers(listOf(kind), [200]),
      produces: [...whole, ...streams],
    }),
    watchOne: make('watch', {
      method: 'get',
      action: 'watch',
      doc: `Watches ${noun}. Deprecated: list with watch=true and a field selector on the name instead.`,
      query: queryOf.watch,
      answers: answers(watchEvent, [200]),
      produces: streams,
    }),
    watchAll: make('watch', {
      method: 'get',
      action: 'watchlist',
      doc: `Watches ${all}. Deprecated: list with watch=true instead.`,
      query: queryOf.watch,
      answers: answers(watchEvent, [200]),
      produces: streams,
    }),
  }
}

function writings({ schema }: Kind, { noun, forms }: Words, make: Make) {
  const object = { schema, required: true, types: forms.whole }
  return {
    create: make('create', {
      method: 'post',
      action: 'post',
      doc: `Creates ${noun}.`,
      query: queryOf.create,
      body: object,
      answers: answers(schema, [200, 201, 202]),
    }),
    replace: make('update', {
      method: 'put',
      action: 'put',
      doc: `Replaces ${noun}.`,
      query: queryOf.update,
      body: object,
      answers: answers(schema, [200, 201]),
    }),
    patch: make('patch', {
      method: 'patch',
      action: 'patch',
      doc: `Patches ${noun}.`,
      query: queryOf.patch,
      body: { schema: patch, required: true, types: patchTypes },
      answers: answers(schema, [200, 201]),
    }),
  }
}

function deletions({ schema, lifecycle }: Kind, { noun, all, forms }: Words, make: Make) {
  const options = { schema: deleteOptions, required: false, types: forms.whole }
  return {
    remove: make('delete', {
      method: 'delete',
      action: 'delete',
      doc: `Deletes ${noun}.`,
      query: queryOf.delete,
      body: options,
      answers: answers(lifecycle.deleteAnswers === 'object' ? schema : status, [200, 202]),
    }),
    removeAll: make('deletecollection', {
      method: 'delete',
      action: 'deletecollection',
      doc: `Deletes the selected ${all}.`,
      query: queryOf.deletecollection,
      body: options,
      answers: answers(status, [200]),
    }),
  }
}

const meanings = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
type Code = keyof typeof meanings

/** Returns the responses of an operation. Every operation may also respond with 401. */
export function answers(schema: Schema, codes: readonly Code[]): Operation['answers'] {
  const good = codes.map((code) => [code, { doc: meanings[code], schema }] as const)
  return { ...Object.fromEntries(good), 401: { doc: 'Unauthorized', schema: status } }
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
