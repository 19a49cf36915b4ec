/**
 * Tests that Endpoints and EndpointSlices follow the pods of their Services. The tests make pods ready by writing their
 * status.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { EndpointSlice } from '../../../src/api/kinds/discovery/endpoint-slice.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { TriggerTimes } from '../../../src/cluster/controllers/endpoints/trigger-times.ts'
import { truncateSubsets } from '../../../src/cluster/controllers/endpoints/truncate-subsets.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const vendor = vendorOf('orch')
const slices = inDomainOf(vendor, kinds.EndpointSlice)
const namespace = 'default'
const events = { group: '', version: 'v1', plural: 'events', namespaced: true }
const loops = ['endpoint', 'endpointslice']
const owner = endOfFile()
let server: LoopServer

before(async () => {
  server = await loopServer(owner, ['--disable-admission-plugins=ServiceAccount'])
  const labels = { 'topology.orch.io/zone': 'west' }
  await server.client.create(kinds.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', labels } })
})
afterEach(async () => {
  await server.end()
})

interface ServiceOptions {
  readonly spec?: object
  readonly ports?: readonly object[]
}

async function makeService(name: string, { spec = {}, ports = [{ port: 80, targetPort: 8080 }] }: ServiceOptions = {}) {
  await server.client.create(kinds.Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { team: 'a' } },
    spec: { selector: { app: name }, ports, ...spec },
  } as never)
}

async function makePod(name: string, app: string, more: object = {}): Promise<void> {
  await server.client.create(kinds.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app } },
    spec: {
      nodeName: 'node-1',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 9090 }] }],
      ...more,
    },
  } as never)
}

async function setStatus(
  name: string,
  ip: string,
  { ready = true, phase = 'Running', since = undefined as string | undefined } = {},
): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since }]
  const status = { phase, podIP: ip, podIPs: [{ ip }], conditions }
  await server.client.patch(kinds.Pod, { namespace, name }, { patch: { merge: { status } }, subresource: 'status' })
}

async function readyPod(name: string, app: string, ip: string, more: object = {}): Promise<void> {
  await makePod(name, app, more)
  await setStatus(name, ip)
}

/** Returns the subsets in short form: `10.0.0.1 10.0.0.2|10.0.0.3 :web=8080`. */
async function subsets(name: string): Promise<string | undefined> {
  const { items } = await server.client.list(kinds.Endpoints, { namespace, fieldSelector: `metadata.name=${name}` })
  const ips = (list: readonly { ip?: string }[] = []) => list.map(({ ip }) => ip).join(' ')
  return items[0] === undefined
    ? undefined
    : (items[0].subsets ?? [])
        .map(({ addresses, notReadyAddresses, ports = [] }) => {
          const shown = ports.map((each) => `${each.name ?? ''}=${each.port}`).join()
          return `${ips(addresses)}|${ips(notReadyAddresses)} :${shown}`
        })
        .join('; ')
}

async function slicesOf(name: string): Promise<EndpointSlice[]> {
  return (await server.client.list(slices, { namespace, labelSelector: `orch.io/service-name=${name}` })).items
}

/** Returns the endpoints of all slices in short form: `10.0.0.1+ 10.0.0.2-`. */
function listed(found: readonly EndpointSlice[]): string {
  return found
    .flatMap((slice) => slice.endpoints ?? [])
    .map(({ addresses = [], conditions }) => `${addresses.join()}${conditions?.ready ? '+' : '-'}`)
    .sort()
    .join(' ')
}

async function untilBoth(name: string, expected: string, inSlices: string): Promise<void> {
  await until(
    () => subsets(name),
    (found) => found === expected,
  )
  await until(
    async () => listed(await slicesOf(name)),
    (found) => found === inSlices,
  )
}

test('Endpoints and EndpointSlices carry the time of the change that triggered them', async () => {
  server.run(loops)
  await makeService('timed')
  const key = 'endpoints.orch.io/last-change-trigger-time'
  const { metadata } = await server.client.get(kinds.Service, { namespace, name: 'timed' })
  const created = metadata.creationTimestamp!
  const untilTimed = async (expected: string) => {
    const found = async () => {
      const { items } = await server.client.list(kinds.Endpoints, { namespace, fieldSelector: 'metadata.name=timed' })
      const all = [items[0], (await slicesOf('timed'))[0]]
      return all.map((each) => each?.metadata.annotations?.[key] ?? (each === undefined ? 'missing' : 'none')).join()
    }
    await until(found, (times) => times === `${expected},${expected}`)
  }
  await untilTimed(created)
  await makePod('timed-1', 'timed')
  await setStatus('timed-1', '10.1.9.1', { since: '2041-01-01T00:00:00Z' })
  await untilBoth('timed', '10.1.9.1| :=8080', '10.1.9.1+')
  await untilTimed('2041-01-01T00:00:00Z')
  // Label changes have no trigger time.
  await server.client.patch(
    kinds.Service,
    { namespace, name: 'timed' },
    { patch: { merge: { metadata: { labels: { team: 'b' } } } } },
  )
  await untilTimed('none')
})

