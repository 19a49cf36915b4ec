/**
 * Tests token Secrets in a real `orch up`: the loop fills the Secret, the token authenticates its account, and both
 * are deleted with the account.
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { Informer } from '../../../src/client/informers/informer.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { tokenSecretLoop } from '../../../src/cluster/controllers/service-account-secret.ts'
import { type Restartable, serve, serveUp } from '../../support/in-process.ts'
import { eventOf } from '../../support/resource-types.ts'

const namespace = 'default'
const type = 'orch.io/service-account-token'

test('the manager maintains token Secrets for service accounts', async (t) => {
  const server = await serveUp(t, ['-v=9'])
  const client = new Client(server.transport())
  const admin = server.client()

  const makeAccount = (name: string) =>
    client.create(kinds.ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
  const makeSecret = (name: string, account: string) => {
    const metadata = { namespace, name, annotations: { 'orch.io/service-account.name': account } }
    return client.create(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type })
  }
  const filled = async (name: string) => {
    const event = await eventOf(client, kinds.Secret, {
      name: { namespace, name },
      fits: (each) => each.type !== 'BOOKMARK' && Boolean(each.object.data?.token),
    })
    assert.ok(event.type !== 'BOOKMARK')
    return event.object
  }
  const textOf = (data: { [key: string]: string } | undefined, key: string) =>
    Buffer.from(data?.[key] ?? '', 'base64').toString()

  await t.test(
    'a token Secret gets a token, the CA and the namespace, and the token authenticates the account',
    async () => {
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
    },
  )

  await t.test('a token becomes invalid when its token Secret is deleted or contains another token', async () => {
    await makeSecret('brief', 'kept')
    const secret = await filled('brief')
    const used = server.client(textOf(secret.data, 'token'))
    assert.equal((await used.get('/api')).status, 200)
    const other = { ...secret.data, token: Buffer.from('another').toString('base64') }
    await client.update(kinds.Secret, { ...secret, data: other })
    assert.equal((await used.get('/api')).status, 401)
    const now = await client.get(kinds.Secret, { namespace, name: 'brief' })
    await client.update(kinds.Secret, { ...now, data: secret.data! })
    assert.equal((await used.get('/api')).status, 200)
    await client.delete(kinds.Secret, { namespace, name: 'brief' })
    assert.equal((await used.get('/api')).status, 401)
  })

  await t.test(
    'token Secrets are deleted with their service account, or immediately if the account does not exist',
    async () => {
      const remainingSecret = await client.get(kinds.Secret, { namespace, name: 'kept-token' })
      const used = server.client(textOf(remainingSecret.data, 'token'))
      assert.equal((await used.get('/api')).status, 200)
      await client.delete(kinds.ServiceAccount, { namespace, name: 'kept' })
      assert.equal((await used.get('/api')).status, 401)
      const gone = (name: string, resourceVersion: string) =>
        eventOf(client, kinds.Secret, {
          name: { namespace, name },
          resourceVersion,
          fits: (each) => each.type === 'DELETED',
        })
      await gone('kept-token', remainingSecret.metadata.resourceVersion!)
      const { metadata } = await makeSecret('nobodys', 'nobody')
      await gone('nobodys', metadata.resourceVersion!)
      assert.equal((await used.get('/api')).status, 401)
    },
  )

  await t.test('a token Secret for an earlier service account with the same name is deleted', async () => {
    const { metadata } = await makeAccount('again')
    const annotations = { 'orch.io/service-account.name': 'again', 'orch.io/service-account.uid': 'former' }
    const made = await client.create(kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'former', annotations },
      type,
    })
    const resourceVersion = made.metadata.resourceVersion!
    const name = { namespace, name: 'former' }
    await eventOf(client, kinds.Secret, { name, resourceVersion, fits: (each) => each.type === 'DELETED' })
    assert.equal((await client.get(kinds.ServiceAccount, { namespace, name: 'again' })).metadata.uid, metadata.uid)
  })

  await t.test('a token Secret with an invalid account name is deleted', async () => {
    for (const [i, account] of ['..%2f..%2fx', '..', 'a/b', 'A b'].entries()) {
      const { metadata } = await makeSecret(`odd-${i}`, account)
      const name = { namespace, name: `odd-${i}` }
      const resourceVersion = metadata.resourceVersion!
      await eventOf(client, kinds.Secret, { name, resourceVersion, fits: (each) => each.type === 'DELETED' })
    }
  })

  assertQuiet(server)
})

const nameKey = 'orch.io/service-account.name'
const uidKey = 'orch.io/service-account.uid'

/** Runs a loop step by step against a server without loops. Calls `meanwhile` when a token is issued. */
async function openLoop(t: TestContext, meanwhile: (client: Client) => Promise<void>) {
  const stop = new AbortController()
  t.after(() => stop.abort())
  const client = new Client((await serve(t)).transport())
  const informers = {
    secrets: new Informer(client, kinds.Secret, quiet),
    accounts: new Informer(client, kinds.ServiceAccount, quiet),
  }
  const loop = tokenSecretLoop({
    client,
    vendor: vendorOf('orch'),
    ...informers,
    authority: () => 'ca',
    issue: async ({ uid }) => {
      await meanwhile(client)
      return `token-of-${uid}`
    },
  })
  for (const informer of Object.values(informers)) void informer.run(stop.signal)
  await Promise.all(Object.values(informers).map(({ synced }) => synced))
  return { client, informers, step: () => loop.reconcile('default/s', stop.signal) }
}

