/**
 * Tests that every request that changes an object passes admission. The routes come from discovery: every type in every
 * version, all subresources and write verbs, all patch and apply formats, creation by PUT and apply, single and
 * collection deletion, and connections to nodes. An admission plugin that rejects everything must reject each of these
 * requests after the mutating plugins have run, and no object may change.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { manifestNames, manifestObject } from '../../support/manifests.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

interface Discovered {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

interface Route {
  readonly what: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly send: (client: HttpClient) => Promise<Answer>
}

const open = '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,PodSecurity'
const server = await serve({ after }, [open])
let client = server.client()
const types: { readonly prefix: string; readonly resources: readonly Discovered[] }[] = []
/** Path of one object of each type, keyed by collection path, for example `/api/v1/configmaps`. */
const objects = new Map<string, string>()
/** The object that was sent for each type, keyed by collection path. */
const sent = new Map<string, ApiObject>()

await discover()
for (const name of manifestNames) await make(manifestObject(name, 'orch'))
await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
await server.stop()
await server.restart([open, '--enable-admission-plugins=AlwaysDeny'])
client = server.client()

async function discover(): Promise<void> {
  const { groups } = (await client.get('/apis')).body as { groups: { versions: { groupVersion: string }[] }[] }
  const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`))
  for (const prefix of ['/api/v1', ...versions])
    types.push({ prefix, resources: (await client.get(prefix)).body.resources })
}

function placeOf(prefix: string, { name, namespaced }: Discovered): string {
  return `${prefix}${namespaced ? '/namespaces/default' : ''}/${name}`
}

/** Creates an object and records its path in every version of its type. */
async function make(object: ApiObject): Promise<void> {
  const prefix = object.apiVersion === 'v1' ? '/api/v1' : `/apis/${object.apiVersion}`
  const type = types
    .find((each) => each.prefix === prefix)!
    .resources.find(({ kind, name }) => kind === object.kind && !name.includes('/'))!
  sent.set(placeOf(prefix, type), object)
  const { status, text } = await client.post(placeOf(prefix, type), object)
  assert.ok(status === 201 || status === 409, text)
  for (const each of types)
    for (const same of each.resources) {
      const isOther = each.prefix.split('/')[2] !== prefix.split('/')[2]
      if (same.name === type.name && !(isOther && type.name !== 'events'))
        objects.set(`${each.prefix}/${same.name}`, `${placeOf(each.prefix, same)}/${object.metadata.name}`)
    }
}

const forms = {
  json: ['application/json-patch+json', [{ op: 'add', path: '/metadata/labels', value: { route: 'json' } }]],
  merge: ['application/merge-patch+json', { metadata: { labels: { route: 'merge' } } }],
  strategic: ['application/strategic-merge-patch+json', { metadata: { labels: { route: 'strategic' } } }],
} as const

const patch = (path: string, type: string, body: object) => (by: HttpClient) =>
  by.send(path, { method: 'PATCH', headers: { 'content-type': type }, body })
const applyType = 'application/apply-patch+yaml'

/** Bodies for types that are not stored. */
const questions: { readonly [kind: string]: object } = {
  Binding: { target: { kind: 'Node', name: 'n' } },
  TokenReview: { spec: { token: 't' } },
  TokenRequest: { spec: { audiences: [], expirationSeconds: 600 } },
  LocalSubjectAccessReview: {
    metadata: { namespace: 'default' },
    spec: { user: 'u', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
  },
  SelfSubjectRulesReview: { spec: { namespace: 'default' } },
  DeletionExplanation: { spec: { resource: 'pods', namespace: 'default', name: 'p' } },
  ObjectHistory: { spec: { resource: 'pods', namespace: 'default', name: 'p' } },
  PastState: { spec: { resource: 'pods', namespace: 'default', name: 'p' } },
  WhoAmI: {},
}
const access = { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } } }
const selfAccess = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }

function question(kind: string): object {
  return questions[kind] ?? (kind.startsWith('Self') || kind === 'WhoCan' ? selfAccess : access)
}

/** Connection subresources. For admission, every request to them is a CONNECT operation. */
const connections = ['exec', 'attach', 'portforward', 'proxy']

async function routesOf(prefix: string, type: Discovered): Promise<Route[]> {
  const [plural = '', subresource = ''] = type.name.split('/')
  const owner = objects.get(`${prefix}/${plural}`)
  const place = subresource === '' ? placeOf(prefix, type) : `${owner}/${subresource}`
  if (connections.includes(subresource)) return [connection(place)]
  const has = (verb: string) => type.verbs.includes(verb)
  if (owner === undefined || (subresource !== '' && !has('update') && !has('patch')))
    return has('create') ? [asked(place, type, owner)] : []
  const path = subresource === '' ? owner : place
  const view = has('get') ? path : owner
  const { body: stored } = await client.get(view)
  const fresh = sent.get(place) ?? stored
  return [
    ...(has('create') && subresource === '' ? [created(place, fresh)] : []),
    ...(has('update') ? changed('UPDATE', 'PUT', (by) => by.put(path, stored)) : []),
    ...(has('patch')
      ? Object.entries(forms).flatMap(([form, [type, body]]) => changed('UPDATE', form, patch(path, type, body)))
      : []),
    ...(has('patch')
      ? changed('UPDATE', 'apply', patch(`${path}?fieldManager=m&force=true`, applyType, bare(stored)))
      : []),
    ...(has('patch') && subresource === '' ? [appliedNew(place, fresh)] : []),
    ...(subresource === '' && createdByPut.has(plural) ? [putNew(place, fresh)] : []),
    ...(has('delete') ? changed('DELETE', 'delete', (by) => by.delete(path)) : []),
    ...(has('deletecollection') ? changed('DELETE', 'deletecollection', (by) => by.delete(place)) : []),
  ]
}

function changed(operation: Route['operation'], what: string, send: Route['send']): Route[] {
  return [{ what, operation, send }]
}

function bare({ apiVersion, kind, metadata: { name } }: ApiObject): ApiObject {
  return { apiVersion, kind, metadata: { name: name!, labels: { route: 'apply' } } }
}

function renamed({ metadata, ...rest }: ApiObject): ApiObject {
  const { resourceVersion: _v, uid: _u, managedFields: _m, creationTimestamp: _c, ...kept } = metadata
  return { ...rest, metadata: { ...kept, name: nameLike(metadata.name!) } } as ApiObject
}

/**
 * Returns a name for another object of the same kind, or the same name if the kind requires a certain format, as
 * APIService does.
 */
function nameLike(name: string): string {
  return name.startsWith('v1') || name.includes('.') ? name : `${name}-2`
}

function created(place: string, stored: ApiObject): Route {
  return { what: 'create', operation: 'CREATE', send: (by) => by.post(place, renamed(stored)) }
}

function appliedNew(place: string, stored: ApiObject): Route {
  const object = renamed(stored)
  const path = `${place}/${object.metadata.name}?fieldManager=m&force=true`
  const isNew = object.metadata.name !== stored.metadata.name
  return {
    what: 'apply that creates an object',
    operation: isNew ? 'CREATE' : 'UPDATE',
    send: patch(path, applyType, object),
  }
}

/** Kinds that can be created by PUT. */
const createdByPut = new Set(allKinds.filter(({ lifecycle: life }) => life.createOnUpdate).map(({ plural }) => plural))

function putNew(place: string, object: ApiObject): Route {
  const { metadata, ...rest } = renamed(object)
  const name = `${metadata.name}-put`
  const send = (by: HttpClient) => by.put(`${place}/${name}`, { ...rest, metadata: { ...metadata, name } })
  return { what: 'PUT that creates an object', operation: 'CREATE', send }
}

function asked(place: string, { kind }: Discovered, owner: string | undefined): Route {
  const name = owner?.split('/').at(-1)
  const metadata = name === undefined ? {} : { metadata: { name } }
  return { what: 'ask', operation: 'CREATE', send: (by) => by.post(place, { ...metadata, ...question(kind) }) }
}

function connection(place: string): Route {
  return { what: 'connect', operation: 'CONNECT', send: (by) => by.get(`${place}?command=x&ports=80`) }
}

/** Returns the number of admission calls, keyed by phase and operation, for example `admit CREATE`. */
async function steps(): Promise<Map<string, number>> {
  const { text } = await client.get('/metrics')
  const counts = new Map<string, number>()
  for (const line of text.split('\n')) {
    const match = /^apiserver_admission_step_admission_duration_seconds_count\{(.*)\} (\d+)$/.exec(line)
    if (match === null) continue
    const [type, operation] = ['type', 'operation'].map((label) => match[1]!.split(`${label}="`)[1]!.split('"')[0])
    counts.set(`${type} ${operation}`, (counts.get(`${type} ${operation}`) ?? 0) + Number(match[2]))
  }
  return counts
}

