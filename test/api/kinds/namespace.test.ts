/** Tests Namespace: phase, finalizers and deletion. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after })).client()
const namespaces = '/api/v1/namespaces'

test('an empty phase of a namespace defaults to Active', async () => {
  await client.post(namespaces, { metadata: { name: 'a' } })
  for (const status of [{}, null, undefined, { phase: '' }]) {
    const { status: code, body } = await client.put(`${namespaces}/a/status`, { metadata: { name: 'a' }, status })
    assert.deepEqual([code, body.status], [200, { phase: 'Active' }], JSON.stringify(status))
  }
  const wrong = { metadata: { name: 'a' }, status: { phase: 'Gone' } }
  assert.equal((await client.put(`${namespaces}/a/status`, wrong)).status, 422)
  await client.delete(`${namespaces}/a`)
  assert.equal((await client.put(`${namespaces}/a/status`, { metadata: { name: 'a' } })).status, 422)
})

test('only a status update validates the phase of a namespace', async () => {
  const object = { metadata: { name: 'told', deletionTimestamp: '2030-01-01T00:00:00Z' } }
  await client.post(namespaces, { metadata: { name: 'told' } })
  for (const [path, ...fields] of [
    ['told', 'metadata.deletionTimestamp'],
    ['told/status', 'metadata.deletionTimestamp', 'status.Phase'],
  ] as const) {
    const { body } = await client.put(`${namespaces}/${path}`, object)
    assert.deepEqual(body.details.causes.map(({ field }: { field: string }) => field).sort(), fields, path)
  }
})

test('a namespace finalizer needs a domain unless it is a standard finalizer', async () => {
  const cases: readonly (readonly [finalizer: string | null, ...fields: string[]])[] = [
    ['orch'],
    ['orphan'],
    ['foregroundDeletion'],
    ['example.com/mine'],
    ['kubernetes', '[0]'],
    ['a/b/c', ''],
    ['', '', '', '[0]'],
    [null, '', '', '[0]'],
    ['a b', '', '[0]'],
  ]
  for (const [i, [finalizer, ...fields]] of cases.entries()) {
    const ofObject = { metadata: { name: `m${i}`, finalizers: [finalizer] } }
    const told = fields.map((field) => `metadata.finalizers${field}`)
    assert.deepEqual(await faultsOf(ofObject), told, `${finalizer}`)
    const ofContent = { metadata: { name: `s${i}` }, spec: { finalizers: [finalizer] } }
    assert.deepEqual(
      await faultsOf(ofContent),
      told.map(() => 'spec.finalizers'),
      `${finalizer}`,
    )
  }
})

async function faultsOf(object: object): Promise<string[]> {
  const { status, body } = await client.post(namespaces, object)
  if (status === 201) return []
  assert.equal(status, 422)
  return body.details.causes.map(({ field }: { field: string }) => field).sort()
}

test('the error for a create in a terminating namespace contains the requested name or generateName', async () => {
  await client.post('/api/v1/namespaces', { metadata: { name: 'going' } })
  await client.delete('/api/v1/namespaces/going')
  const path = '/api/v1/namespaces/going/configmaps'
  for (const [metadata, name] of [
    [{ generateName: 'g-' }, 'g-'],
    [{ name: 'n' }, 'n'],
    [{ name: 'n', generateName: 'g-' }, 'n'],
  ] as const) {
    const { status, body } = await client.post(path, { metadata })
    assert.deepEqual([status, body.details.name, body.details.causes[0].reason], [403, name, 'NamespaceTerminating'])
    assert.match(body.message, new RegExp(`^configmaps "${name}" is forbidden: unable to create`))
  }
})

test('the first deletion marks an empty namespace as terminating, and the next update or deletion removes the namespace', async () => {
  for (const [name, end] of [
    ['twice', () => client.delete(`${namespaces}/twice`)],
    ['again', () => client.put(`${namespaces}/again/finalize`, { metadata: { name: 'again' }, spec: {} })],
  ] as const) {
    await client.post(namespaces, { metadata: { name } })
    await client.put(`${namespaces}/${name}/finalize`, { metadata: { name }, spec: {} })
    const marked = await client.delete(`${namespaces}/${name}`)
    assert.deepEqual([marked.body.kind, marked.body.status.phase], ['Namespace', 'Terminating'])
    assert.equal((await end()).status, 200)
    assert.equal((await client.get(`${namespaces}/${name}`)).status, 404)
  }
})

test('a PUT without generateName removes the stored generateName of a namespace, even through a subresource', async () => {
  const { body } = await client.post(namespaces, { metadata: { generateName: 'drawn-' } })
  const { name } = body.metadata
  assert.equal(body.metadata.generateName, 'drawn-')
  const finalized = await client.put(`${namespaces}/${name}/finalize`, { metadata: { name }, spec: body.spec })
  assert.equal(finalized.body.metadata.generateName, undefined)
})

test('the first deletion of a namespace sets no grace period, and a later deletion sets the grace period to 0', async () => {
  const metadata = { name: 'held', finalizers: ['example.com/held'] }
  await client.post(namespaces, { metadata })
  await client.put(`${namespaces}/held/finalize`, { metadata, spec: { finalizers: [] } })
  const first = await client.delete(`${namespaces}/held`)
  assert.equal(first.body.metadata.deletionGracePeriodSeconds, undefined)
  const second = await client.delete(`${namespaces}/held?propagationPolicy=Foreground`)
  assert.equal(second.body.metadata.deletionGracePeriodSeconds, 0)
})
