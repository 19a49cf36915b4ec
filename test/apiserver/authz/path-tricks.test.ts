/**
 * Tests path tricks: more than two hundred spellings of paths, sent by a user who may read a single resource. The
 * authorizer and the router use the same decoded path. A forbidden resource is therefore never returned, and an allowed
 * resource is returned only for equivalent spellings.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { sendHead } from '../../support/raw-http.ts'

const server = await serve({ after })
const admin = server.client()
const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/a'
const hidden = 'aGlkZGVuLWNhbmFyeQ=='

for (const name of ['a', 'b']) await admin.post('/api/v1/namespaces', { metadata: { name } })
for (const name of ['a', 'b']) {
  await admin.post(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: 'x' }, data: { k: hidden } })
  await admin.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'x' }, data: { k: 'open' } })
}
await admin.post(`${rbac}/roles`, {
  metadata: { name: 'reader' },
  rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }],
})
await admin.post(`${rbac}/rolebindings`, {
  metadata: { name: 'reader' },
  roleRef: { kind: 'Role', name: 'reader' },
  subjects: [{ kind: 'User', name: 'bob' }],
})

/** Ways to disguise a path segment or to traverse upwards. */
const ups = [
  '..',
  '%2e%2e',
  '.%2e',
  '%2E.',
  '%252e%252e',
  '..%2f',
  '%2e%2e%2f',
  '..%5c',
  '%c0%ae%c0%ae',
  '%u002e%u002e',
  '..;',
  '..%00',
]
const slashes = [
  '%2f',
  '%2F',
  '%252f',
  '%5c',
  '\\',
  '//',
  '/./',
  '/%2e/',
  ';/',
  '%c0%af',
  '%00/',
  '%3f/',
  '%23/',
  '%0d%0a/',
  '%20/',
  '/%2f/',
]
const encode = (text: string) => [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')

/** Paths that resolve to, or resemble, resources that bob may not read. */
function forbidden(): string[] {
  const secret = '/api/v1/namespaces/a/secrets/x'
  const trickPaths: string[] = [
    secret,
    '/api/v1/namespaces/a/secrets',
    '/api/v1/secrets',
    '/api/v1/namespaces/b/configmaps/x',
  ]
  // Paths from an allowed resource to a forbidden resource.
  for (const up of ups) {
    trickPaths.push(
      `/api/v1/namespaces/a/configmaps/${up}/secrets/x`,
      `/api/v1/namespaces/a/configmaps/x/${up}/${up}/secrets/x`,
    )
    trickPaths.push(
      `/api/v1/namespaces/a/configmaps/${up}${up}secrets/x`,
      `/livez/${up}${secret}`,
      `/livez${up}${secret}`,
    )
    trickPaths.push(`/api/v1/namespaces/a/${up}/b/configmaps/x`, `/api/v1/${up}/v1/namespaces/a/secrets/x`)
  }
  for (const slash of slashes) {
    trickPaths.push(secret.replace('/secrets', `${slash}secrets`), secret.replace('/x', `${slash}x`))
    trickPaths.push(
      secret.replace('/v1/', `${slash}v1/`),
      `/livez${slash}..${secret}`,
      `/api/v1/namespaces/a/configmaps${slash}../secrets/x`,
    )
    trickPaths.push(`/api/v1/namespaces/a/configmaps/x${slash}..${slash}..${slash}secrets${slash}x`)
  }
  // Paths with encoded characters in a segment.
  for (const word of ['secrets', 'namespaces', 'api', 'v1', 'x'])
    trickPaths.push(
      secret.replace(`/${word}`, `/${encode(word)}`),
      secret.replace(`/${word}`, `/${encode(word).toUpperCase()}`),
    )
  for (const other of [
    'Secrets',
    'SECRETS',
    'secrets.',
    'secrets;a=b',
    'secrets%20',
    'secrets%09',
    'secrets%0a',
    'sécrets',
    '%ef%bd%93ecrets',
  ])
    trickPaths.push(secret.replace('secrets', other))
  // Requests with another scope, verb or request target.
  for (const query of [
    'watch=1',
    'watch=true&watch=false',
    'watch=0&watch=1',
    'watch',
    'fieldSelector=metadata.name%3Dx',
    'fieldSelector=metadata.name%3Dx&fieldSelector=type%3DOpaque',
    'namespace=b',
    'as=admin',
  ])
    trickPaths.push(`/api/v1/namespaces/a/secrets?${query}`, `${secret}?${query}`, `/api/v1/secrets?${query}`)
  trickPaths.push(
    `https://127.0.0.1${secret}`,
    `http://admin@127.0.0.1${secret}`,
    `//127.0.0.1${secret}`,
    '*',
    `/watch${secret}`,
    `/api/v1/watch/namespaces/a/secrets/x`,
    '/api/v1/watch/secrets',
  )
  trickPaths.push(
    '/api/v1/namespaces/a/configmaps/../../b/configmaps/x',
    '/apis//v1/namespaces/a/secrets/x',
    '/apis/core/v1/namespaces/a/secrets/x',
    '/api/v1/namespaces//secrets',
    '/api/v1/namespaces/a/namespaces/b',
    '/api/v1/namespaces/a/nodes',
  )
  return trickPaths
}

/** Accepted status codes for a rejection. */
const refusals = [301, 400, 403, 404, 405, 505]

test('no alternative spelling of a forbidden path gives access to the resource', async () => {
  const paths = forbidden()
  assert.ok(new Set(paths).size > 200, `${new Set(paths).size} spellings`)
  for (const method of ['GET', 'DELETE']) {
    for (const path of paths) {
      const { status, text } = await sendHead(server, [`${method} ${path} HTTP/1.1`, 'Authorization: Bearer bob-token'])
      assert.ok(refusals.includes(status), `${method} ${path}: ${status} ${text.slice(0, 200)}`)
      assert.ok(!text.includes(hidden), `${method} ${path} shows the secret`)
    }
  }
  assert.equal((await admin.get('/api/v1/namespaces/a/secrets/x')).status, 200, 'nothing was deleted')
  assert.equal((await admin.get('/api/v1/namespaces/b/configmaps/x')).status, 200, 'nothing was deleted')
})

test('equivalent spellings of an allowed path are allowed', async () => {
  const path = '/api/v1/namespaces/a/configmaps/x'
  const same = [
    path,
    `${path}/`,
    path.replace('configmaps', encode('configmaps')),
    path.replace('/a/', '/%61/'),
    `${path}?watch=0`,
  ]
  for (const each of same) {
    const { status } = await sendHead(server, [`GET ${each} HTTP/1.1`, 'Authorization: Bearer bob-token'])
    assert.equal(status, 200, each)
  }
})
