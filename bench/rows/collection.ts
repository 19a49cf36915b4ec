/**
 * Measures the deletion of many objects at once: a namespace with its contents, and the dependents of one owner. Also
 * measures the memory of the garbage collector.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { DiscoveredType } from '../../src/client/requests/discovery.ts'
import { OwnerGraph } from '../../src/cluster/controllers/garbage-collector/owner-graph.ts'
import { heapInUse } from '../../test/support/heap.ts'
import { Client } from '../client.ts'
import { type Bench, fetchBytes, type Side } from '../servers.ts'
import { atMost, type Row, short } from '../table.ts'
import { cpuOf } from '../usage.ts'

const count = 10_000
const followed = 100_000
const maps = '/api/v1/namespaces/many/configmaps'

export const collectionRows = {
  name: 'collection',
  async run(bench: Bench): Promise<Row[]> {
    const server = await bench.startOrchUp(bench.newDirectory())
    const client = await Client.connect(server)
    const emptied = await timed(server, () => emptyNamespace(server, client))
    const collected = await timed(server, () => collectDependents(server, client))
    await server.stop()
    return [
      row('deleting a namespace with 10,000 ConfigMaps', emptied, 10),
      row('collecting 10,000 dependents of one owner', collected, 30),
      await memoryRow(),
    ]
  },
}

interface Taken {
  readonly seconds: number
  readonly cpu: number
}

/** Measures the function returned by `work`. The preparation in `work` itself is not measured. */
async function timed(server: Side, work: () => Promise<() => Promise<void>>): Promise<Taken> {
  const run = await work()
  const began = performance.now()
  const cpu = cpuOf(server.pid).total
  await run()
  return { seconds: (performance.now() - began) / 1000, cpu: cpuOf(server.pid).total - cpu }
}

async function emptyNamespace(server: Side, client: Client): Promise<() => Promise<void>> {
  await makeNamespace(client)
  await makeMaps(client, [])
  return async () => {
    await client.send('DELETE', '/api/v1/namespaces/many', '')
    await untilGone(server, '/api/v1/namespaces/many')
  }
}

async function collectDependents(server: Side, client: Client): Promise<() => Promise<void>> {
  await makeNamespace(client)
  await client.send('POST', maps, mapText('owner', []))
  const { metadata } = JSON.parse((await fetchBytes(server, `${maps}/owner`)).toString())
  await makeMaps(client, [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid }])
  return async () => {
    await client.send('DELETE', `${maps}/owner?propagationPolicy=Background`, '')
    await untilEmpty(server)
  }
}

async function makeNamespace(client: Client): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } }
  await client.send('POST', '/api/v1/namespaces', JSON.stringify(namespace))
}

async function makeMaps(client: Client, ownerReferences: object[]): Promise<void> {
  for (let i = 0; i < count; i += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, j) => client.send('POST', maps, mapText(`c${i + j}`, ownerReferences))),
    )
}

/**
 * Returns the body of a ConfigMap. Its label distinguishes it from the ConfigMaps that other programs create in the
 * same namespace.
 */
function mapText(name: string, ownerReferences: object[]): string {
  const metadata = { name, labels: { ours: 'yes' }, ownerReferences }
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
}

async function untilGone(server: Side, path: string): Promise<void> {
  for (;;) {
    const isThere = await fetchBytes(server, path).then(
      () => true,
      () => false,
    )
    if (!isThere) return
    await pause(20)
  }
}

async function untilEmpty(server: Side): Promise<void> {
  for (;;) {
    const { items } = JSON.parse((await fetchBytes(server, `${maps}?limit=1&labelSelector=ours`)).toString())
    if ((items ?? []).length === 0) return
    await pause(20)
  }
}

function row(name: string, { seconds, cpu }: Taken, bound: number): Row {
  return {
    name,
    ours: `${short(seconds)} s`,
    bare: '',
    ...atMost(bound, seconds, 's'),
    note: `${short(cpu)} s of processor time`,
    figures: { seconds, cpu },
  }
}

/** Measures the memory of the garbage collector's graph per object. Half of the objects have an owner. */
async function memoryRow(): Promise<Row> {
  const type: DiscoveredType = {
    group: '',
    version: 'v1',
    plural: 'configmaps',
    namespaced: true,
    kind: 'ConfigMap',
    verbs: [],
    shortNames: [],
    singular: '',
    categories: [],
  }
  const before = await heapInUse()
  const graph = new OwnerGraph({ onAttention: () => {}, onGone: () => {} })
  const uid = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
  for (let i = 0; i < followed; i++) {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: uid(i - (i % 100)) }
    const metadata = { name: `some-object-${i}`, namespace: 'default', uid: uid(i) }
    // Parse each object separately, as in a request, so that objects share no strings.
    graph.set(type, JSON.parse(JSON.stringify(i % 2 === 0 ? metadata : { ...metadata, ownerReferences: [owner] })), 1)
  }
  const each = ((await heapInUse()) - before) / graph.size
  return {
    name: 'memory of the collector per object',
    ours: `${short(each)} B`,
    bare: '',
    ...atMost(600, each, 'B'),
    note: `${short(graph.size)} objects, every second with an owner`,
    figures: { each, objects: graph.size },
  }
}