test('the trigger time of Endpoints is the time of the earliest change since the last synchronization', () => {
  const times = new TriggerTimes()
  const service = { metadata: { creationTimestamp: '2030-01-01T00:00:00Z' } } as never
  const pod = (name: string, second: number) =>
    ({
      metadata: { name },
      status: { conditions: [{ type: 'Ready', lastTransitionTime: `2030-01-01T00:00:0${second}Z` }] },
    }) as never
  assert.equal(times.next('a/b', service, [pod('p', 5)]), '2030-01-01T00:00:00Z')
  assert.equal(times.next('a/b', service, [pod('p', 5)]), undefined)
  assert.equal(times.next('a/b', service, [pod('p', 8), pod('q', 7), pod('r', 9)]), '2030-01-01T00:00:07Z')
  assert.equal(times.next('a/b', service, [pod('p', 8)]), undefined)
  const remade = { metadata: { creationTimestamp: '2030-01-01T00:00:06Z' } } as never
  assert.equal(times.next('a/b', remade, [pod('p', 8)]), '2030-01-01T00:00:06Z')
  times.forget('a/b')
  assert.equal(times.next('a/b', service, [pod('p', 8)]), '2030-01-01T00:00:00Z')
})

test('Endpoints and EndpointSlices follow pods through creation, readiness, termination, relabeling and deletion', async () => {
  server.run(loops)
  await makeService('web')
  await untilBoth('web', '', '')
  const [placeholder] = await until(
    () => slicesOf('web'),
    (found) => found.length === 1,
  )
  assert.deepEqual([placeholder?.endpoints, placeholder?.ports], [[], []])
  assert.equal(placeholder?.metadata.labels?.['endpointslice.orch.io/managed-by'], 'endpointslice-controller.orch.io')
  assert.equal(placeholder?.metadata.labels?.team, 'a')
  assert.equal(placeholder?.metadata.ownerReferences?.[0]?.kind, 'Service')
  await makePod('w-1', 'web')
  await setStatus('w-1', '10.1.0.1', { ready: false })
  await untilBoth('web', '|10.1.0.1 :=8080', '10.1.0.1-')
  await setStatus('w-1', '10.1.0.1')
  await readyPod('w-2', 'web', '10.1.0.2')
  await untilBoth('web', '10.1.0.1 10.1.0.2| :=8080', '10.1.0.1+ 10.1.0.2+')
  const [slice] = await slicesOf('web')
  assert.equal(slice?.metadata.name, placeholder?.metadata.name, 'the slice is used again')
  const { targetRef, nodeName, zone, conditions } = slice!.endpoints![0]!
  assert.deepEqual([targetRef?.kind, nodeName, zone], ['Pod', 'node-1', 'west'])
  assert.deepEqual(conditions, { ready: true, serving: true, terminating: false })
  await setStatus('w-1', '10.1.0.1', { phase: 'Succeeded', ready: false })
  await untilBoth('web', '10.1.0.2| :=8080', '10.1.0.2+')
  const patch = { merge: { metadata: { labels: { app: 'other' } } } }
  await server.client.patch(kinds.Pod, { namespace, name: 'w-2' }, { patch })
  await untilBoth('web', '', '')
})

test('named ports, headless Services, hostnames and publishNotReadyAddresses are supported', async () => {
  server.run(loops)
  const ports = [
    { name: 'a', port: 80, targetPort: 'web' },
    { name: 'b', port: 81, targetPort: 'missing' },
  ]
  await makeService('named', { ports, spec: { clusterIP: 'None', publishNotReadyAddresses: true } })
  await makePod('n-1', 'named', { hostname: 'n', subdomain: 'named' })
  await setStatus('n-1', '10.2.0.1', { ready: false })
  await untilBoth('named', '10.2.0.1| :a=9090', '10.2.0.1+')
  const [slice] = await slicesOf('named')
  assert.equal(slice?.endpoints?.[0]?.hostname, 'n')
  assert.equal(slice?.metadata.labels?.['service.orch.io/headless'], '')
  const { metadata } = await server.client.get(kinds.Endpoints, { namespace, name: 'named' })
  assert.equal(metadata.labels?.['service.orch.io/headless'], '')
})

