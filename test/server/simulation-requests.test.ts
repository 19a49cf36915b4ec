/** Tests that requests from the simulation thread are authorized, throttled and ended like all other requests. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import type { ConfigMap } from '../../src/api/kinds/core/config-map.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import * as kinds from '../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../src/client/requests/client.ts'
import { type ServerOptions, serverFlags } from '../../src/server/flags/options.ts'
import { type UpOptions, upFlags } from '../../src/server/flags/up.ts'
import { MessageBatch } from '../../src/server/simulation/message-batch.ts'
import type { RequestMessage, ResponseMessage } from '../../src/server/simulation/messages.ts'
import { agentOf } from '../../src/server/simulation/own-nodes.ts'
import { RequestServer } from '../../src/server/simulation/request-server.ts'
import { readsSimulatedState, writesFinalizers } from '../../src/server/simulation/shared-reader.ts'
import { startSimulation } from '../../src/server/simulation/simulation-host.ts'
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

test('the informers of simulated nodes can only read nodes, pods and rules', async () => {
  const never = async () => assert.fail('the request was sent')
  const reader = new Client(readsSimulatedState(never, vendorOf('orch'), Promise.resolve()))
  await assert.rejects(reader.list(configMaps, { namespace: 'default' }), /may only read nodes, pods, simulation rules/)
  await assert.rejects(reader.get(nodes, { name: 'n1' }), /may only read nodes, pods, simulation rules/)
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
  await assert.rejects(reader.create(nodes, node), /may only read nodes, pods, simulation rules/)
})

test('the stages of simulated nodes can only change the finalizers of pods', async () => {
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

test('a large response to the simulation thread is complete and waits for a slow reader', async () => {
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
