/** Tests that pods/binding and bindings assign a pod to a node only once and change nothing else. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after })).client()
await giveAccount(client)
const namespace = '/api/v1/namespaces/default'
const pods = `${namespace}/pods`
const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

async function make(name: string): Promise<JsonObject> {
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  return (await client.post(pods, { metadata: { name, labels: { a: 'b' }, annotations: { old: '1' } }, spec })).body
}

const bindingOf = (name: string, node: string, metadata: JsonObject = {}) => ({
  metadata: { name, ...metadata },
  target: { kind: 'Node', name: node },
})

const bind = (name: string, node: string, metadata: JsonObject = {}, query = '') =>
  client.post(`${pods}/${name}/binding${query}`, bindingOf(name, node, metadata))

test('binding a pod sets its node, the annotations from the Binding and the PodScheduled condition', async () => {
  const made = await make('a')
  assert.equal((await bind('a', 'n1', {}, '?dryRun=All')).status, 201)
  assert.equal((await client.get(`${pods}/a`)).body.spec.nodeName, undefined)
  const answer = await bind('a', 'n1', { annotations: { k: 'v' }, labels: { l: 'm' } })
  assert.deepEqual([answer.status, answer.body], [201, success])
  const { body } = await client.get(`${pods}/a`)
  assert.deepEqual(body.spec, { ...(made.spec as JsonObject), nodeName: 'n1' })
  assert.deepEqual([body.metadata.labels, body.metadata.annotations], [{ a: 'b' }, { old: '1', k: 'v' }])
  const { lastTransitionTime: _, ...condition } = body.status.conditions[0]
  assert.deepEqual(condition, { type: 'PodScheduled', status: 'True', lastProbeTime: null })
  assert.deepEqual(body.metadata.managedFields, (made.metadata as JsonObject).managedFields)
})

test('a pod can be bound only once', async () => {
  await make('b')
  const answers = await Promise.all(['n1', 'n2', 'n3'].map((node) => bind('b', node)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409])
  const again = await bind('b', 'n4')
  assert.deepEqual(again.body.details, { name: 'b', kind: 'pods/binding' })
  assert.match(again.body.message, /pod b is already assigned to node "n[123]"/)
})

test('the uid and resourceVersion of a Binding are preconditions', async () => {
  const made = await make('c')
  const { uid, resourceVersion } = made.metadata as { uid: string; resourceVersion: string }
  assert.equal((await bind('c', 'n1', { uid: 'other' })).status, 409)
  assert.equal((await bind('c', 'n1', { resourceVersion: '1' })).status, 409)
  assert.equal((await client.get(`${pods}/c`)).body.spec.nodeName, undefined)
  assert.equal((await bind('c', 'n1', { uid, resourceVersion })).status, 201)
})

test('an invalid Binding is rejected and binds nothing', async () => {
  await make('d')
  const post = (body: JsonObject) => client.post(`${pods}/d/binding`, body)
  assert.deepEqual((await post({ metadata: { name: 'd' } })).body.details.causes[0].field, 'target.name')
  assert.equal((await post({ ...bindingOf('d', 'n1'), target: { kind: 'Pod', name: 'n1' } })).status, 422)
  assert.equal((await post(bindingOf('d', 'Not A Name'))).status, 422)
  assert.equal((await post(bindingOf('other', 'n1'))).status, 400)
  assert.equal((await post({ ...bindingOf('d', 'n1'), kind: 'Pod' })).status, 400)
  assert.equal((await post(bindingOf('d', 'n1', { namespace: 'other' }))).status, 400)
  assert.equal((await bind('nobody', 'n1')).status, 404)
  assert.equal((await client.get(`${pods}/d`)).body.spec.nodeName, undefined)
})

test('binding a terminating pod is rejected', async () => {
  await make('e')
  const headers = { 'content-type': 'application/merge-patch+json' }
  await client.send(`${pods}/e`, { method: 'PATCH', body: { metadata: { finalizers: ['example.com/x'] } }, headers })
  await client.delete(`${pods}/e`)
  assert.match((await bind('e', 'n1')).body.message, /is being deleted/)
})

test('the bindings resource behaves like the pods/binding subresource', async () => {
  await make('f')
  assert.deepEqual((await client.post(`${namespace}/bindings`, bindingOf('f', 'n1'))).body, success)
  assert.equal((await client.get(`${pods}/f`)).body.spec.nodeName, 'n1')
  assert.equal((await client.post(`${namespace}/bindings`, bindingOf('', 'n1'))).status, 400)
  assert.equal((await client.post(`${namespace}/bindings`, bindingOf('zz', 'n1'))).status, 404)
  assert.equal((await client.get(`${namespace}/bindings`)).status, 405)
})
