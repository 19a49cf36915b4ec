/** What a client hears that accepts no form the server has: of a resource, and of a document of discovery. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startServer } from '../tools/server.ts'

const client = (await startServer({ after })).client()
const table = 'application/json;as=Table;g=meta.orch.io;v=v1'

test('an unknown form: a document tells its forms, a resource does not', async () => {
  for (const path of ['/api', '/api/v1', '/apis', '/apis/autoscaling', '/apis/autoscaling/v2']) {
    for (const accept of ['application/xml', 'nonsense', table]) {
      const { status, body } = await client.get(path, { accept })
      assert.deepEqual([status, body.reason, body.details], [406, 'NotAcceptable', undefined], `${path} ${accept}`)
      assert.match(body.message, /application\/json, application\/yaml/)
    }
  }
  const { status, body } = await client.get('/api/v1/namespaces/default', { accept: 'application/xml' })
  assert.deepEqual([status, body.reason, body.details], [406, 'NotAcceptable', {}])
  assert.doesNotMatch(body.message, /yaml/)
})

test('a later choice counts where the first is not to be had', async () => {
  for (const accept of ['application/xml, application/json', `${table}, application/json`]) {
    const { status, body } = await client.get('/apis/autoscaling', { accept })
    assert.deepEqual([status, body.kind], [200, 'APIGroup'], accept)
  }
})