test('the manager ignores Endpoints of Services without a selector, and recreates Endpoints that it manages', async () => {
  server.run(loops)
  await makeService('manual', { spec: { selector: null } })
  await makeService('kept')
  const subset = { addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 1 }] }
  const object = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'manual', namespace }, subsets: [subset] }
  await server.client.create(kinds.Endpoints, object)
  await until(
    () => subsets('kept'),
    (found) => found === '',
  )
  await server.client.delete(kinds.Endpoints, { namespace, name: 'kept' })
  await until(
    () => subsets('kept'),
    (found) => found === '',
  )
  assert.equal(await subsets('manual'), '10.9.0.1| :=1')
  assert.deepEqual(await slicesOf('manual'), [])
  await server.client.delete(kinds.Service, { namespace, name: 'manual' })
  await until(
    () => subsets('manual'),
    (found) => found === undefined,
  )
})

test('many pods are distributed over several EndpointSlices and removed from them', async () => {
  server.run(loops, { options: { maxEndpointsPerSlice: 3 } })
  await makeService('many')
  const names = Array.from({ length: 8 }, (_, i) => `m-${i}`)
  for (const [i, name] of names.entries()) await readyPod(name, 'many', `10.3.0.${i}`)
  const all = names.map((_, i) => `10.3.0.${i}+`).join(' ')
  const found = await until(
    () => slicesOf('many'),
    (slices) => listed(slices) === all,
  )
  assert.ok(found.every(({ endpoints = [] }) => endpoints.length <= 3))
  assert.ok(found.length <= 4, `${found.length} slices`)
  for (const name of names.slice(1))
    await server.client.delete(kinds.Pod, { namespace, name }, { gracePeriodSeconds: 0 })
  const left = await until(
    () => slicesOf('many'),
    (slices) => listed(slices) === '10.3.0.0+' && slices.length === 1,
  )
  assert.ok(found.some(({ metadata }) => metadata.name === left[0]?.metadata.name))
})

test('a lagging watch does not cause duplicate EndpointSlices', async (t) => {
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  const slowWatch =
    (send: Transport): Transport =>
    async (request) => {
      const answer = await send(request)
      if (!request.path.includes('endpointslices') || !request.path.includes('watch=')) return answer
      const late = async function* () {
        for await (const chunk of answer.body) {
          await gate.promise
          yield chunk
        }
      }
      return { ...answer, body: late() }
    }
  await makeService('slow')
  server.run(loops, { through: slowWatch })
  await readyPod('s-1', 'slow', '10.4.0.1')
  await until(
    () => slicesOf('slow'),
    (found) => found.length === 1,
  )
  await readyPod('s-2', 'slow', '10.4.0.2')
  await until(
    () => subsets('slow'),
    (found) => found === '10.4.0.1 10.4.0.2| :=8080',
  )
  assert.equal((await slicesOf('slow')).length, 1)
  gate.resolve()
  await untilBoth('slow', '10.4.0.1 10.4.0.2| :=8080', '10.4.0.1+ 10.4.0.2+')
  assert.equal((await slicesOf('slow')).length, 1)
})

test('if the manager is killed during any write, the next manager completes the update of Endpoints', async () => {
  for (const [i, death] of deaths(long ? 2 : 1).entries()) {
    const name = `killed-${i}`
    await makeService(name)
    await readyPod(`k-${i}`, name, `10.5.0.${i}`)
    await server.run(loops, { death }).killed
    await server.end()
    server.run(loops)
    await untilBoth(name, `10.5.0.${i}| :=8080`, `10.5.0.${i}+`)
    assert.equal((await slicesOf(name)).length, 1)
    await server.end()
  }
})

test('truncated Endpoints contain ready addresses first, and a proportional share of each subset', () => {
  const addresses = (count: number) => Array.from({ length: count }, (_, i) => ({ ip: `10.6.0.${i}` }))
  const subsets = [
    { addresses: addresses(2), notReadyAddresses: addresses(6), ports: [{ port: 1 }] },
    { addresses: addresses(4), ports: [{ port: 2 }] },
    { notReadyAddresses: addresses(3), ports: [{ port: 3 }] },
  ]
  const counts = (max: number) =>
    truncateSubsets(subsets, max).map((each) => [each.addresses?.length, each.notReadyAddresses?.length])
  assert.equal(truncateSubsets(subsets, 15), subsets)
  assert.deepEqual(counts(9), [
    [2, 2],
    [4, undefined],
    [undefined, 1],
  ])
  assert.deepEqual(counts(3), [
    [1, undefined],
    [2, undefined],
  ])
})

const mirrored = 'endpointslicemirroring-controller.orch.io'

async function makeEndpoints(name: string, addresses: object, metadata: object = {}): Promise<void> {
  await server.client.create(kinds.Endpoints, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, namespace, ...metadata },
    subsets: [{ ...addresses, ports: [{ name: 'db', port: 5432 }] }],
  } as never)
}

