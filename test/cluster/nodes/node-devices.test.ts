/** Tests simulated devices: nodes publish the devices in a file, and the scheduler allocates them to pods. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { openLog } from '../../../src/base/telemetry/log.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { publishDevices, readDevices } from '../../../src/cluster/nodes/devices/node-devices.ts'
import { startServerWithLoops } from '../../../src/server/cluster/server-with-loops.ts'
import { readServerFlags } from '../../../src/server/flags/command-line.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { serveUp } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const owner = endOfFile()
const directory = mkdtempSync(join(tmpdir(), 'orch-devices-'))
after(() => rmSync(directory, { recursive: true }))

const file = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: gpus}
spec:
  driver: gpu.example.com
  devices:
  - name: gpu-0
    attributes: {model: {string: a}}
    capacity: {memory: {value: 40Gi}}
  - name: gpu-1
    attributes: {model: {string: b}}
`

test('nodes publish the devices listed in a file, and pods can use the devices', async () => {
  const path = join(directory, 'devices.yaml')
  writeFileSync(path, file)
  const loops = '--controllers=*,scheduler'
  const flags = ['--profile=kubernetes', '--emulated-version=1.36', '--nodes=2', `--node-devices=${path}`, loops]
  const server = await serveUp(owner, flags)
  const client = new Client(server.transport())
  const vendor = vendorOf('kubernetes')
  const sliceType = inDomainOf(vendor, kinds.ResourceSlice)
  const { items } = await until(
    () => client.list(sliceType),
    (list) => list.items.length === 2,
  )
  assert.deepEqual(
    items.map(({ metadata, spec }) => [metadata.name, spec?.nodeName, spec?.pool?.name, spec?.devices?.length]),
    ['node-1', 'node-2'].map((node) => [`${node}-gpu.example.com`, node, node, 2]),
  )
  assert.equal(items[0]!.metadata.ownerReferences?.[0]?.kind, 'Node')

  const namespace = 'default'
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  const expression = 'device.attributes["gpu.example.com"].model == "b"'
  const gpu = { metadata: { name: 'gpu' }, spec: { selectors: [{ cel: { expression } }] } }
  await client.create(inDomainOf(vendor, kinds.DeviceClass), gpu as never)
  const requests = [{ name: 'r', exactly: { deviceClassName: 'gpu' } }]
  const metadata = { name: 'p', namespace }
  await client.create(inDomainOf(vendor, kinds.ResourceClaim), { metadata, spec: { devices: { requests } } } as never)
  const resourceClaims = [{ name: 'gpu', resourceClaimName: 'p' }]
  await client.create(kinds.Pod, {
    metadata,
    spec: { containers: [{ name: 'c', image: 'i' }], resourceClaims },
  } as never)
  await until(
    () => client.get(kinds.Pod, metadata),
    ({ status }) => status?.phase === 'Running',
  )

  const node = await client.get(kinds.Node, { name: 'node-1' })
  const changed = readDevices(file.replace('40Gi', '80Gi'))
  await publishDevices({ client, vendor, node }, changed, new AbortController().signal)
  const { spec } = await client.get(sliceType, { name: 'node-1-gpu.example.com' })
  assert.deepEqual([spec?.pool?.generation, spec?.devices?.[0]?.capacity?.memory?.value], [2, '80Gi'])
})

const partitioned = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: gpus}
spec:
  driver: gpu.example.com
  sharedCounters:
  - name: gpu-0
    counters: {memory: {value: 40Gi}}
  devices:
  - name: whole
    consumesCounters:
    - {counterSet: gpu-0, counters: {memory: {value: 40Gi}}}
  - name: half-0
    consumesCounters: [{counterSet: gpu-0, counters: {memory: {value: 20Gi}}}]
  - name: half-1
    consumesCounters: [{counterSet: gpu-0, counters: {memory: {value: 20Gi}}}]
  - name: shared
    allowMultipleAllocations: true
    capacity: {bandwidth: {value: 10G, requestPolicy: {default: 1G}}}
`

test('the devices in a file can be partitioned and shared, and nodes publish their counters in a separate slice', async () => {
  const path = join(directory, 'partitioned.yaml')
  writeFileSync(path, partitioned)
  const flags = ['--profile=kubernetes', '--emulated-version=1.36', '--nodes=1', `--node-devices=${path}`]
  const server = await serveUp(owner, [...flags, '--controllers=*,scheduler'])
  const client = new Client(server.transport())
  const vendor = vendorOf('kubernetes')
  const sliceType = inDomainOf(vendor, kinds.ResourceSlice)
  const { items } = await until(
    () => client.list(sliceType),
    (list) => list.items.length === 2,
  )
  assert.deepEqual(
    items.map(({ spec }) => [spec?.devices?.length ?? 0, spec?.sharedCounters?.length ?? 0, spec?.pool]).sort(),
    [
      [0, 1],
      [4, 0],
    ].map((counts) => [...counts, { name: 'node-1', generation: 1, resourceSliceCount: 2 }]),
  )
  const namespace = 'default'
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  const selectors = [{ cel: { expression: 'device.driver.matches("^gpu[.]")' } }]
  const gpu = { metadata: { name: 'gpu' }, spec: { selectors } }
  await client.create(inDomainOf(vendor, kinds.DeviceClass), gpu as never)
  const requests = [
    {
      name: 'halves',
      exactly: {
        deviceClassName: 'gpu',
        count: 2,
        selectors: [{ cel: { expression: '!device.allowMultipleAllocations' } }],
      },
    },
    { name: 'link', exactly: { deviceClassName: 'gpu', capacity: { requests: { bandwidth: '4G' } } } },
  ]
  const metadata = { name: 'p', namespace }
  const claimType = inDomainOf(vendor, kinds.ResourceClaim)
  await client.create(claimType, { metadata, spec: { devices: { requests } } } as never)
  const resourceClaims = [{ name: 'gpu', resourceClaimName: 'p' }]
  const spec = { containers: [{ name: 'c', image: 'i' }], resourceClaims }
  await client.create(kinds.Pod, { metadata, spec } as never)
  await until(
    () => client.get(kinds.Pod, metadata),
    ({ status }) => status?.phase === 'Running',
  )
  const { status } = await client.get(claimType, metadata)
  assert.deepEqual(
    status?.allocation?.devices?.results?.map(({ request, device, consumedCapacity }) => [
      request,
      device,
      consumedCapacity,
    ]),
    [
      ['halves', 'half-0', undefined],
      ['halves', 'half-1', undefined],
      ['link', 'shared', { bandwidth: '4G' }],
    ],
  )

  const node = await client.get(kinds.Node, { name: 'node-1' })
  const changed = readDevices(partitioned.replaceAll('40Gi', '80Gi'))
  const { signal } = new AbortController()
  for (let i = 0; i < 2; i++) await publishDevices({ client, vendor, node }, changed, signal)
  const generations = (await client.list(sliceType)).items.map((each) => Number(each.spec?.pool?.generation))
  assert.deepEqual(generations, [2, 2])
})

test('a device file with unsupported kinds or fields is rejected', () => {
  assert.throws(() => readDevices('kind: Pod'), /contains a Pod instead of a ResourceSlice/)
  assert.throws(() => readDevices('a: b'), /contains a document without a kind instead of a ResourceSlice/)
  assert.throws(() => readDevices('kind: ResourceSlice'), /spec is required/)
  assert.throws(
    () => readDevices('kind: ResourceSlice\nspec: {driver: d, nodeName: n}'),
    /spec.nodeName is not supported/,
  )
  assert.throws(() => readDevices('kind: ResourceSlice\nspec: {driver: d}'), /spec.devices is required/)
  assert.throws(
    () => readDevices('kind: ResourceSlice\nspec: {driver: d, devices: [{}], sharedCounters: 1}'),
    /spec.sharedCounters must be a list/,
  )
  assert.throws(() => readDevices(`${file}---${file}`), /only one ResourceSlice/)
})

test('a server that emulates Kubernetes 1.33 rejects --node-devices', async () => {
  const path = join(directory, 'early.yaml')
  writeFileSync(path, file)
  const own = ['--secure-port=0', `--data-dir=${directory}/data`, '--admin-kubeconfig=', '--emulated-version=1.33']
  const line = await readServerFlags('up', [...own, `--node-devices=${path}`])
  const log = openLog({ write: () => {} })
  await assert.rejects(startServerWithLoops(line, { log, store: new MemoryStore() }), {
    name: 'UsageError',
    message: /--node-devices requires Kubernetes 1.34 or later, but the server emulates 1.33: set --emulated-version/,
  })
})

test('a server without the feature gate DRAPartitionableDevices rejects shared counters in --node-devices', async () => {
  const path = join(directory, 'counters.yaml')
  writeFileSync(path, partitioned)
  const own = ['--secure-port=0', `--data-dir=${directory}/data`, '--admin-kubeconfig=', '--emulated-version=1.35']
  const line = await readServerFlags('up', [...own, `--node-devices=${path}`])
  const log = openLog({ write: () => {} })
  await assert.rejects(startServerWithLoops(line, { log, store: new MemoryStore() }), {
    name: 'UsageError',
    message: /spec.sharedCounters requires the feature gate DRAPartitionableDevices, which is off in Kubernetes 1.35/,
  })
})
