/** Tests StorageVersionMigrations: their validation, and the loop that rewrites objects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const loop = 'storage-version-migrator-controller'
const flags = [
  '--emulated-version=1.36',
  '--runtime-config=storagemigration.orch.io/v1beta1=true',
  '--feature-gates=StorageVersionMigrator=true',
]

test('a storage version migration rewrites every object once, with the same content', async (t) => {
  const { client, vendor, start } = await openLoopServer(t, flags)
  const migrations = inDomainOf(vendor, kinds.StorageVersionMigration)
  const migrate = async (name: string, group: string, resource: string) => {
    await client.create(migrations, { metadata: { name }, spec: { resource: { group, resource } } })
    const { status } = await until(
      () => client.get(migrations, { name }),
      ({ status }) => status?.conditions?.some((each) => each.type !== 'Running' && each.status === 'True') === true,
    )
    return status!
  }
  const read = async () => (await client.list(kinds.ConfigMap, { namespace: 'default' })).items
  for (const i of Array.from({ length: 30 }).keys())
    await client.create(kinds.ConfigMap, {
      metadata: { name: `c${i}`, namespace: 'default' },
      data: { k: String(i) },
    })
  const before = await read()
  start([loop])

  const { conditions, resourceVersion } = await migrate('maps', '', 'configmaps')
  assert.deepEqual(
    conditions!.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Running', 'False', 'StorageVersionMigrationSucceeded'],
      ['Succeeded', 'True', 'StorageVersionMigrationSucceeded'],
    ],
  )
  const after = await read()
  for (const [i, { metadata }] of after.entries()) {
    assert.ok(BigInt(metadata.resourceVersion!) > BigInt(resourceVersion!))
    assert.deepEqual({ ...metadata, resourceVersion: '' }, { ...before[i]!.metadata, resourceVersion: '' })
  }
  assert.deepEqual(
    after.map(({ data }) => data),
    before.map(({ data }) => data),
  )

  const missing = await migrate('missing', 'example.com', 'nothings')
  assert.deepEqual(
    missing.conditions!.map(({ type, status, message }) => [type, status, message]),
    [['Failed', 'True', 'the server does not serve the resource']],
  )
})

test('the next manager continues an interrupted storage version migration', async (t) => {
  const { client, vendor, start } = await openLoopServer(t, flags)
  const migrations = inDomainOf(vendor, kinds.StorageVersionMigration)
  const create = async (name: string) =>
    await client.create(kinds.ConfigMap, { metadata: { name, namespace: 'default' }, data: {} })
  const old = await create('old')
  await client.create(migrations, {
    metadata: { name: 'm' },
    spec: { resource: { group: '', resource: 'configmaps' } },
  })
  const migration = await client.get(migrations, { name: 'm' })
  const status = { resourceVersion: old.metadata.resourceVersion!, conditions: [] }
  await client.update(migrations, { ...migration, status }, { subresource: 'status' })
  const later = await create('later')
  start([loop])
  await until(
    () => client.get(migrations, { name: 'm' }),
    ({ status }) => status?.conditions?.some(({ type }) => type === 'Succeeded') === true,
  )
  const versionOf = async (name: string) =>
    (await client.get(kinds.ConfigMap, { name, namespace: 'default' })).metadata.resourceVersion
  assert.notEqual(await versionOf('old'), old.metadata.resourceVersion)
  assert.equal(await versionOf('later'), later.metadata.resourceVersion)
})

test('migrations are validated in the same way as in Kubernetes', async (t) => {
  const { client, vendor } = await openLoopServer(t, flags)
  const migrations = inDomainOf(vendor, kinds.StorageVersionMigration)
  const causesOf = async (write: Promise<unknown>) => {
    const error = await write.then(
      () => undefined,
      (thrown: { status?: { details?: { causes?: { field: string }[] } } }) => thrown,
    )
    return (error?.status?.details?.causes ?? []).map(({ field }) => field)
  }
  const spec = (resource: string, group = '') => ({ resource: { group, resource } })
  const invalid: readonly (readonly [ReturnType<typeof spec>, string[]])[] = [
    [spec(''), ['spec.resource.resource']],
    [spec('9pods'), ['spec.resource.resource']],
    [spec('pods', 'A_b'), ['spec.resource.group']],
  ]
  for (const [bad, fields] of invalid)
    assert.deepEqual(await causesOf(client.create(migrations, { metadata: { name: 'bad' }, spec: bad })), fields)

  const created = await client.create(migrations, { metadata: { name: 'm' }, spec: spec('pods') })
  assert.deepEqual(await causesOf(client.update(migrations, { ...created, spec: spec('secrets') })), ['spec'])
  const time = '2030-01-01T00:00:00Z'
  const condition = (type: string, status = 'True') => ({
    ...{ type, status, reason: 'R', message: '', lastTransitionTime: time },
  })
  const patch = (status: object) =>
    client.patch(migrations, { name: 'm' }, { patch: { merge: { status } }, subresource: 'status' })
  assert.deepEqual(await causesOf(patch({ resourceVersion: 'x' })), ['status.resourceVersion'])
  await patch({ resourceVersion: '7' })
  assert.deepEqual(await causesOf(patch({ resourceVersion: '8' })), ['status.resourceVersion'])
  for (const pair of [
    ['Succeeded', 'Failed'],
    ['Succeeded', 'Running'],
    ['Failed', 'Running'],
  ])
    assert.deepEqual(await causesOf(patch({ conditions: pair.map((type) => condition(type)) })), ['status.conditions'])
  await patch({ conditions: [condition('Succeeded')] })
  assert.deepEqual(await causesOf(patch({ conditions: [condition('Succeeded', 'False')] })), ['status.conditions'])
})
