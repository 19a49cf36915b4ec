/** Tests ServiceAccount: stored secret names, strategic merge of its lists, and table columns. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serviceAccount } from '../../../src/api/kinds/core/service-account.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { createBy, updateBy } from './rules.ts'

const client = (await serve({ after })).client()
const path = '/api/v1/namespaces/default/serviceaccounts'

test('a ServiceAccount stores only the name of each Secret reference', () => {
  const sent = { metadata: { name: 'a' }, secrets: [{ name: 's', namespace: 'n', kind: 'Secret' }, { uid: 'u' }] }
  const { object, faults } = createBy(serviceAccount, sent)
  assert.deepEqual([asJson(object).secrets, faults], [[{ name: 's' }, {}], []])
  const next = updateBy(serviceAccount, object, { ...sent, secrets: [{ name: 't', kind: 'Secret' }] })
  assert.deepEqual(asJson(next.object).secrets, [{ name: 't' }])
  assert.equal(asJson(createBy(serviceAccount, { metadata: { name: 'a' } }).object).secrets, undefined)
})

test('a ServiceAccount can be created, patched, listed and deleted', async () => {
  const sent = { metadata: { name: 'a' }, secrets: [{ name: 'x' }, { name: 'y' }], imagePullSecrets: [{ name: 'p' }] }
  const created = await client.post(path, { ...sent, automountServiceAccountToken: false })
  assert.deepEqual([created.status, created.body.automountServiceAccountToken], [201, false])

  const patch = { secrets: [{ name: 'z' }, { name: 'x', $patch: 'delete' }], imagePullSecrets: [{ name: 'q' }] }
  const patched = await client.send(`${path}/a`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: patch,
  })
  assert.deepEqual(patched.body.secrets, [{ name: 'z' }, { name: 'y' }])
  assert.deepEqual(patched.body.imagePullSecrets, [{ name: 'q' }])

  const table = await client.get(`${path}/a`, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  assert.deepEqual(table.body.rows[0].cells.slice(0, 2), ['a', 2])
  assert.deepEqual(
    table.body.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Secrets', 'Age'],
  )
  assert.equal((await client.get(`${path}/a/status`)).status, 404)
  assert.equal((await client.put(`${path}/b`, { metadata: { name: 'b' } })).status, 404)
  const deleted = await client.delete(`${path}/a`)
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'ServiceAccount'])
})