async function untilListed(name: string, expected: string): Promise<EndpointSlice[]> {
  return await until(
    () => slicesOf(name),
    (found) => listed(found) === expected,
  )
}

test('user-managed Endpoints are mirrored while their Service has no selector', async () => {
  server.run([...loops, 'endpointslicemirroring'])
  await makeService('db', { spec: { selector: null } })
  const annotations = { note: 'x', 'kubectl.orch.io/last-applied-configuration': '{}' }
  const addresses = { addresses: [{ ip: '10.9.0.1' }, { ip: 'fd00::1' }], notReadyAddresses: [{ ip: '10.9.0.2' }] }
  await makeEndpoints('db', addresses, { annotations, labels: { team: 'b' } })
  const made = await untilListed('db', '10.9.0.1+ 10.9.0.2- fd00::1+')
  assert.deepEqual(made.map(({ addressType }) => addressType).sort(), ['IPv4', 'IPv6'])
  for (const { metadata, ports } of made) {
    assert.deepEqual(metadata.annotations, { note: 'x' })
    assert.deepEqual([metadata.labels?.['endpointslice.orch.io/managed-by'], metadata.labels?.team], [mirrored, 'b'])
    assert.equal(metadata.ownerReferences?.[0]?.kind, 'Endpoints')
    assert.deepEqual(ports, [{ name: 'db', port: 5432, protocol: 'TCP' }])
  }
  const merge = { subsets: [{ addresses: [{ ip: '10.9.0.3' }], ports: [{ name: 'db', port: 5433 }] }] }
  await server.client.patch(kinds.Endpoints, { namespace, name: 'db' }, { patch: { merge } })
  const [changed, ...more] = await untilListed('db', '10.9.0.3+')
  assert.deepEqual([changed?.ports?.[0]?.port, more], [5433, []])
  assert.ok(
    made.some(({ metadata }) => metadata.uid === changed?.metadata.uid),
    'a slice is used again',
  )
  await server.client.patch(
    kinds.Service,
    { namespace, name: 'db' },
    { patch: { merge: { spec: { selector: { app: 'db' } } } } },
  )
  await until(
    () => slicesOf('db'),
    (found) => found.every(({ metadata }) => metadata.labels?.['endpointslice.orch.io/managed-by'] !== mirrored),
  )
})

test('Endpoints that must not be mirrored are ignored, and skipped addresses are reported', async () => {
  server.run(['endpointslicemirroring'], { options: { maxMirrored: 2 } })
  const one = { addresses: [{ ip: '10.9.1.1' }] }
  await makeEndpoints('no-service', one)
  await makeService('skipped', { spec: { selector: null } })
  await makeEndpoints('skipped', one, { labels: { 'endpointslice.orch.io/skip-mirror': 'true' } })
  await makeService('elected', { spec: { selector: null } })
  await makeEndpoints('elected', one, { annotations: { 'control-plane.alpha.orch.io/leader': '{}' } })
  await makeService('too-many', { spec: { selector: null } })
  await makeEndpoints('too-many', { addresses: ['1', '2', '3'].map((i) => ({ ip: `10.9.2.${i}` })) })
  await untilListed('too-many', '10.9.2.1+ 10.9.2.2+')
  const fieldSelector = 'reason=TooManyAddressesToMirror'
  const reports = await until(
    async () => (await server.client.list(events, { namespace, fieldSelector })).items,
    (found) => found.length > 0,
  )
  assert.match(String((reports[0] as { message?: string }).message), /A max of 2 addresses .* 1 addresses were skipped/)
  for (const name of ['no-service', 'skipped', 'elected']) assert.deepEqual(await slicesOf(name), [], name)
  await server.client.delete(kinds.Endpoints, { namespace, name: 'too-many' })
  await untilListed('too-many', '')
  assert.deepEqual(await slicesOf('too-many'), [])
})

test('if the manager is killed during any write, the next manager completes the mirroring of Endpoints', async () => {
  const ways = long ? deaths(3) : deaths(3).slice(-2)
  for (const [i, death] of ways.entries()) {
    const name = `copied-${i}`
    await makeService(name, { spec: { selector: null } })
    await makeEndpoints(name, { addresses: [{ ip: '10.9.3.1' }, { ip: 'fd00::2' }] })
    const first = server.run(['endpointslicemirroring'], { death })
    await Promise.race([first.killed, untilListed(name, '10.9.3.1+ fd00::2+')])
    await first.stop()
    server.run(['endpointslicemirroring'])
    const found = await untilListed(name, '10.9.3.1+ fd00::2+')
    assert.equal(found.length, 2)
    await server.end()
  }
})