async function versions(): Promise<string[]> {
  const read = [...objects.values()].map(async (path) => (await client.get(path)).body.metadata?.resourceVersion)
  return await Promise.all(read)
}

test('AlwaysDeny rejects requests to every route in both admission phases, and rejected requests change nothing', async () => {
  const versionsBefore = await versions()
  const stepsBefore = await steps()
  const expected = new Map<string, number>()
  const faults: string[] = []
  for (const { prefix, resources } of types)
    for (const type of resources)
      for (const { what, operation, send } of await routesOf(prefix, type)) {
        const { status, text } = await send(client)
        if (status !== 403 || !text.includes('AlwaysDeny'))
          faults.push(`${prefix}/${type.name} ${what}: ${status} ${text.slice(0, 200)}`)
        for (const step of ['admit', 'validate'])
          expected.set(`${step} ${operation}`, (expected.get(`${step} ${operation}`) ?? 0) + 1)
      }
  assert.deepEqual(faults, [])
  const grown = [...(await steps())].map(([step, count]) => [step, count - (stepsBefore.get(step) ?? 0)] as const)
  assert.deepEqual(new Map(grown.filter(([, count]) => count > 0).toSorted()), new Map([...expected].toSorted()))
  const routes = [...expected.values()].reduce((sum, count) => sum + count, 0) / 2
  assert.ok(routes > 500, `${routes} routes were tried`)
  assert.deepEqual(await versions(), versionsBefore)
})
