/**
 * Everything that can be done with the served resources, path by path, in a form that belongs to no version of OpenAPI:
 * what is sent, what may be in the query, what is answered. `v2.ts` and `v3.ts` write it down.
 */
import type { Resource } from '../../registry/resource.ts'
import type { Kind } from '../../schema/kind.ts'
import { deleteOptions, listOf, patch, status, watchEvent } from '../../schema/meta-types.ts'
import type { Schema } from '../../schema/schema.ts'
import { accepted } from '../content.ts'
import { offered } from '../negotiate.ts'
import { patchTypes } from '../verbs/patch.ts'
import type { GroupVersion } from './group-version.ts'
import { type PathName, type QueryName, queryOf } from './parameters.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch'

export interface Operation {
  readonly method: Method
  /** Unique in all documents; programs are made from it. */
  readonly id: string
  readonly doc: string
  /** What the method means here: `get`, `list`, `deletecollection`, ... Unset where no object is concerned. */
  readonly action?: string
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
  readonly query: readonly QueryName[]
  readonly body?: { readonly schema: Schema; readonly required: boolean; readonly types: readonly string[] }
  readonly answers: { readonly [code: string]: { readonly doc: string; readonly schema: Schema } }
  readonly produces: readonly string[]
}

export interface Path {
  readonly path: string
  /** Groups its operations with others. */
  readonly tag: string
  /** The package that the types of its operations belong to. */
  readonly home: string
  readonly parameters: readonly PathName[]
  readonly operations: readonly Operation[]
}

/** All paths of one version of a group. */
export function* versionPaths(groupVersion: GroupVersion): Generator<Path> {
  for (const resource of groupVersion.resources) yield* resourcePaths(groupVersion, resource)
}

const streams = ['application/json;stream=watch']

/** The paths of one resource: its collections, its objects, their subresources, and the older paths of watches. */
function resourcePaths(groupVersion: GroupVersion, resource: Resource): Path[] {
  const { kind } = resource
  const operation = operationsOf(groupVersion, resource)
  const { path: base, name, tag, home } = groupVersion
  const one = `${name}${kind.scope === 'Namespaced' ? 'Namespaced' : ''}${kind.kind}`
  const place = kind.scope === 'Namespaced' ? `/namespaces/{namespace}/${kind.plural}` : `/${kind.plural}`
  const parameters: PathName[] = kind.scope === 'Namespaced' ? ['namespace'] : []
  const ofOne: PathName[] = ['name', ...parameters]
  const inPlace = [
    { path: `${base}${place}`, tag, home, parameters, operations: collection(operation, kind, groupVersion) },
    {
      path: `${base}${place}/{name}`,
      tag,
      home,
      parameters: ofOne,
      operations: [
        operation.read(`read${one}`),
        operation.replace(`replace${one}`),
        operation.patch(`patch${one}`),
        operation.remove(`delete${one}`),
      ],
    },
    ...Object.entries(kind.subresources ?? {}).map(([sub, { verbs }]) => ({
      path: `${base}${place}/{name}/${sub}`,
      tag,
      home,
      parameters: ofOne,
      operations: [
        ...(verbs.includes('get') ? [operation.read(`read${one}${capital(sub)}`)] : []),
        ...(verbs.includes('update') ? [operation.replace(`replace${one}${capital(sub)}`)] : []),
        ...(verbs.includes('patch') ? [operation.patch(`patch${one}${capital(sub)}`)] : []),
      ],
    })),
    { path: `${base}/watch${place}`, tag, home, parameters, operations: [operation.watchAll(`watch${one}List`)] },
    {
      path: `${base}/watch${place}/{name}`,
      tag,
      home,
      parameters: ofOne,
      operations: [operation.watchOne(`watch${one}`)],
    },
  ]
  return kind.scope === 'Cluster' ? inPlace : [...inPlace, ...acrossNamespaces(operation, kind, groupVersion)]
}

