/** Tests `orch/client` as users call it: typed verbs, resumed watches, retries, and servers under both profiles. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import {
  type Client,
  ConfigMap,
  type ConnectOptions,
  CronJob,
  connect,
  Deployment,
  isConflict,
  isExpired,
  Lease,
  Namespace,
  Pod,
  type ResourceType,
  type Scale,
  SelfSubjectAccessReview,
  ServiceAccount,
  StatusError,
  subresource,
  type TokenRequest,
  type Transport,
  TransportError,
  type WatchEvent,
} from '../../../src/client/library/client.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import type { Ending } from '../../support/server.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { waitForCompaction } from '../../support/wait-for-compaction.ts'

const ending = endOfFile()
let server: Restartable
let client: Client
before(async () => {
  server = await serve(ending)
  client = await connectTo(ending)
})

const inDefault = (name: string) => ({ namespace: 'default', name })
const configMap = (name: string, data: { [key: string]: string } = {}) => ({ metadata: inDefault(name), data })

async function connectTo(t: Ending, options: ConnectOptions = {}): Promise<Client> {
  const connected = await connect({ ...server.credentials(), ...options })
  t.after(async () => connected.close())
  return connected
}

test('a kubeconfig sets the server, the user and the namespace of a client', async () => {
  const kubeconfig = join(server.directory, 'admin.kubeconfig')
  const admin = await connect({ kubeconfig })
  const { items } = await admin.list(Namespace)
  assert.ok(items.some(({ metadata }) => metadata.name === 'default'))
  assert.equal(admin.namespace, 'default')
  admin.close()
  await assert.rejects(admin.list(Namespace), TransportError)
  const alice = await connect({ kubeconfig, token: 'alice-token', namespace: 'here' })
  assert.equal(alice.namespace, 'here')
  await assert.rejects(alice.list(Namespace), (error) => error instanceof StatusError && error.reason === 'Forbidden')
  alice.close()
})

test('client objects are typed, and the client adds apiVersion and kind', async () => {
  const created = await client.create(ConfigMap, configMap('typed', { a: '1' }))
  const value: string | undefined = created.data?.a
  assert.deepEqual([value, created.apiVersion, created.kind], ['1', 'v1', 'ConfigMap'])
  const updated = await client.update(ConfigMap, configMap('typed', { a: '2' }))
  assert.equal(updated.metadata.managedFields?.[0]?.manager, 'orch-client')
  // @ts-expect-error The values of a ConfigMap are strings.
  await assert.rejects(client.update(ConfigMap, { metadata: inDefault('typed'), data: { a: 1 } }), /json|string/i)
  // @ts-expect-error The kind has no such field.
  assert.equal(updated.dta, undefined)
})

for (const profile of ['orch', 'kubernetes'] as const)
  test(`built-in kinds have the group names of the profile ${profile}`, async (t) => {
    const other = await serve(t, [`--profile=${profile}`])
    const asked: string[] = []
    const send = other.transport()
    const noted: Transport = (request) => {
      asked.push(request.path)
      return send(request)
    }
    const there = await connect({ transport: noted })
    const lease = await there.create(Lease, { metadata: inDefault('l'), spec: { holderIdentity: 'me' } })
    assert.equal(lease.apiVersion, `coordination.${profile === 'orch' ? 'orch' : 'k8s'}.io/v1`)
    assert.deepEqual(await there.get(Lease, inDefault('l')), lease)
    const { items } = await there.list(CronJob)
    assert.deepEqual(items, [])
    const resourceAttributes = { verb: 'get', resource: 'pods' }
    const review = await there.create(SelfSubjectAccessReview, { metadata: {}, spec: { resourceAttributes } })
    assert.equal(review.status?.allowed, true)
    assert.equal(asked.filter((path) => path === '/apis').length, 1)
  })

test('apply through the client sets fields, reports conflicts and takes over fields by force', async () => {
  const mine = { fieldManager: 'mine' }
  await client.apply(ConfigMap, configMap('applied', { a: '1', b: '1' }), mine)
  const less = await client.apply(ConfigMap, configMap('applied', { a: '1' }), mine)
  assert.deepEqual(less.data, { a: '1' })
  const other = configMap('applied', { a: '2' })
  await assert.rejects(client.apply(ConfigMap, other, { fieldManager: 'theirs' }), isConflict)
  const forced = await client.apply(ConfigMap, other, { fieldManager: 'theirs', force: true })
  assert.deepEqual(forced.data, { a: '2' })
})

test('subresources can be read and written, including subresources with their own kind', async () => {
  const labels = { app: 'a' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await client.create(Deployment, { metadata: inDefault('d'), spec })
  const DeploymentScale = subresource<Scale>(Deployment, 'scale')
  const scale = await client.get(DeploymentScale, inDefault('d'))
  assert.deepEqual([scale.kind, scale.spec?.replicas], ['Scale', 1])
  await client.update(DeploymentScale, { ...scale, spec: { replicas: 3 } })
  await client.patch(Deployment, inDefault('d'), {
    patch: { merge: { status: { observedGeneration: 7 } } },
    subresource: 'status',
  })
  const { spec: after, status } = await client.get(Deployment, inDefault('d'), { subresource: 'status' })
  assert.deepEqual([after?.replicas, status?.observedGeneration], [3, 7])
  await client.create(ServiceAccount, { metadata: inDefault('robot') })
  const token = subresource<TokenRequest>(ServiceAccount, 'token')
  const issued = await client.create(token, { metadata: inDefault('robot'), spec: { expirationSeconds: 600 } })
  assert.match(issued.status?.token ?? '', /^ey/)
})

test('custom resources can have their own types', async () => {
  interface Widget {
    apiVersion: string
    kind: string
    metadata: ConfigMap['metadata']
    spec: { size: number }
  }
  const names = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' }
  const Widget: ResourceType<Widget> = { ...names, namespaced: true }
  const definition = {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
            },
          },
        },
      ],
    },
  }
  const crds = { group: 'apiextensions.orch.io', version: 'v1', plural: 'customresourcedefinitions', namespaced: false }
  await client.create(crds, definition)
  for await (const event of client.watch(crds, { signal: AbortSignal.timeout(60_000) })) if (isEstablished(event)) break
  const createdWidget = await client.create(Widget, { metadata: inDefault('w'), spec: { size: 3 } })
  assert.deepEqual([createdWidget.apiVersion, createdWidget.spec.size], ['example.com/v1', 3])
})

function isEstablished(event: WatchEvent<{ apiVersion: string; kind: string; metadata: object }>): boolean {
  const { status } = (event.type === 'BOOKMARK' ? {} : event.object) as {
    status?: { conditions?: { type: string; status: string }[] }
  }
  return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
}

test('a watch resumes after a disconnect without repeating events', async (t) => {
  const proxy = await startProxy(server.url)
  t.after(() => proxy.close())
  const watching = await connectTo(t, { server: proxy.endpoint })
  const broken: unknown[] = []
  const seen: string[] = []
  const here = { namespace: 'default', labelSelector: 'watched=yes' }
  const write = (name: string) =>
    client.create(ConfigMap, { ...configMap(name), metadata: { ...inDefault(name), labels: { watched: 'yes' } } })
  await write('w0')
  const events = watching.watch(ConfigMap, { ...here, onError: (error) => broken.push(error) })
  const next = async () => {
    const { value } = await events.next()
    if (value !== undefined && value.type !== 'BOOKMARK') seen.push(`${value.type} ${value.object.metadata.name}`)
  }
  await next()
  for (let round = 1; round <= 3; round++) {
    await write(`w${round}`)
    await next()
    proxy.set('cut')
    await write(`missed${round}`)
    proxy.set('pass')
    await next()
  }
  await events.return(undefined)
  const names = ['w0', 'w1', 'missed1', 'w2', 'missed2', 'w3', 'missed3']
  assert.deepEqual(
    seen,
    names.map((name) => `ADDED ${name}`),
  )
  assert.ok(broken.length >= 3 && broken.every((error) => error instanceof TransportError))
})

test('an expired list throws a 410 with a continue token for the remaining objects, and a 403 is thrown without retries', async (t) => {
  const short = await serve(t, ['--history-duration=1s'])
  const there = await connect({ ...short.credentials() })
  t.after(async () => there.close())
  const { metadata } = await there.create(ConfigMap, configMap('a'))
  const resourceVersion = metadata.resourceVersion ?? ''
  for (const name of ['b', 'c', 'd']) await there.create(ConfigMap, configMap(name))
  const list = '/api/v1/namespaces/default/configmaps?limit=1'
  const begun = (await short.client().get(list)).body.metadata
  for (const data of [{ i: '1' }, { i: '2' }]) await there.update(ConfigMap, configMap('a', data))
  await short.stop()
  await short.restart()
  await waitForCompaction(there, resourceVersion)
  await assert.rejects(there.watch(ConfigMap, { resourceVersion }).next(), isExpired)
  await waitForCompaction(there, begun.resourceVersion)
  await there.delete(ConfigMap, inDefault('c'))
  await there.create(ConfigMap, configMap('e'))
  assert.deepEqual(await restOf(short.client(), list, begun.continue), ['410 Expired', 'b', 'd', 'e'])
  const exactly = `${list}&resourceVersion=${resourceVersion}`
  const { status, body } = await short.client().get(exactly)
  assert.deepEqual([status, body.metadata], [410, {}])
  const alice = await connectTo(t, { token: 'alice-token' })
  await assert.rejects(alice.watch(Pod).next(), (error) => error instanceof StatusError && error.code === 403)
})

/** Reads the remaining pages, starting with the continue token of a 410 response. All pages show the same state. */
async function restOf(client: HttpClient, list: string, token: string): Promise<string[]> {
  const messages: string[] = []
  const versions = new Set<string>()
  for (let next: string | undefined = token, pages = 0; next !== undefined && pages < 9; pages++) {
    const { body } = await client.get(`${list}&continue=${encodeURIComponent(next)}`)
    if (body.kind === 'Status') messages.push(`${body.code} ${body.reason}`)
    else versions.add(body.metadata.resourceVersion)
    for (const { metadata } of body.items ?? []) messages.push(metadata.name)
    next = body.metadata.continue
  }
  assert.equal(versions.size, 1)
  return messages
}

