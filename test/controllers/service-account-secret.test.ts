/**
 * Tokens that are kept in secrets, in a real `orch up`: the loop fills such a secret, the token lets its account in, and
 * all of it goes with the account.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from '../../src/client/client.ts'
import { serviceAccounts } from '../../src/controllers/service-account.ts'
import { secrets } from '../../src/controllers/service-account-secret.ts'
import { eventOf } from '../tools/resource-types.ts'
import { type ServerHandle, startUp } from '../tools/server.ts'

const namespace = 'default'
const type = 'orch.io/service-account-token'

test('tokens in secrets', async (t) => {
  const server = await startUp(t, ['-v=9'])
  const client = new Client(server.transport())
  const admin = server.client()

  const makeAccount = (name: string) =>
    client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
  const makeSecret = (name: string, account: string) => {
    const metadata = { namespace, name, annotations: { 'orch.io/service-account.name': account } }
    return client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type })
  }
  const filled = async (name: string) => {
    const event = await eventOf(client, secrets, {
      name: { namespace, name },
      fits: (each) => each.type !== 'BOOKMARK' && Boolean(each.object.data?.token),
    })
    assert.ok(event.type !== 'BOOKMARK')
    return event.object
  }
  const textOf = (data: { [key: string]: string } | undefined, key: string) =>
    Buffer.from(data?.[key] ?? '', 'base64').toString()

  await t.test('a secret gets token, CA and namespace, and the token lets the account in', async () => {
    const account = await makeAccount('kept')
    await makeSecret('kept-token', 'kept')
    const { data, metadata } = await filled('kept-token')
    assert.equal(textOf(data, 'namespace'), namespace)
    assert.equal(textOf(data, 'ca.crt'), readFileSync(join(server.directory, 'data/pki/ca.crt'), 'utf8'))
    assert.equal(metadata.annotations?.['orch.io/service-account.uid'], account.metadata.uid)
    const token = textOf(data, 'token')
    const { body } = await admin.post('/apis/authentication.orch.io/v1/tokenreviews', { spec: { token } })
    const { username, uid } = body.status.user
    assert.deepEqual([username, uid], ['system:serviceaccount:default:kept', account.metadata.uid])
    assert.deepEqual(body.status.audiences, ['https://orch.default.svc'])
  })

  await t.test('the token ends with its secret, and with another token in it', async () => {
    await makeSecret('brief', 'kept')
    const secret = await filled('brief')
    const used = server.client(textOf(secret.data, 'token'))
    assert.equal((await used.get('/api')).status, 200)
    const other = { ...secret.data, token: Buffer.from('another').toString('base64') }
    await client.update(secrets, { ...secret, data: other })
    assert.equal((await used.get('/api')).status, 401)
    const now = await client.get(secrets, { namespace, name: 'brief' })
    await client.update(secrets, { ...now, data: secret.data! })
    assert.equal((await used.get('/api')).status, 200)
    await client.delete(secrets, { namespace, name: 'brief' })
    assert.equal((await used.get('/api')).status, 401)
  })

  await t.test('secrets go with their account, and one of nobody goes at once', async () => {
    const kept = await client.get(secrets, { namespace, name: 'kept-token' })
    const used = server.client(textOf(kept.data, 'token'))
    assert.equal((await used.get('/api')).status, 200)
    await client.delete(serviceAccounts, { namespace, name: 'kept' })
    assert.equal((await used.get('/api')).status, 401)
    const gone = (name: string, resourceVersion: string) =>
      eventOf(client, secrets, { name: { namespace, name }, resourceVersion, fits: (each) => each.type === 'DELETED' })
    await gone('kept-token', kept.metadata.resourceVersion!)
    const { metadata } = await makeSecret('nobodys', 'nobody')
    await gone('nobodys', metadata.resourceVersion!)
    assert.equal((await used.get('/api')).status, 401)
  })

  await t.test('a secret of another account of the same name goes too', async () => {
    const { metadata } = await makeAccount('again')
    const annotations = { 'orch.io/service-account.name': 'again', 'orch.io/service-account.uid': 'former' }
    const made = await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'former', annotations },
      type,
    })
    const resourceVersion = made.metadata.resourceVersion!
    const name = { namespace, name: 'former' }
    await eventOf(client, secrets, { name, resourceVersion, fits: (each) => each.type === 'DELETED' })
    assert.equal((await client.get(serviceAccounts, { namespace, name: 'again' })).metadata.uid, metadata.uid)
  })

  assertQuiet(server)
})

/** No token and no key was told, and no loop failed. */
function assertQuiet(server: ServerHandle): void {
  assert.doesNotMatch(server.output(), /eyJ|PRIVATE KEY/)
  assert.doesNotMatch(server.output(), / error /)
}
