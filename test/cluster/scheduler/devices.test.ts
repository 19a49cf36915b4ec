/**
 * Tests dynamic resource allocation by the scheduler, with its own account: each claim gets devices, or the Pod's
 * status explains why not.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const flags = ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition', '--emulated-version=1.36']
const { client, start, vendor } = await openLoopServer({ after }, flags)
const claimType = inDomainOf(vendor, kinds.ResourceClaim)
const driver = 'gpu.example.com'

const gpu = (name: string, model: string, gibibytes: number, more: object = {}) => ({
  name,
  attributes: {
    model: { string: model },
    'example.com/slot': { int: Number(name.slice(-1)) },
    api: { version: '1.2.0' },
  },
  capacity: { memory: { value: `${gibibytes}Gi` } },
  ...more,
})

async function makeNode(name: string): Promise<void> {
  const amounts = { cpu: '8', memory: '8Gi', pods: '20' }
  await client.create(kinds.Node, { metadata: { name }, status: { allocatable: amounts, capacity: amounts } } as never)
}

async function makeSlice(nodeName: string, devices: readonly object[], generation = 1): Promise<void> {
  const pool = { name: nodeName, generation, resourceSliceCount: 1 }
  const metadata = { name: `${nodeName}-${generation}` }
  const spec = { driver, pool, nodeName, devices }
  await client.create(inDomainOf(vendor, kinds.ResourceSlice), { metadata, spec } as never)
}

before(async () => {
  for (const name of ['node-1', 'node-2']) await makeNode(name)
  const selectors = [{ cel: { expression: `device.driver == "${driver}"` } }]
  const gpuClass = { metadata: { name: 'gpu' }, spec: { selectors } }
  await client.create(inDomainOf(vendor, kinds.DeviceClass), gpuClass as never)
  await makeSlice('node-1', [gpu('old-9', 'old', 1)], 1)
  await makeSlice('node-1', [gpu('a-1', 'small', 8), gpu('a-2', 'small', 8)], 2)
  const taints = [{ key: 'broken', effect: 'NoSchedule' }]
  await makeSlice('node-2', [gpu('b-1', 'large', 80), gpu('b-2', 'large', 40), gpu('b-3', 'large', 40, { taints })])
  const admins = { name: 'admins', labels: { 'resource.orch.io/admin-access': 'true' } }
  await client.create(kinds.Namespace, { metadata: admins })
  start(['scheduler', 'resourceclaim-controller'])
})

/** Creates a claim with these requests, and a Pod that uses the claim. */
async function run(name: string, devices: object, space = namespace): Promise<void> {
  await client.create(claimType, { metadata: { name, namespace: space }, spec: { devices } } as never)
  await makePod(name, { name: 'devices', resourceClaimName: name }, space)
}

async function makePod(name: string, claim: object, space = namespace): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'i' }], resourceClaims: [claim], terminationGracePeriodSeconds: 0 }
  await client.create(kinds.Pod, { metadata: { name, namespace: space }, spec } as never)
}

const exactly = (expression: string, more: object = {}) => ({
  deviceClassName: 'gpu',
  selectors: [{ cel: { expression } }],
  ...more,
})
const one = (expression: string, more: object = {}) => ({
  requests: [{ name: 'r', exactly: exactly(expression, more) }],
})

const getPod = (name: string, space = namespace) => client.get(kinds.Pod, { namespace: space, name })

/** Waits until the Pod is bound, and returns the devices of its claim. */
async function devicesOf(name: string, space = namespace): Promise<string[]> {
  const pod = await until(
    () => getPod(name, space),
    ({ spec }) => (spec?.nodeName ?? '') !== '',
  )
  const claimName = pod.status?.resourceClaimStatuses?.[0]?.resourceClaimName ?? name
  const { status, metadata } = await client.get(claimType, { namespace: space, name: claimName })
  assert.deepEqual(
    status?.reservedFor?.map(({ uid }) => uid),
    [pod.metadata.uid],
  )
  assert.deepEqual(metadata.finalizers, ['resource.orch.io/delete-protection'])
  const results = status?.allocation?.devices?.results ?? []
  return results.map(({ request, device }) => `${request} ${device} ${pod.spec?.nodeName}`)
}