const quiet = { onError: () => {} }
const secretOf = (account: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: 's', annotations: { [nameKey]: account } },
  type,
})
const accountNamed = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
const until = async (reached: () => boolean) => {
  for (let i = 0; !reached(); i++) {
    assert.ok(i < 3000)
    await pause(10)
  }
}

test('token data that another server wrote in the meantime is kept', async (t) => {
  const { client, informers, step } = await openLoop(t, async (by) => {
    const now = await by.get(kinds.Secret, { namespace, name: 's' })
    const annotations = { ...now.metadata.annotations, [uidKey]: 'former' }
    await by.update(kinds.Secret, { ...now, metadata: { ...now.metadata, annotations }, data: { token: 'Zm9ybWVy' } })
  })
  await client.create(kinds.ServiceAccount, accountNamed('a'))
  await client.create(kinds.Secret, secretOf('a'))
  await until(() => informers.secrets.get({ namespace, name: 's' }) !== undefined)
  await step()
  const currentSecret = await client.get(kinds.Secret, { namespace, name: 's' })
  assert.deepEqual([currentSecret.metadata.annotations?.[uidKey], currentSecret.data?.token], ['former', 'Zm9ybWVy'])
  const seen = () => informers.secrets.get({ namespace, name: 's' })?.metadata.resourceVersion
  await until(() => seen() === currentSecret.metadata.resourceVersion)
  await step()
  await assert.rejects(client.get(kinds.Secret, { namespace, name: 's' }), { code: 404 })
})

test('a token Secret is created for the stored service account, not for an outdated cached account', async (t) => {
  const { client, informers, step } = await openLoop(t, async () => {})
  const { metadata } = await client.create(kinds.ServiceAccount, accountNamed('a'))
  const formerAccount = { ...accountNamed('a'), metadata: { ...metadata, uid: 'former' } }
  informers.accounts.get = () => formerAccount
  await client.create(kinds.Secret, secretOf('a'))
  await until(() => informers.secrets.get({ namespace, name: 's' }) !== undefined)
  await step()
  const { annotations } = (await client.get(kinds.Secret, { namespace, name: 's' })).metadata
  assert.equal(annotations?.[uidKey], metadata.uid)
})

/** Asserts that no token or key was logged, and that no loop failed. */
function assertQuiet(server: Restartable): void {
  assert.doesNotMatch(server.output(), /eyJ|PRIVATE KEY/)
  assert.doesNotMatch(server.output(), / error /)
}
