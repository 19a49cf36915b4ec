/**
 * Tests the access matrix with real requests: every user in a small world of users and objects (`world.ts`), with every
 * verb, resource, scope, name and request type. The expected results come from the independent model in `world.ts`. All
 * writes are dry runs. In the short variant, each user sends every second request, and the next user sends the
 * remaining requests.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Answer, HttpClient, Sent } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { mayHave, objectsOfWorld, type Person, people, type Wish } from './world.ts'

const server = await serve({ after })
const admin = server.client()

/** A request and the permission that it needs. */
interface Attempt {
  readonly wish: Wish
  readonly path: string
  readonly sent: Sent
}

const namespaced = [
  { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' },
  { group: '', version: 'v1', resource: 'secrets', kind: 'Secret' },
  { group: '', version: 'v1', resource: 'pods', kind: 'Pod' },
  { group: 'rbac.authorization.orch.io', version: 'v1', resource: 'roles', kind: 'Role' },
  { group: 'coordination.orch.io', version: 'v1', resource: 'leases', kind: 'Lease' },
] as const

const clusterWide = [
  { group: '', version: 'v1', resource: 'nodes', kind: 'Node' },
  { group: '', version: 'v1', resource: 'persistentvolumes', kind: 'PersistentVolume' },
  { group: 'rbac.authorization.orch.io', version: 'v1', resource: 'clusterroles', kind: 'ClusterRole' },
] as const

type Type = (typeof namespaced)[number] | (typeof clusterWide)[number]

const table = { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' }
const dry = 'dryRun=All'
const patches = [
  ['application/merge-patch+json', ''],
  ['application/strategic-merge-patch+json', ''],
  ['application/apply-patch+yaml', '&fieldManager=m'],
] as const

/**
 * Returns the patch types to test. Not all types apply: the world has no pods, and applying a missing object is a
 * create (see create-by-update.test.ts).
 */
function patchesOf({ resource }: Type) {
  return resource === 'pods' ? patches.slice(0, 2) : patches
}

function ofOne(type: Type, at: string, wish: Wish): Attempt[] {
  const { name } = wish
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  const body = { apiVersion, kind: type.kind, metadata: { name } }
  const path = `${at}/${name}`
  return [
    { wish: { ...wish, verb: 'get' }, path, sent: {} },
    { wish: { ...wish, verb: 'get' }, path: `${path}/`, sent: { headers: table } },
    { wish: { ...wish, verb: 'list' }, path: `${at}?fieldSelector=metadata.name%3D${name}`, sent: {} },
    { wish: { ...wish, verb: 'update' }, path: `${path}?${dry}`, sent: { method: 'PUT', body } },
    ...patchesOf(type).map(([contentType, more]) => ({
      wish: { ...wish, verb: 'patch' },
      path: `${path}?${dry}${more}`,
      sent: { method: 'PATCH', headers: { 'content-type': contentType }, body },
    })),
    { wish: { ...wish, verb: 'delete' }, path: `${path}?${dry}`, sent: { method: 'DELETE' } },
    ...['status', 'log'].map((subresource) => ({
      wish: { ...wish, verb: 'get', subresource },
      path: `${path}/${subresource}`,
      sent: {},
    })),
  ]
}

function ofMany(at: string, wish: Wish): Attempt[] {
  return [
    { wish: { ...wish, verb: 'list' }, path: at, sent: {} },
    { wish: { ...wish, verb: 'list' }, path: `${at}?limit=1&watch=false`, sent: { headers: table } },
    { wish: { ...wish, verb: 'watch' }, path: `${at}?watch=1&timeoutSeconds=1&resourceVersion=0`, sent: {} },
    { wish: { ...wish, verb: 'create' }, path: `${at}?${dry}`, sent: { method: 'POST', body: { metadata: {} } } },
    { wish: { ...wish, verb: 'deletecollection' }, path: `${at}?${dry}`, sent: { method: 'DELETE' } },
  ]
}

const rootOf = ({ group, version }: Type) => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`)

function attempts(): Attempt[] {
  const inNamespaces = namespaced.flatMap((type) => {
    const { group, resource } = type
    const here = ['a', 'b'].flatMap((namespace) => {
      const at = `${rootOf(type)}/namespaces/${namespace}/${resource}`
      const wish = { verb: '', group, resource, namespace }
      return [...['x', 'y'].flatMap((name) => ofOne(type, at, { ...wish, name })), ...ofMany(at, wish)]
    })
    const everywhere = ofMany(`${rootOf(type)}/${resource}`, { verb: '', group, resource })
    return [...here, ...everywhere]
  })
  const overall = clusterWide.flatMap((type) => {
    const { group, resource } = type
    const at = `${rootOf(type)}/${resource}`
    return [...ofOne(type, at, { verb: '', group, resource, name: 'x' }), ...ofMany(at, { verb: '', group, resource })]
  })
  return [...inNamespaces, ...overall, ...ofNamespaces(), ...ofPaths()]
}

/** Returns requests for namespaces. A request for a namespace is authorized inside that namespace. */
function ofNamespaces(): Attempt[] {
  const namespaces = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace' } as const
  return ['a', 'b'].flatMap((name) => {
    const path = `/api/v1/namespaces/${name}`
    const wish = { verb: '', resource: 'namespaces', namespace: name, name }
    const body = { apiVersion: 'v1', kind: namespaces.kind, metadata: { name } }
    return [
      { wish: { ...wish, verb: 'get' }, path, sent: {} },
      { wish: { ...wish, verb: 'get', subresource: 'status' }, path: `${path}/status`, sent: {} },
      { wish: { ...wish, verb: 'update' }, path: `${path}?${dry}`, sent: { method: 'PUT', body } },
      {
        wish: { ...wish, verb: 'patch' },
        path: `${path}?${dry}`,
        sent: { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body },
      },
      { wish: { ...wish, verb: 'delete' }, path: `${path}?${dry}`, sent: { method: 'DELETE' } },
    ]
  })
}

function ofPaths(): Attempt[] {
  const paths = [
    '/metrics',
    '/metrics/x',
    '/logs/',
    '/logs/a/b',
    '/logs',
    '/version',
    '/api',
    '/apis/apps',
    '/openapi/v2',
    '/other',
  ]
  return paths.flatMap((path) => [
    { wish: { verb: 'get', path }, path, sent: {} },
    { wish: { verb: 'post', path }, path, sent: { method: 'POST', body: {} } },
  ])
}

function clientOf({ token }: Person): HttpClient {
  return server.client(token ?? 'admin-token')
}

function headersOf({ name, groups, token }: Person): { [name: string]: string } {
  if (token !== undefined) return {}
  // Each of these users belongs to at most one group besides the implicit groups.
  const [own] = groups.filter((group) => !group.startsWith('system:'))
  return { 'impersonate-user': name, ...(own === undefined ? {} : { 'impersonate-group': own }) }
}

const atOnce = 24

async function carryOut(person: Person, all: readonly Attempt[]): Promise<string[]> {
  const client = clientOf(person)
  const faults: string[] = []
  const remainingCases = all.values()
  const work = async () => {
    for (const { wish, path, sent } of remainingCases) {
      const headers = { ...sent.headers, ...headersOf(person) }
      const answer = await client.send(path, { ...sent, headers })
      const fault = judge(person, wish, answer)
      if (fault !== '') faults.push(`${person.name}: ${sent.method ?? 'GET'} ${path}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return faults
}

/**
 * Returns what is wrong with a response, or undefined if the response is correct. An allowed request may fail for any
 * reason except authorization. The response to a forbidden request must be a 403 that names the user, the action and
 * the scope.
 */
function judge(person: Person, wish: Wish, { status, text }: Answer): string {
  if (mayHave(person, wish)) return status === 401 || isRefusal(text) ? `refused: ${text.slice(0, 200)}` : ''
  if (status !== 403) return `answered with ${status}: ${text.slice(0, 200)}`
  const what = wish.path === undefined ? `resource \\"${wholeName(wish)}\\"` : `path \\"${wish.path}\\"`
  const scope =
    wish.path !== undefined ? '' : wish.namespace ? `in the namespace \\"${wish.namespace}\\"` : 'at the cluster scope'
  const expectedMessage = `User \\"${person.name}\\" cannot ${wish.verb} ${what}`
  return text.includes(expectedMessage) && text.includes(scope) ? '' : `told otherwise: ${text.slice(0, 300)}`
}

/** Whether the text is an authorization error. Admission plugins may reject an allowed request with other messages. */
function isRefusal(text: string): boolean {
  return /forbidden: User .* cannot /.test(text)
}

function wholeName({ resource, subresource }: Wish): string {
  return subresource === undefined ? `${resource}` : `${resource}/${subresource}`
}

for (const name of ['a', 'b']) await admin.post('/api/v1/namespaces', { metadata: { name } })
for (const { path, object } of objectsOfWorld()) {
  const { status, text } = await admin.post(path, object)
  assert.equal(status, 201, text)
}
for (const type of namespaced) {
  if (type.resource === 'pods') continue
  for (const namespace of ['a', 'b'])
    for (const name of ['x', 'y'])
      await admin.post(`${rootOf(type)}/namespaces/${namespace}/${type.resource}`, { metadata: { name } })
}
for (const type of clusterWide)
  if (type.resource !== 'persistentvolumes')
    await admin.post(`${rootOf(type)}/${type.resource}`, { metadata: { name: 'x' } })

const all = attempts()

function attemptsOf(person: Person): readonly Attempt[] {
  return long ? all : all.filter((_, i) => (i + people.indexOf(person)) % 2 === 0)
}

for (const person of people) {
  const own = attemptsOf(person)
  test(`all ${own.length} authorization decisions for ${person.name} match a model of RBAC`, {
    timeout: 300_000,
  }, async () => {
    const faults = await carryOut(person, own)
    assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults`)
  })
}

test('the authorization test covers more than a thousand combinations, and each user has allowed and forbidden requests', () => {
  assert.ok(people.reduce((sum, person) => sum + attemptsOf(person).length, 0) > 1000)
  for (const person of people) {
    const own = attemptsOf(person)
    const allowed = own.filter(({ wish }) => mayHave(person, wish)).length
    assert.ok(allowed > 0 && allowed < own.length / 2, `${person.name}: ${allowed} of ${own.length}`)
  }
})