const reason = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? ''

async function untilRefused(name: string, pattern: RegExp): Promise<void> {
  await until(
    () => getPod(name),
    (pod) => pattern.test(reason(pod)),
  )
}

async function remove(name: string, space = namespace): Promise<void> {
  await client.delete(kinds.Pod, { namespace: space, name }, { gracePeriodSeconds: 0 })
  await client.delete(claimType, { namespace: space, name })
  await until(
    () => client.get(claimType, { namespace: space, name }).catch(() => undefined),
    (claim) => claim === undefined,
  )
}

test('CEL selectors choose devices by attributes, versions and capacity', async () => {
  const attributes = `device.attributes["${driver}"]`
  const memory = `device.capacity["${driver}"].memory.compareTo(quantity("40Gi")) > 0`
  await run('by-memory', one(`${attributes}.model == "large" && ${memory}`))
  assert.deepEqual(await devicesOf('by-memory'), ['r b-1 node-2'])
  const version = `${attributes}.api.isGreaterThan(semver("1.1.0"))`
  await run(
    'by-slot',
    one(`device.attributes["example.com"].slot == 2 && ${version} && ${attributes}.model == "small"`),
  )
  assert.deepEqual(await devicesOf('by-slot'), ['r a-2 node-1'])
  for (const name of ['by-memory', 'by-slot']) await remove(name)
})

test('a pod waits until a device is free, and its condition states the reason', async () => {
  const large = `device.attributes["${driver}"].model == "large"`
  await run('first', one(large, { count: 2 }))
  assert.deepEqual(await devicesOf('first'), ['r b-1 node-2', 'r b-2 node-2'])
  await run('second', one(large))
  await untilRefused('second', /^0\/2 nodes are available: 2 cannot allocate all claims/)
  await remove('first')
  assert.deepEqual(await devicesOf('second'), ['r b-1 node-2'])
  await remove('second')
})

test('the scheduler allocates the first available alternative, and constraints apply across the devices of a claim', async () => {
  const huge = `device.capacity["${driver}"].memory.isGreaterThan(quantity("100Gi"))`
  const small = `device.attributes["${driver}"].model == "small"`
  const firstAvailable = [
    { name: 'huge', ...exactly(huge) },
    { name: 'small', ...exactly(small) },
  ]
  await run('either', { requests: [{ name: 'r', firstAvailable }] })
  assert.deepEqual(await devicesOf('either'), ['r/small a-1 node-1'])
  await remove('either')
  const requests = ['x', 'y'].map((name) => ({ name, exactly: { deviceClassName: 'gpu' } }))
  const isSame = [{ requests: ['x', 'y'], matchAttribute: 'example.com/slot' }]
  await run('same', { requests, constraints: isSame })
  await untilRefused('same', /cannot allocate all claims/)
  await remove('same')
})

test('claims with administrative access share devices, and tolerations allow tainted devices', async () => {
  const slot = (n: number) =>
    `device.attributes["example.com"].slot == ${n} && device.attributes["${driver}"].model == "large"`
  await run('user', one(slot(1)))
  await devicesOf('user')
  await run('admin', one(slot(1), { adminAccess: true }), 'admins')
  assert.deepEqual(await devicesOf('admin', 'admins'), ['r b-1 node-2'])
  await run('refused', one(slot(3)))
  await untilRefused('refused', /cannot allocate all claims/)
  await run('tolerant', one(slot(3), { tolerations: [{ key: 'broken', operator: 'Exists' }] }))
  assert.deepEqual(await devicesOf('tolerant'), ['r b-3 node-2'])
  await remove('admin', 'admins')
  for (const name of ['user', 'refused', 'tolerant']) await remove(name)
})

