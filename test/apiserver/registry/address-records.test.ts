/**
 * Tests that, since Kubernetes 1.33, the addresses of Services come from ServiceCIDRs, and that each address has an
 * IPAddress object while it is in use.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { startTestServer } from '../../../src/testing/testing.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

const at136 = '--emulated-version=1.36'
const server = await serve({ after }, [at136, '--service-cluster-ip-range=10.0.0.0/29,fd00::/112'])
const client = server.client()
const services = '/api/v1/namespaces/default/services'
const ipAddresses = '/apis/networking.orch.io/v1/ipaddresses'
const cidrs = '/apis/networking.orch.io/v1/servicecidrs'
const merge = { 'content-type': 'application/merge-patch+json' }

const service = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
})
const cidr = (name: string, ...ranges: string[]) => ({
  apiVersion: 'networking.orch.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name },
  spec: { cidrs: ranges },
})
const address = (name: string) => ({
  apiVersion: 'networking.orch.io/v1',
  kind: 'IPAddress',
  metadata: { name },
  spec: { parentRef: { group: 'example.com', resource: 'gateways', name: 'g' } },
})

async function make(path: string, body: object, wanted = 201) {
  const { status, body: made, text } = await client.send(path, { method: 'POST', body })
  assert.equal(status, wanted, text)
  return made
}

async function remove(path: string): Promise<void> {
  const { status, text } = await client.send(path, { method: 'DELETE' })
  assert.equal(status, 200, text)
}

async function namesAt(on: HttpClient, path: string): Promise<string[]> {
  const { body } = await on.get(path)
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort()
}

const addresses = () => namesAt(client, ipAddresses)

test('the server creates a ready default ServiceCIDR, and an IPAddress for its own Service', async () => {
  const { body } = await client.get(`${cidrs}/orch`)
  assert.deepEqual(body.spec.cidrs, ['10.0.0.0/29', 'fd00::/112'])
  assert.deepEqual([body.status.conditions[0].type, body.status.conditions[0].status], ['Ready', 'True'])
  assert.deepEqual(await addresses(), ['10.0.0.1'])
})

test('an IPAddress is created and deleted together with the address of a Service', async () => {
  const made = await make(services, service('a', { clusterIP: '10.0.0.3', ipFamilyPolicy: 'PreferDualStack' }))
  const [first, second] = made.spec.clusterIPs
  assert.equal(first, '10.0.0.3')
  assert.deepEqual(await addresses(), ['10.0.0.1', first, second])
  const { body } = await client.get(`${ipAddresses}/${first}`)
  assert.deepEqual(body.metadata.labels, {
    'ipaddress.orch.io/ip-family': 'IPv4',
    'ipaddress.orch.io/managed-by': 'ipallocator.orch.io',
  })
  assert.deepEqual(body.spec.parentRef, { resource: 'services', namespace: 'default', name: 'a' })
  assert.ok(body.metadata.uid && body.metadata.creationTimestamp && body.metadata.managedFields[0].fieldsV1['f:spec'])
  await make(services, service('taken', { clusterIP: first }), 422)
  const patch = { spec: { ipFamilyPolicy: 'SingleStack' } }
  await client.send(`${services}/a`, { method: 'PATCH', headers: merge, body: patch })
  assert.deepEqual(await addresses(), ['10.0.0.1', first])
  await client.send(`${services}/a`, { method: 'PATCH', headers: merge, body: { metadata: { labels: { a: 'b' } } } })
  assert.deepEqual(await addresses(), ['10.0.0.1', first])
  await remove(`${services}/a?dryRun=All`)
  assert.deepEqual(await addresses(), ['10.0.0.1', first])
  await remove(`${services}/a`)
  assert.deepEqual(await addresses(), ['10.0.0.1'])
})

test('dry runs, rejected Services and headless Services create no IPAddress', async () => {
  await make(`${services}?dryRun=All`, service('dry'))
  await make(services, service('wrong', { ports: [{ port: 0 }] }), 422)
  await make(services, service('outside', { clusterIP: '10.9.0.1' }), 422)
  await make(services, service('headless', { clusterIP: 'None' }))
  assert.deepEqual(await addresses(), ['10.0.0.1'])
})

test('a watch of IPAddresses reports the changes that Services cause', async () => {
  const { body } = await client.get(ipAddresses)
  await make(services, service('w', { clusterIP: '10.0.0.2' }))
  await remove(`${services}/w`)
  const since = `watch=true&timeoutSeconds=1&resourceVersion=${body.metadata.resourceVersion}`
  const { text } = await client.get(`${ipAddresses}?${since}`)
  const events = text
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line))
  assert.deepEqual(
    events.map(({ type, object }: { type: string; object: { metadata: { name: string } } }) => [
      type,
      object.metadata.name,
    ]),
    [
      ['ADDED', '10.0.0.2'],
      ['DELETED', '10.0.0.2'],
    ],
  )
})

test('no Service gets an address whose IPAddress belongs to another object', async () => {
  await make(ipAddresses, address('10.0.0.2'))
  const body = await make(services, service('refused', { clusterIP: '10.0.0.2' }), 422)
  assert.match(body.message, /already allocated/)
  const free = await Promise.all(['b', 'c', 'd', 'e'].map((name) => make(services, service(name))))
  assert.deepEqual(free.map(({ spec }) => spec.clusterIP).sort(), ['10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'])
  await make(services, service('full'), 422)
})

test('an additional ServiceCIDR adds its addresses to the pool as long as it is ready', async () => {
  await make(cidrs, cidr('more', '10.1.0.0/29'))
  const { spec } = await make(services, service('f'))
  assert.match(spec.clusterIP, /^10\.1\.0\.[1-6]$/)
  const status = (value: string) => ({
    status: {
      conditions: [
        { type: 'Ready', status: value, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  })
  await client.send(`${cidrs}/more/status`, { method: 'PATCH', headers: merge, body: status('False') })
  await make(services, service('g'), 422)
  await client.send(`${cidrs}/more/status`, { method: 'PATCH', headers: merge, body: status('True') })
  await make(services, service('g', { clusterIP: spec.clusterIP === '10.1.0.6' ? '10.1.0.5' : '10.1.0.6' }))
  await make(cidrs, cidr('tiny', '10.2.0.0/32'))
  await make(services, service('h', { clusterIP: '10.2.0.0' }), 422)
})

test('a restart creates missing IPAddresses and deletes IPAddresses that belong to no Service', async () => {
  await remove(`${ipAddresses}/10.0.0.3`)
  const labels = { 'ipaddress.orch.io/managed-by': 'ipallocator.orch.io' }
  const parentRef = { resource: 'services', namespace: 'default', name: 'never' }
  await make(ipAddresses, { ...address('10.0.9.9'), metadata: { name: '10.0.9.9', labels }, spec: { parentRef } })
  await server.restart()
  for (let i = 0; i < 100 && !(await namesAt(server.client(), ipAddresses)).includes('10.0.0.3'); i++)
    await new Promise((resolve) => setTimeout(resolve, 20))
  const found = await namesAt(server.client(), ipAddresses)
  assert.ok(found.includes('10.0.0.3') && found.includes('10.0.0.2') && !found.includes('10.0.9.9'), found.join(' '))
  assert.match(server.output(), /deleted IPAddresses that do not belong to a Service/)
})

test('before Kubernetes 1.33 and without the feature gate, Services have no IPAddresses', async () => {
  for (const flags of [
    ['--emulated-version=1.32', '--runtime-config=networking.orch.io/v1beta1=true'],
    ['--emulated-version=1.33', '--feature-gates=MultiCIDRServiceAllocator=false'],
  ]) {
    const other = (await serve({ after }, flags)).client()
    const version = flags[0]!.endsWith('32') ? 'v1beta1' : 'v1'
    assert.deepEqual(await namesAt(other, `/apis/networking.orch.io/${version}/ipaddresses`), [])
    assert.deepEqual(await namesAt(other, `/apis/networking.orch.io/${version}/servicecidrs`), [])
  }
})

test('a ServiceCIDR with addresses in use is not deleted until the addresses are released', async () => {
  await using up = await startTestServer({ controlLoops: ['service-cidr-controller'] })
  const vendor = vendorOf('kubernetes')
  const [rangeType, addressType] = [inDomainOf(vendor, kinds.ServiceCIDR), inDomainOf(vendor, kinds.IPAddress)]
  const name = { name: 'extra' }
  await up.client.create(rangeType, { metadata: name, spec: { cidrs: ['10.8.0.0/24'] } } as never)
  await up.settled()
  const ready = await up.client.get(rangeType, name)
  assert.deepEqual(ready.metadata.finalizers, ['networking.k8s.io/service-cidr-finalizer'])
  assert.deepEqual(
    ready.status?.conditions?.map(({ type, status }) => [type, status]),
    [['Ready', 'True']],
  )
  const web = { namespace: 'default', name: 'web' }
  const spec = { clusterIP: '10.8.0.9', ports: [{ port: 80 }] }
  await up.client.create(kinds.Service, { metadata: web, spec } as never)
  await up.client.delete(rangeType, name)
  await up.settled()
  up.clock.advance('1m')
  await up.settled()
  const going = await up.client.get(rangeType, name)
  assert.deepEqual(
    going.status?.conditions?.map(({ status, reason }) => [status, reason]),
    [['False', 'Terminating']],
  )
  await up.client.delete(kinds.Service, web)
  await assert.rejects(up.client.get(addressType, { name: '10.8.0.9' }), isNotFound)
  up.clock.advance('1m')
  await up.settled()
  await assert.rejects(up.client.get(rangeType, name), isNotFound)
})
