/** Tests that requests from the simulation thread are authorized, throttled and ended like all other requests. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import type { ConfigMap } from '../../src/api/kinds/core/config-map.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import * as kinds from '../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../src/client/requests/client.ts'
import { kwokKinds, kwokType } from '../../src/cluster/nodes/kwok/kinds.ts'
import { authorText, stageAuthorKey } from '../../src/cluster/nodes/kwok/stage-author.ts'
import { authorActor, impersonatingActor } from '../../src/cluster/nodes/stages/stage-actor.ts'
import { type ServerOptions, serverFlags } from '../../src/server/flags/options.ts'
import { type UpOptions, upFlags } from '../../src/server/flags/up.ts'
import { MessageBatch } from '../../src/server/simulation/message-batch.ts'
import type { RequestMessage, ResponseMessage } from '../../src/server/simulation/messages.ts'
import { agentOf } from '../../src/server/simulation/own-nodes.ts'
import { RequestServer } from '../../src/server/simulation/request-server.ts'
import { readsSimulatedState, writesFinalizers, writesKwokStatus } from '../../src/server/simulation/shared-reader.ts'
import { startSimulation } from '../../src/server/simulation/simulation-host.ts'
import { StageAuthors } from '../../src/server/simulation/stage-authors.ts'
import { ThreadTransport } from '../../src/server/simulation/thread-transport.ts'
import { giveAccount } from '../support/accounts.ts'
import { type InProcess, startInProcess } from '../support/in-process.ts'
import { until, untilTrue } from '../support/until.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const nodes = { group: '', version: 'v1', plural: 'nodes', namespaced: false }
const large = 40

let api: InProcess
let admin: Client
let near: ThreadTransport
let sentBytes = 0
const paths: string[] = []
const { port1, port2 } = new MessageChannel()
const requests = new MessageBatch<RequestMessage>((messages, transfer) => port1.postMessage(messages, transfer))
const responses = new MessageBatch<ResponseMessage>((messages, transfer) => port2.postMessage(messages, transfer))

before(async () => {
  api = await startInProcess()
  admin = new Client(api.server.transport({ name: 'admin', uid: '', groups: ['system:masters'], extra: new Map() }))
  await giveAccount(api.client)
  for (let i = 0; i < large; i++)
    await admin.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `c${i}`, namespace: 'default' },
      data: { text: `${i}é`.repeat(30_000) },
    })
  const far = new RequestServer(
    (node) => (node === 'n1' ? api.server.transport(agentOf('n1')) : node === 'all' ? adminTransport() : undefined),
    (message) => {
      if (message.type === 'chunk') sentBytes += message.data.length
      responses.add(message)
    },
  )
  port2.on('message', (messages: readonly RequestMessage[]) => {
    for (const message of messages) {
      if (message.type === 'request') paths.push(message.path)
      far.receive(message)
    }
  })
  near = new ThreadTransport(
    (message) => requests.add(message),
    () => {},
  )
  port1.on('message', (messages: readonly ResponseMessage[]) => {
    for (const message of messages) near.receive(message)
  })
})
after(async () => {
  port1.close()
  await api.stop()
})

const adminTransport = () =>
  api.server.transport({ name: 'admin', uid: '', groups: ['system:masters'], extra: new Map() })

test('a simulated node has exactly the permissions of a node agent', async () => {
  const node = new Client(near.as('n1'))
  await node.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
  assert.equal((await node.list(nodes)).items.length, 1)
  await assert.rejects(node.get(configMaps, { namespace: 'default', name: 'c1' }), { code: 403 })
  await assert.rejects(new Client(near.as('n2')).list(nodes), /may not act as this user/)
})

test('the informers of simulated nodes have permission to read only nodes, pods and rules', async () => {
  const never = async () => assert.fail('the request was sent')
  const reader = new Client(
    readsSimulatedState(never, vendorOf('orch'), { installed: Promise.resolve(), whenUsed: never }),
  )
  await assert.rejects(reader.list(configMaps, { namespace: 'default' }), /may only read nodes, pods, simulation rules/)
  await assert.rejects(reader.get(nodes, { name: 'n1' }), /may only read nodes, pods, simulation rules/)
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
  await assert.rejects(reader.create(nodes, node), /may only read nodes, pods, simulation rules/)
})

test("the reporter of the simulated nodes can only replace the status of KWOK's objects", async () => {
  const sent: string[] = []
  const writer = new Client(
    writesKwokStatus(async ({ method, path }) => {
      sent.push(`${method} ${path}`)
      return { status: 200, headers: {}, body: (async function* () {})() }
    }),
  )
  const object = (name: string, namespace?: string) => ({ metadata: { name, ...(namespace && { namespace }) } })
  const status = { subresource: 'status' } as const
  const refused = /may only replace the status of KWOK's objects/
  const [stages, logs] = [kwokType(kwokKinds.stage), kwokType(kwokKinds.logs)]
  await assert.rejects(writer.update(stages, object('a')), refused)
  await assert.rejects(writer.update(nodes, object('n1'), status), refused)
  await assert.rejects(writer.update(kinds.Pod, object('status', 'stages') as never), refused)
  await assert.rejects(writer.patch(stages, { name: 'a' }, { patch: { merge: {} }, ...status }), refused)
  await assert.rejects(writer.delete(stages, { name: 'a' }), refused)
  assert.deepEqual(sent, [])
  await writer.update(stages, object('a'), status).catch(() => {})
  await writer.update(logs, object('web', 'default'), status).catch(() => {})
  const root = '/apis/kwok.x-k8s.io/v1alpha1'
  assert.deepEqual(sent, [`PUT ${root}/stages/a/status`, `PUT ${root}/namespaces/default/logs/web/status`])
})

test('the simulation thread can act only as the authors of Stage objects, and only in ways that stages need', async () => {
  const vendor = vendorOf('orch')
  const author = authorText({ name: 'alice', uid: '', groups: ['dev'], extra: new Map() })
  const stage = { metadata: { name: 's', annotations: { [stageAuthorKey(vendor)]: author } } }
  const sent: string[] = []
  const answering = (object: object) => async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield Buffer.from(JSON.stringify(object))
    })(),
  })
  const authors = new StageAuthors({
    client: new Client(answering({ kind: 'StageList', apiVersion: 'v1', metadata: {}, items: [stage] })),
    vendor,
    clock: systemClock,
    transport:
      ({ name }) =>
      async ({ method, path, headers }) => {
        sent.push(`${name} as ${headers['impersonate-user']}: ${method} ${path}`)
        return await answering({})()
      },
  })
  assert.equal(authors.transportOf('node-1'), undefined)
  const clientOf = (actor: string) => new Client(authors.transportOf(actor)!)
  const alice = clientOf(authorActor(author))
  const other = clientOf(authorActor(author.replace('alice', 'bob')))
  const config = { namespace: 'default', name: 'c' }
  await assert.rejects(other.get(configMaps, config), /may act only as authors of Stage objects/)
  const refused = /may only read, patch and delete objects, and record Events/
  await assert.rejects(alice.create(configMaps, { metadata: config }), refused)
  await assert.rejects(alice.update(configMaps, { metadata: config }), refused)
  assert.deepEqual(sent, [])
  await alice.create(kinds.Event, { metadata: config } as never)
  await clientOf(impersonatingActor(authorActor(author), 'carol')).get(configMaps, config)
  assert.deepEqual(sent, [
    'alice as undefined: POST /api/v1/namespaces/default/events',
    'alice as carol: GET /api/v1/namespaces/default/configmaps/c',
  ])
})

test('the stages of simulated nodes have permission to change only the finalizers of pods', async () => {
  const sent: string[] = []
  const writer = new Client(
    writesFinalizers(async ({ method, path }) => {
      sent.push(`${method} ${path}`)
      return { status: 200, headers: {}, body: (async function* () {})() }
    }),
  )
  const name = { namespace: 'default', name: 'p' }
  const merge = (metadata: object, more: object = {}) => ({ patch: { merge: { metadata, ...more } } })
  const refused = /may only change the finalizers of pods/
  const finalizers = ['example.com/a']
  await assert.rejects(writer.patch(kinds.Pod, name, merge({ finalizers, labels: {} })), refused)
  await assert.rejects(writer.patch(kinds.Pod, name, merge({ finalizers }, { spec: {} })), refused)
  await assert.rejects(writer.patch(kinds.Pod, name, { patch: { merge: { metadata: null } } }), refused)
  await assert.rejects(writer.patch(kinds.Pod, name, { patch: { strategic: { metadata: { finalizers } } } }), refused)
  await assert.rejects(writer.patch(kinds.Node, { name: 'n' }, merge({ finalizers })), refused)
  await assert.rejects(
    writer.patch(kinds.Pod, name, { ...merge({ finalizers }), subresource: 'ephemeralcontainers' }),
    refused,
  )
  await assert.rejects(writer.delete(kinds.Pod, name), refused)
  assert.deepEqual(sent, [])
  await writer.patch(kinds.Pod, name, merge({ resourceVersion: '1', finalizers })).catch(() => {})
  assert.deepEqual(sent, ['PATCH /api/v1/namespaces/default/pods/p'])
})

test('a large response to the simulation thread is complete, and is sent only as fast as the reader reads it', async () => {
  const all = await new Client(near.as('all')).list(configMaps, { namespace: 'default', limit: 0 })
  assert.deepEqual(
    all.items.map(({ data }) => (data as { text: string }).text.length),
    all.items.map(({ metadata }) => `${metadata.name!.slice(1)}é`.length * 30_000),
  )
  sentBytes = 0
  const ended = new AbortController()
  const path = '/api/v1/namespaces/default/configmaps'
  const request = { method: 'GET', path, headers: {}, body: undefined, signal: ended.signal }
  const { body } = await near.as('all')(request)
  await untilTrue(async () => sentBytes > 256 * 1024)
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  assert.ok(sentBytes < 600 * 1024, `${sentBytes} bytes were sent to a reader that reads nothing`)
  ended.abort()
  await assert.rejects(Array.fromAsync(body), { name: 'AbortError' })
})

test('a watch ends on the server when its reader in the simulation thread stops', async () => {
  const before = api.server.watches
  const watching = new AbortController()
  const watch = new Client(near.as('all')).watch(configMaps, { namespace: 'default', signal: watching.signal })
  await watch.next()
  const more = (async () => {
    for await (const _ of watch);
  })().catch(() => {})
  await untilTrue(async () => api.server.watches > before)
  watching.abort()
  await more
  await untilTrue(async () => api.server.watches === before)
})

test('an informer with a page limit never requests a whole list', async () => {
  paths.length = 0
  const onError = (error: unknown) => assert.fail(String(error))
  const informer = new Informer<ConfigMap>(new Client(near.as('all')), configMaps, { onError, pageLimit: 7 })
  const ended = new AbortController()
  const running = informer.run(ended.signal)
  assert.equal(await informer.synced, true)
  assert.ok(informer.size >= large)
  const lists = paths.filter((path) => !path.includes('watch='))
  assert.ok(lists.length >= large / 7)
  assert.ok(lists.every((path) => /[?&]limit=7(&|$)/.test(path)))
  ended.abort()
  await running
})

test('a simulation thread whose heap is nearly full exits, and the server continues', async () => {
  const lines: string[] = []
  const log = {
    ...api.server.loopRecords.log,
    error: (message: string, fields = {}) => void lines.push(message + JSON.stringify(fields)),
  }
  const server = { ...api.server, transport: api.server.transport, loopRecords: { ...api.server.loopRecords, log } }
  const options = parseFlags({ ...serverFlags, ...upFlags }, ['--nodes=1']) as ServerOptions & UpOptions
  const simulation = startSimulation(server, options, {
    within: (transport) => transport,
    kwokInstalled: Promise.resolve(),
    stageTexts: undefined,
    heapMb: 212,
  })
  const spec = { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] }
  const made = async (i: number) => {
    const annotations = { note: 'x'.repeat(200_000) }
    const pod = await api.client.post('/api/v1/namespaces/default/pods', {
      metadata: { name: `p${i}`, annotations },
      spec,
    })
    assert.equal(pod.status, 201, pod.text)
  }
  for (let i = 0; i < 40; i++) await made(i)
  const found = await until(
    async () => lines.find((line) => /its heap uses \d+ MiB/.test(line)),
    (line) => line !== undefined,
  )
  assert.match(found!, /^the simulated-nodes thread exited/)
  assert.equal((await api.client.get('/readyz')).status, 200)
  await simulation.stop()
})