test('a claim from a template is allocated, and missing claims and classes are reported by name', async () => {
  const small = exactly(`device.attributes["${driver}"].model == "small"`, { allocationMode: 'All' })
  const spec = { spec: { devices: { requests: [{ name: 'all', exactly: small }] } } }
  const template = { metadata: { name: 'all', namespace }, spec }
  await client.create(inDomainOf(vendor, kinds.ResourceClaimTemplate), template as never)
  await makePod('templated', { name: 'devices', resourceClaimTemplateName: 'all' })
  assert.deepEqual(await devicesOf('templated'), ['all a-1 node-1', 'all a-2 node-1'])
  await makePod('lost', { name: 'devices', resourceClaimName: 'lost' })
  await untilRefused('lost', /resourceclaim "lost" not found/)
  await run('classless', { requests: [{ name: 'r', exactly: { deviceClassName: 'none' } }] })
  await untilRefused('classless', /request r: device class none does not exist/)
})

/** Publishes the device pool of one node in two slices: one with shared counters, and one with devices. */
async function makePartitions(nodeName: string, sharedCounters: object[], devices: readonly object[]): Promise<void> {
  const pool = { name: nodeName, generation: 1, resourceSliceCount: 2 }
  for (const [i, content] of [{ sharedCounters }, { devices }].entries()) {
    const spec = { driver, pool, nodeName, ...content }
    const metadata = { name: `${nodeName}-part-${i}` }
    await client.create(inDomainOf(vendor, kinds.ResourceSlice), { metadata, spec } as never)
  }
}

const named = (name: string) => `device.attributes["${driver}"].model == "${name}"`

test('devices that share counters are allocated only while the counters suffice', async () => {
  await makeNode('node-4')
  const uses = (memory: string, counter = 'memory') => ({
    consumesCounters: [{ counterSet: 'card', counters: { [counter]: { value: memory } } }],
  })
  await makePartitions(
    'node-4',
    [{ name: 'card', counters: { memory: { value: '40Gi' } } }],
    [
      gpu('whole-1', 'whole', 40, uses('40Gi')),
      gpu('half-1', 'half', 20, uses('20Gi')),
      gpu('half-2', 'half', 20, uses('20Gi')),
      gpu('lost-1', 'lost', 20, uses('1Gi', 'other')),
    ],
  )
  await run('half', one(named('half')))
  assert.deepEqual(await devicesOf('half'), ['r half-1 node-4'])
  await run('whole', one(named('whole')))
  await untilRefused('whole', /cannot allocate all claims/)
  await run('other-half', one(named('half')))
  assert.deepEqual(await devicesOf('other-half'), ['r half-2 node-4'])
  for (const name of ['half', 'other-half']) await remove(name)
  assert.deepEqual(await devicesOf('whole'), ['r whole-1 node-4'])
  await run('lost-counter', one(named('lost')))
  await untilRefused('lost-counter', /cannot allocate all claims/)
  for (const name of ['whole', 'lost-counter']) await remove(name)
  const both = ['whole', 'half'].map((name) => ({ name, exactly: exactly(named(name)) }))
  await run('both', { requests: both })
  await untilRefused('both', /cannot allocate all claims/)
  await remove('both')
})

test('a device that allows multiple allocations is shared until its capacity is consumed', async () => {
  await makeNode('node-5')
  const validRange = { min: '10Gi', max: '60Gi', step: '10Gi' }
  const memory = { value: '80Gi', requestPolicy: { default: '20Gi', validRange } }
  const link = {
    name: 'link-1',
    allowMultipleAllocations: true,
    capacity: { memory },
    attributes: { model: { string: 'link' } },
  }
  await makeSlice('node-5', [link, gpu('solo-1', 'solo', 40)])
  const shares = async (name: string) => {
    await devicesOf(name)
    const { status } = await client.get(claimType, { namespace, name })
    return status?.allocation?.devices?.results?.map(({ device, shareID, consumedCapacity }) => [
      device,
      typeof shareID,
      consumedCapacity?.memory,
    ])
  }
  const asking = (amount: string) => ({ capacity: { requests: { memory: amount } } })
  const isLink = `device.allowMultipleAllocations && ${named('link')}`
  await run('default', one(isLink))
  assert.deepEqual(await shares('default'), [['link-1', 'string', '20Gi']])
  await run('rounded', one(isLink, { ...asking('11Gi'), count: 2 }))
  assert.deepEqual(await shares('rounded'), [
    ['link-1', 'string', '20Gi'],
    ['link-1', 'string', '20Gi'],
  ])
  await run('full', one(isLink, asking('21Gi')))
  await untilRefused('full', /cannot allocate all claims/)
  await run('too-much', one(isLink, asking('61Gi')))
  await untilRefused('too-much', /cannot allocate all claims/)
  await remove('default')
  assert.deepEqual(await shares('full'), [['link-1', 'string', '30Gi']])
  // A device that cannot be shared must have the requested capacity, and is allocated as a whole.
  await run('solo-large', one(named('solo'), asking('41Gi')))
  await untilRefused('solo-large', /cannot allocate all claims/)
  await run('solo', one(named('solo'), asking('1Gi')))
  assert.deepEqual(await shares('solo'), [['solo-1', 'undefined', undefined]])
  for (const name of ['rounded', 'full', 'too-much', 'solo-large', 'solo']) await remove(name)
})

