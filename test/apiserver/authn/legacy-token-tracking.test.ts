/**
 * Tests that the use of legacy service account tokens is recorded, and that tokens whose Secrets are marked as invalid
 * are rejected.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CompactSign } from 'jose'
import { dayOf } from '../../../src/api/model/legacy-tokens.ts'
import { serve } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-legacy-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keyFile = join(directory, 'key.pem')
writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })

const map = '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking'
const path = '/api/v1/namespaces/default/secrets/holder'
const lastUsed = 'orch.io/legacy-token-last-used'
const invalidSince = 'orch.io/legacy-token-invalid-since'

/** Starts a server with a legacy token that is stored in a Secret. */
async function start(version: string) {
  const server = await serve({ after }, [`--emulated-version=${version}`, `--service-account-key-file=${keyFile}`])
  const admin = server.client()
  const account = await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
  const uid: string = account.body.metadata.uid
  const domain = 'orch.io/serviceaccount'
  const claims = {
    iss: 'orch/serviceaccount',
    [`${domain}/namespace`]: 'default',
    [`${domain}/secret.name`]: 'holder',
    [`${domain}/service-account.name`]: 'robot',
    [`${domain}/service-account.uid`]: uid,
    sub: 'system:serviceaccount:default:robot',
  }
  const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256' })
    .sign(privateKey)
  const annotations = { 'orch.io/service-account.name': 'robot', 'orch.io/service-account.uid': uid }
  const { status, text } = await admin.post('/api/v1/namespaces/default/secrets', {
    metadata: { name: 'holder', annotations },
    type: 'orch.io/service-account-token',
    data: { token: Buffer.from(token).toString('base64') },
  })
  assert.equal(status, 201, text)
  const use = async () => (await server.client(token).get('/api')).status
  const metadata = async () => (await admin.get(path)).body.metadata
  const label = async (labels: object) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    await admin.send(path, { method: 'PATCH', headers, body: { metadata: { labels } } })
  }
  return { admin, use, metadata, label }
}

test('since Kubernetes 1.28, the server labels the Secrets of used tokens once a day and rejects tokens marked as invalid', async () => {
  const { admin, use, metadata, label } = await start('1.28')
  const today = dayOf(Date.now())
  assert.deepEqual((await admin.get(map)).body.data, { since: today })
  assert.equal((await metadata()).labels, undefined)
  assert.equal(await use(), 200)
  const { resourceVersion } = await until(metadata, ({ labels }) => labels?.[lastUsed] >= today)
  for (let i = 0; i < 3; i++) assert.equal(await use(), 200)
  assert.equal((await metadata()).resourceVersion, resourceVersion, 'no second write on the same day')
  await label({ [lastUsed]: '2020-01-01' })
  assert.equal(await use(), 200)
  await until(metadata, ({ labels }) => labels[lastUsed] >= today)
  await label({ [invalidSince]: today })
  assert.equal(await until(use, (status) => status !== 200), 401)
  await label({ [invalidSince]: null })
  assert.equal(await until(use, (status) => status !== 401), 200)
})

test('the date on which token tracking started is kept, and an unreadable date is replaced', async () => {
  const { admin } = await start('1.36')
  const set = async (since: string) => {
    const { body } = await admin.get(map)
    await admin.send(map, { method: 'PUT', body: { ...body, data: { since } } })
  }
  await set('soon')
  await until(
    async () => (await admin.get(map)).body.data.since,
    (since) => since === dayOf(Date.now()),
  )
  await set('2020-02-29')
  assert.equal((await admin.get(map)).body.data.since, '2020-02-29')
})

test('when emulating Kubernetes 1.23, the server neither records the use of tokens nor rejects tokens marked as invalid', async () => {
  const { admin, use, metadata, label } = await start('1.23')
  await label({ [invalidSince]: '2020-01-01' })
  assert.equal(await use(), 200)
  assert.deepEqual((await metadata()).labels, { [invalidSince]: '2020-01-01' })
  assert.equal((await admin.get(map)).status, 404)
})
