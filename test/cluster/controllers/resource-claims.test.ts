/** Tests the ResourceClaims of pods: they are created from templates, and released when the pods end. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exists } from '../../../src/api/versions/availability.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { controlLoops } from '../../../src/cluster/controllers/all.ts'
import { deaths, openLoopServer } from '../../support/loop-manager.ts'
import { until, untilTrue } from '../../support/until.ts'

const loop = 'resourceclaim-controller'
const namespace = 'default'
const annotation = 'resource.orch.io/pod-claim-name'
const finalizer = 'resource.orch.io/delete-protection'
const flags = ['--disable-admission-plugins=ServiceAccount', '--emulated-version=1.36']
const { client, start, vendor } = await openLoopServer({ after }, flags)
const claimType = inDomainOf(vendor, kinds.ResourceClaim)
const templateType = inDomainOf(vendor, kinds.ResourceClaimTemplate)
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] }
const device = { driver: 'd.example', pool: 'p', device: 'a' }

async function makeTemplate(name: string): Promise<void> {
  const metadata = { labels: { team: 'a' }, annotations: { note: 'b' } }
  await client.create(templateType, { metadata: { name, namespace }, spec: { metadata, spec: { devices } } } as never)
}

async function makePod(name: string, ...resourceClaims: object[]) {
  const spec = { containers: [{ name: 'c', image: 'i' }], resourceClaims, terminationGracePeriodSeconds: 0 }
  return await client.create(kinds.Pod, { metadata: { name, namespace }, spec } as never)
}

const fromTemplate = (name: string, template: string) => ({ name, resourceClaimTemplateName: template })
const podOf = async (name: string) => await client.get(kinds.Pod, { namespace, name })
const claimOf = async (name: string) => await client.get(claimType, { namespace, name })

async function claimsOf(owner: string) {
  const { items } = await client.list(claimType, { namespace })
  return items.filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === owner))
}

/** Waits until the status of the pod names the given number of claims. */
async function recorded(name: string, count = 1): Promise<string[]> {
  const { status } = await until(
    () => podOf(name),
    ({ status }) => status?.resourceClaimStatuses?.length === count,
  )
  return status!.resourceClaimStatuses!.map(({ resourceClaimName }) => resourceClaimName!)
}

async function isGone(name: string): Promise<boolean> {
  try {
    await claimOf(name)
    return false
  } catch (error) {
    if (isNotFound(error)) return true
    throw error
  }
}

async function setPhase(name: string, phase: 'Succeeded' | 'Failed'): Promise<void> {
  const pod = await podOf(name)
  await client.update(kinds.Pod, { ...pod, status: { ...pod.status, phase } }, { subresource: 'status' })
}

async function allocate(name: string, pods: readonly { readonly name: string; readonly uid: string }[]) {
  const claim = await claimOf(name)
  const metadata = { ...claim.metadata, finalizers: [finalizer] }
  const updated = await client.update(claimType, { ...claim, metadata })
  const status = {
    allocation: { devices: { results: [{ request: 'r', ...device }] } },
    reservedFor: pods.map((pod) => ({ resource: 'pods', ...pod })),
  }
  await client.update(claimType, { ...updated, status } as never, { subresource: 'status' })
}

test('a pod gets a ResourceClaim from each claim template, and owns the claim', async () => {
  const manager = start([loop])
  await makeTemplate('shared')
  const { metadata } = await makePod('user', fromTemplate('first', 'shared'), fromTemplate('second', 'shared'), {
    name: 'own',
    resourceClaimName: 'other',
  })
  const names = await recorded('user', 2)
  assert.match(names.join(), /^user-first-[a-z0-9]{5},user-second-[a-z0-9]{5}$/)
  const claim = await claimOf(names[0]!)
  assert.equal(claim.metadata.generateName, 'user-first-')
  assert.deepEqual(claim.metadata.labels, { team: 'a' })
  assert.deepEqual(claim.metadata.annotations, { note: 'b', [annotation]: 'first' })
  assert.deepEqual(claim.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'user', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
  ])
  assert.equal(claim.spec?.devices?.requests?.[0]?.exactly?.deviceClassName, 'gpu')

  await client.delete(claimType, { namespace, name: names[0]! })
  await until(
    () => claimsOf('user'),
    (claims) => claims.length === 2 && claims.every(({ metadata: { uid } }) => uid !== claim.metadata.uid),
  )
  await manager.stop()
})