test('a list restarts after its pages have expired if the caller supports restarts', async () => {
  for (const name of ['p1', 'p2', 'p3']) await client.create(ConfigMap, configMap(name))
  const send = server.transport()
  const expired = JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', status: 'Failure', metadata: {} })
  const forgetful: Transport = async (request) =>
    request.path.includes('continue=') ? answer(410, expired) : await send(request)
  const there = await connect({ transport: forgetful })
  const options = { namespace: 'default', fieldSelector: 'metadata.name!=none', limit: 2 }
  await assert.rejects(Array.fromAsync(there.pages(ConfigMap, options)), isExpired)
  let names: (string | undefined)[] = []
  let restarts = 0
  const onRestart = () => {
    restarts++
    names = []
  }
  for await (const { items } of there.pages(ConfigMap, { ...options, onRestart }))
    names.push(...items.map(({ metadata }) => metadata.name))
  const all = (await client.list(ConfigMap, options)).items.map(({ metadata }) => metadata.name)
  assert.deepEqual([names, restarts], [all, 1])
  assert.deepEqual((await there.list(ConfigMap, options)).items.length, all.length)
})

test('a list at an exact resourceVersion throws an error if the server returns another version', async () => {
  const { resourceVersion } = await client.list(ConfigMap, { limit: 0 })
  const exactly = { resourceVersion, resourceVersionMatch: 'Exact' } as const
  assert.equal((await client.list(ConfigMap, exactly)).resourceVersion, resourceVersion)
  await client.create(ConfigMap, configMap('after-the-version'))
  const send = server.transport()
  const old: Transport = (request) =>
    send({
      ...request,
      path: request.path.replace(/&?resourceVersionMatch=\w+/, '').replace(/&?resourceVersion=\d+/, ''),
    })
  const there = await connect({ transport: old })
  await assert.rejects(there.list(ConfigMap, exactly), /instead of the requested version/)
})

