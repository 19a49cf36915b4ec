/**
 * Tests bootstrap tokens on a real server: valid tokens, the reasons why tokens are invalid, and rejections that do not
 * reveal the reason.
 */
import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { endOfFile } from '../../support/end-of-file.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import type { Served } from '../../support/server.ts'
import { untilTrue } from '../../support/until.ts'

const owner = endOfFile()
const secrets = '/api/v1/namespaces/kube-system/secrets'
const reviews = '/apis/authentication.orch.io/v1/tokenreviews'
const secret = 'canary0123456789'

let server: Served
let admin: HttpClient

before(async () => {
  server = await serve(owner, ['--enable-bootstrap-token-auth', '-v=9'])
  admin = server.client()
})

interface Made {
  readonly id: string
  readonly namespace?: string
  readonly type?: string
  readonly finalizers?: readonly string[]
  /** Replaces the default signing keys. */
  readonly data?: { readonly [key: string]: string | undefined }
}

async function make({ id, namespace = 'kube-system', type = 'bootstrap.orch.io/token', finalizers = [], data }: Made) {
  const stringData = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', ...data }
  const metadata = { name: `bootstrap-token-${id}`, finalizers }
  const { status, text } = await admin.post(`/api/v1/namespaces/${namespace}/secrets`, { metadata, type, stringData })
  assert.equal(status, 201, text)
}

const userOf = async (token: string) => (await admin.post(reviews, { spec: { token } })).body.status.user

it('a bootstrap token authenticates as the user with its ID and the listed groups', async () => {
  await make({ id: 'plain0' })
  assert.deepEqual(await userOf(`plain0.${secret}`), {
    username: 'system:bootstrap:plain0',
    groups: ['system:bootstrappers', 'system:authenticated'],
  })
  const groups = 'system:bootstrappers:b,system:bootstrappers:a:x-1,system:bootstrappers:b'
  const expiration = new Date(Date.now() + 3_600_000).toISOString()
  await make({ id: 'groups', data: { 'auth-extra-groups': groups, expiration, description: 'for the racks' } })
  assert.deepEqual((await userOf(`groups.${secret}`)).groups, [
    'system:bootstrappers',
    'system:bootstrappers:a:x-1',
    'system:bootstrappers:b',
    'system:authenticated',
  ])
  await make({ id: 'onenod', data: { 'node-name': 'n1' } })
  assert.deepEqual((await userOf(`onenod.${secret}`)).extra, { 'bootstrap.orch.io/node-name': ['n1'] })
  await make({ id: 'offset', data: { expiration: '2999-01-01T00:00:00.5+02:00' } })
  assert.equal((await userOf(`offset.${secret}`)).username, 'system:bootstrap:offset')
})

it('all invalid bootstrap tokens get the same response', async () => {
  const wrong: readonly Made[] = [
    { id: 'usage0', data: { 'usage-bootstrap-authentication': 'True' } },
    { id: 'usage1', data: { 'usage-bootstrap-authentication': undefined, 'usage-bootstrap-signing': 'true' } },
    { id: 'past00', data: { expiration: '2001-01-01T00:00:00Z' } },
    { id: 'notime', data: { expiration: 'tomorrow' } },
    { id: 'noday0', data: { expiration: '2999-13-41T00:00:00Z' } },
    { id: 'onlyid', data: { 'token-secret': '' } },
    { id: 'others', data: { 'token-id': 'other0' } },
    { id: 'opaque', type: 'Opaque' },
    { id: 'elsewh', namespace: 'default' },
    { id: 'master', data: { 'auth-extra-groups': 'system:masters' } },
    { id: 'upper0', data: { 'auth-extra-groups': 'system:bootstrappers:Foo' } },
    { id: 'comma0', data: { 'auth-extra-groups': 'system:bootstrappers:a,' } },
    { id: 'lines0', data: { 'auth-extra-groups': 'system:bootstrappers:a\nsystem:masters' } },
  ]
  for (const each of wrong) await make(each)
  await make({ id: 'going0', finalizers: ['example.com/hold'] })
  await admin.delete(`${secrets}/bootstrap-token-going0`)
  const tokens = [
    ...[...wrong, { id: 'going0' }, { id: 'nobody' }].map(({ id }) => `${id}.${secret}`),
    `plain0.${secret.slice(0, -1)}0`,
    `plain0.x${secret.slice(1)}`,
    `plain0.${secret}0`,
    `plain0.${secret.toUpperCase()}`,
    'onlyid.0000000000000000',
  ]
  const answers = new Set<string>()
  for (const token of tokens) {
    const { status, text, headers } = await server.client(token).get('/api')
    assert.equal(status, 401, token)
    answers.add(text)
    const { date: _, 'audit-id': __, ...told } = headers
    answers.add(JSON.stringify(told))
    assert.deepEqual((await admin.post(reviews, { spec: { token } })).body.status.error, 'invalid bearer token')
  }
  assert.equal(answers.size, 2, [...answers].join('\n'))
})

it('a bootstrap token becomes invalid when it expires or its Secret is deleted', async () => {
  const expires = Math.ceil(Date.now() / 1000) * 1000 + 2_000
  await make({ id: 'brief0', data: { expiration: new Date(expires).toISOString() } })
  const client = server.client(`brief0.${secret}`)
  const first = await client.get('/api')
  if (Date.now() < expires) assert.ok(first.status === 200 || first.status === 403, first.text)
  await untilTrue(async () => (await client.get('/api')).status === 401)
  assert.ok(Date.now() >= expires)
  const used = server.client(`plain0.${secret}`)
  assert.notEqual((await used.get('/api')).status, 401)
  await admin.delete(`${secrets}/bootstrap-token-plain0`)
  assert.equal((await used.get('/api')).status, 401)
})

it('bootstrap tokens are ignored unless enabled and never disclosed', async () => {
  assert.ok(!server.output().includes(secret))
  assert.ok(!(await admin.get('/metrics')).text.includes(secret))
  const without = await serve(owner)
  const metadata = { name: 'bootstrap-token-plain0' }
  const stringData = { 'token-id': 'plain0', 'token-secret': secret, 'usage-bootstrap-authentication': 'true' }
  await without.client().post(secrets, { metadata, type: 'bootstrap.orch.io/token', stringData })
  assert.equal((await without.client(`plain0.${secret}`).get('/api')).status, 401)
})