test('ResourceClaims shorten long names of pods and claims', async () => {
  const manager = start([loop])
  await makeTemplate('long')
  await makePod(`${'p'.repeat(31)}.${'q'.repeat(100)}`, fromTemplate('c'.repeat(63), 'long'))
  const [name = ''] = await recorded(`${'p'.repeat(31)}.${'q'.repeat(100)}`)
  assert.match(name, /^p{31}\.?q*-c+-[a-z0-9]{5}$/)
  assert.ok(name.length <= 63, name)
  await manager.stop()
})

test('a missing ResourceClaimTemplate is reported, and the claim is created once the template exists', async () => {
  const manager = start([loop])
  await makePod('early', fromTemplate('c', 'late'))
  const { items } = await until(
    () => client.list(kinds.Event, { namespace, fieldSelector: 'involvedObject.name=early' }),
    ({ items }) => items.length > 0,
  )
  const [event] = items
  assert.equal(event!.reason, 'FailedResourceClaimCreation')
  assert.equal(event!.message, 'PodResourceClaim c: resource claim template "late" not found')
  await makeTemplate('late')
  assert.equal((await recorded('early')).length, 1)
  await manager.stop()
})

test('an existing ResourceClaim of the pod is used, and a restarted manager creates no second claim', async () => {
  await makeTemplate('again')
  const { metadata } = await makePod('found', fromTemplate('c', 'again'))
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'found', uid: metadata.uid!, controller: true }
  const given = { name: 'given', namespace, ownerReferences: [owner], annotations: { [annotation]: 'c' } }
  await client.create(claimType, { metadata: given, spec: { devices } } as never)
  const manager = start([loop])
  assert.deepEqual(await recorded('found'), ['given'])
  await manager.stop()
  assert.equal((await claimsOf('found')).length, 1)

  for (const [i, death] of deaths(2).entries()) {
    const name = `killed-${i}`
    await makePod(name, fromTemplate('c', 'again'))
    const first = start([loop], { death })
    await first.killed
    await first.stop()
    const second = start([loop])
    const [claim] = await recorded(name)
    await second.stop()
    assert.deepEqual(
      (await claimsOf(name)).map((each) => each.metadata.name),
      [claim],
    )
  }
})

test('pods that end or are deleted no longer reserve ResourceClaims', async () => {
  const manager = start([loop])
  await client.create(claimType, { metadata: { name: 'common', namespace }, spec: { devices } } as never)
  const use = { name: 'c', resourceClaimName: 'common' }
  const pods = []
  for (const name of ['ends', 'goes', 'stays']) {
    const { metadata } = await makePod(name, use)
    pods.push({ name, uid: metadata.uid! })
  }
  await allocate('common', [...pods, { name: 'never', uid: 'none' }])
  const users = async () => ((await claimOf('common')).status?.reservedFor ?? []).map(({ name }) => name).join()
  await until(users, (names) => names === 'ends,goes,stays')
  await setPhase('ends', 'Failed')
  await until(users, (names) => names === 'goes,stays')
  await client.delete(kinds.Pod, { namespace, name: 'goes' })
  await until(users, (names) => names === 'stays')
  assert.ok((await claimOf('common')).status?.allocation)
  await client.delete(claimType, { namespace, name: 'common' })
  await setPhase('stays', 'Succeeded')
  await untilTrue(() => isGone('common'))
  await manager.stop()
})

test('a generated ResourceClaim is deleted when its pod ends, but not earlier', async () => {
  const manager = start([loop])
  await makeTemplate('brief')
  const { metadata } = await makePod('brief', fromTemplate('c', 'brief'))
  const [name = ''] = await recorded('brief')
  await allocate(name, [{ name: 'brief', uid: metadata.uid! }])
  await makePod('other', fromTemplate('c', 'brief'))
  await recorded('other')
  assert.equal(await isGone(name), false)
  await setPhase('brief', 'Succeeded')
  await untilTrue(() => isGone(name))
  assert.equal((await claimsOf('other')).length, 1)
  await manager.stop()
})

test('the ResourceClaim control loop runs in Kubernetes 1.34 and later', () => {
  const entry = controlLoops.find(({ name }) => name === loop)!
  assert.deepEqual(
    (['1.33', '1.34', '1.36'] as const).map((version) => exists(entry, version)),
    [false, true, true],
  )
})