test('the client retries a request if the server asks for a retry, unless the request may have been executed', async () => {
  const sent: string[] = []
  let refusals: { status: number; after?: string }[] = []
  const send = server.transport()
  const busy: Transport = async (request) => {
    sent.push(request.method)
    const refusal = refusals.shift()
    if (refusal === undefined) return await send(request)
    return answer(refusal.status, 'busy', refusal.after === undefined ? {} : { 'retry-after': refusal.after })
  }
  const attempt = async (use: (client: Client) => Promise<unknown>, ...next: typeof refusals) => {
    refusals = next
    sent.length = 0
    const there = await connect({ transport: busy })
    const outcome = await use(there).then(
      () => 'done',
      (error) => String(error.code),
    )
    return `${outcome} ${sent.length}`
  }
  const get = (there: Client) => there.get(Namespace, { name: 'default' })
  const create = (there: Client) => there.create(ConfigMap, configMap('once'), { dryRun: true })
  const twice = { status: 429, after: '0' }
  assert.equal(await attempt(get, twice, twice), 'done 3')
  assert.equal(await attempt(create, twice, { status: 503, after: '0' }), 'done 3')
  assert.equal(await attempt(get, { status: 500, after: '0' }), 'done 2')
  assert.equal(await attempt(create, { status: 500, after: '0' }), '500 1')
  assert.equal(await attempt(get, { status: 429 }), '429 1')
  assert.equal(await attempt(get, { status: 429, after: '86400' }), '429 1')
  assert.equal(await attempt(get, ...Array.from({ length: 20 }, () => twice)), '429 11')
})

test("a request to an unresponsive server fails after the caller's timeout", async (t) => {
  const proxy = await startProxy(server.url)
  t.after(() => proxy.close())
  proxy.set('mute')
  const there = await connectTo(t, { server: proxy.endpoint, timeoutMs: 200 })
  await assert.rejects(there.get(Namespace, { name: 'default' }), TransportError)
  proxy.set('slow')
  const patient = await connectTo(t, { server: proxy.endpoint })
  assert.equal((await patient.get(Namespace, { name: 'default' })).metadata.name, 'default')
})

/** Returns a transport response with the given status, body and headers. */
function answer(status: number, body: string, headers: { [name: string]: string } = {}) {
  const chunks = async function* () {
    yield new TextEncoder().encode(body)
  }
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: chunks() }
}