test('a pod is bound only after the binding conditions of its devices are true, and is scheduled again if a condition fails', async () => {
  await makeNode('node-6')
  const conditions = { bindsToNode: true, bindingConditions: ['Attached'], bindingFailureConditions: ['Broken'] }
  await makeSlice('node-6', [gpu('slow-1', 'slow', 1, conditions)])
  await run('attached', one(named('slow')))
  const allocated = () =>
    until(
      () => client.get(claimType, { namespace, name: 'attached' }),
      ({ status }) => status?.allocation !== undefined,
    )
  const report = async (type: string) => {
    const claim = await allocated()
    const condition = {
      type,
      status: 'True',
      reason: 'Test',
      message: 'by the test',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const devices = [{ driver, pool: 'node-6', device: 'slow-1', conditions: [condition] }]
    await client.update(claimType, { ...claim, status: { ...claim.status, devices } } as never, {
      subresource: 'status',
    })
  }
  const first = (await allocated()).status?.allocation
  assert.deepEqual(first?.devices?.results?.[0]?.bindingConditions, ['Attached'])
  assert.equal(first?.nodeSelector?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0], 'node-6')
  assert.equal((await getPod('attached')).spec?.nodeName ?? '', '')
  await report('Broken')
  await untilRefused('attached', /binding devices: device slow-1 of claim "attached": Broken, reason Test: by the test/)
  await until(
    allocated,
    ({ status }) =>
      status?.allocation?.allocationTimestamp !== first?.allocationTimestamp || status?.devices === undefined,
  )
  await report('Attached')
  assert.deepEqual(await devicesOf('attached'), ['r slow-1 node-6'])
  await remove('attached')
})

test('device selectors can use regular expressions of limited size', async () => {
  await run('matching', one(`device.attributes["${driver}"].model.matches("^la?rg.$")`))
  assert.match((await devicesOf('matching'))[0]!, /^r b-[12] node-2$/)
  await remove('matching')
  await run('excessive', one(`device.driver.matches("a{600}b{600}")`))
  await untilRefused(
    'excessive',
    /unsupported device selector: .*the patterns are too large in total: the limit is 1000/,
  )
  await remove('excessive')
})

test('a claim whose allocation takes too long to compute is rejected, and the message contains advice', async () => {
  await makeNode('node-3')
  await makeSlice(
    'node-3',
    Array.from({ length: 30 }, (_, i) => gpu(`c-${i}`, 'tiny', 1)),
  )
  const model = (name: string) => `device.attributes["${driver}"].model == "${name}"`
  // No device satisfies the second request, so the search would have to try every combination of 15 of the 30 devices.
  const requests = [
    { name: 'many', exactly: exactly(model('tiny'), { count: 15 }) },
    { name: 'none', exactly: exactly(model('none')) },
  ]
  await run('expensive', { requests })
  await untilRefused('expensive', /allocating devices takes too long: request fewer devices/)
  await run('cheap', one(model('tiny')))
  assert.deepEqual(await devicesOf('cheap'), ['r c-0 node-3'])
})