function acrossNamespaces(
  operation: Operations,
  { kind, plural }: Kind,
  { path, name, tag, home }: GroupVersion,
): Path[] {
  const all = operation.list(`list${name}${kind}ForAllNamespaces`)
  const changes = operation.watchAll(`watch${name}${kind}ListForAllNamespaces`)
  return [
    { path: `${path}/${plural}`, tag, home, parameters: [], operations: [all] },
    { path: `${path}/watch/${plural}`, tag, home, parameters: [], operations: [changes] },
  ]
}

function collection(operation: Operations, kind: Kind, { name }: GroupVersion): Operation[] {
  const noun = `${kind.scope === 'Namespaced' ? 'Namespaced' : ''}${kind.kind}`
  return [
    operation.list(`list${name}${noun}`),
    operation.create(`create${name}${noun}`),
    ...(kind.deleteCollection === false ? [] : [operation.removeAll(`delete${name}Collection${noun}`)]),
  ]
}

type Operations = ReturnType<typeof operationsOf>

/** What can be done with the objects of a resource; each under the id that its path gives it. */
function operationsOf({ version }: GroupVersion, { group, kind }: Resource) {
  const noun = `${/^[AEIOU]/.test(kind.kind) ? 'an' : 'a'} ${kind.kind}`
  const all = `objects of kind ${kind.kind}`
  const object = { schema: kind.schema, required: true, types: accepted }
  const options = { schema: deleteOptions, required: false, types: accepted }
  const shared = { kind: { group, version, kind: kind.kind }, produces: offered }
  const deleted = kind.deleteAnswers === 'object' ? kind.schema : status
  const make = (operation: Omit<Operation, 'id' | 'kind' | 'produces'> & Partial<Operation>) => (id: string) => ({
    ...shared,
    ...operation,
    id,
  })
  return {
    read: make({
      method: 'get',
      action: 'get',
      doc: `Reads ${noun}.`,
      query: queryOf.get,
      answers: answers(kind.schema, [200]),
    }),
    list: make({
      method: 'get',
      action: 'list',
      doc: `Lists or watches ${all}.`,
      query: queryOf.list,
      answers: answers(listOf(kind), [200]),
      produces: [...offered, ...streams],
    }),
    create: make({
      method: 'post',
      action: 'post',
      doc: `Creates ${noun}.`,
      query: queryOf.create,
      body: object,
      answers: answers(kind.schema, [200, 201, 202]),
    }),
    replace: make({
      method: 'put',
      action: 'put',
      doc: `Replaces ${noun}.`,
      query: queryOf.update,
      body: object,
      answers: answers(kind.schema, [200, 201]),
    }),
    patch: make({
      method: 'patch',
      action: 'patch',
      doc: `Changes ${noun} in part.`,
      query: queryOf.patch,
      body: { schema: patch, required: true, types: patchTypes },
      answers: answers(kind.schema, [200, 201]),
    }),
    remove: make({
      method: 'delete',
      action: 'delete',
      doc: `Deletes ${noun}.`,
      query: queryOf.delete,
      body: options,
      answers: answers(deleted, [200, 202]),
    }),
    removeAll: make({
      method: 'delete',
      action: 'deletecollection',
      doc: `Deletes all ${all} that are selected.`,
      query: queryOf.deletecollection,
      body: options,
      answers: answers(status, [200]),
    }),
    watchOne: make({
      method: 'get',
      action: 'watch',
      doc: `Watches ${noun}. Better: list with watch and a field selector on the name.`,
      query: queryOf.watch,
      answers: answers(watchEvent, [200]),
      produces: streams,
    }),
    watchAll: make({
      method: 'get',
      action: 'watchlist',
      doc: `Watches ${all}. Better: list with watch.`,
      query: queryOf.watch,
      answers: answers(watchEvent, [200]),
      produces: streams,
    }),
  }
}

const meanings = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
type Code = keyof typeof meanings

/** Every operation may also be refused for want of an identity. */
export function answers(schema: Schema, codes: readonly Code[]): Operation['answers'] {
  const good = codes.map((code) => [code, { doc: meanings[code], schema }] as const)
  return { ...Object.fromEntries(good), 401: { doc: 'Unauthorized', schema: status } }
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
