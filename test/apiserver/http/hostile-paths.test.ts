/**
 * Tests ambiguous paths and methods. A user without permission for the plain path gets no access through any other
 * notation. A user with permission gets the same response as for the plain path, or an error.
 */
import assert from 'node:assert/strict'
import type { ClientHttp2Session } from 'node:http2'
import { test } from 'node:test'
import { type Restartable, serve } from '../../support/in-process.ts'
import { ask, openSession, type RawAnswer, sendHead } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const secret = '/api/v1/namespaces/default/secrets/s'
const value = 'aGlkZGVu'

const spellings = [
  `${secret}/`,
  `${secret}//`,
  `/${secret}`,
  '/api//v1/namespaces/default/secrets/s',
  '/api/./v1/namespaces/default/secrets/s',
  '/api/v1/namespaces/default/secrets/./s',
  '/api/v1/namespaces/default/configmaps/../secrets/s',
  '/api/v1/namespaces/default/secrets/%2e/s',
  '/api/v1/namespaces/default/configmaps/%2e%2e/secrets/s',
  '/api/v1/namespaces/default/configmaps/%2E%2E/secrets/s',
  '/api/v1/namespaces/default/configmaps/.%2e/secrets/s',
  '/api/v1/namespaces/default/configmaps/..%2fsecrets%2fs',
  '/api/v1/namespaces/default/configmaps/%2e%2e%2fsecrets%2fs',
  '/api/v1/namespaces/default/configmaps/..%5csecrets%5cs',
  '/api/v1/namespaces/default/configmaps/..\\secrets\\s',
  '/api/v1/namespaces/default/configmaps/%252e%252e/secrets/s',
  '/api/v1/namespaces/default/configmaps/%c0%ae%c0%ae/secrets/s',
  '/api/v1/namespaces/default/configmaps/%u002e%u002e/secrets/s',
  '/api/v1/namespaces/default/configmaps/..;/secrets/s',
  '/api/v1/namespaces/default/configmaps/..;x/secrets/s',
  '/api/v1/namespaces/default%2fsecrets/s',
  '/api/v1/namespaces/default/secrets%2fs',
  '/api%2fv1%2fnamespaces%2fdefault%2fsecrets%2fs',
  '/api/v1/namespaces/default/secrets/s%00',
  '/api/v1/namespaces/default/secrets/s%00.json',
  '/api/v1/namespaces/default/secrets/s%0a',
  '/api/v1/namespaces/default/secrets/s%20',
  '/api/v1/namespaces/default/secrets/s;x',
  '/api/v1/namespaces/default/secrets/s;x=1',
  '/api/v1/namespaces/default/secrets;/s',
  '/api/v1/namespaces/default/secrets/s%3fwatch=1',
  '/api/v1/namespaces/default/secrets/s%23',
  '/api/v1/namespaces/default/secrets/s#x',
  '/api/v1/namespaces/default/secrets/%73',
  '/api/v1/namespaces/default/%73ecrets/s',
  '/%61pi/v1/namespaces/default/secrets/s',
  '/api/v1/namespaces/%64efault/secrets/s',
  '/api/v1/namespaces/default/secrets/S',
  '/API/v1/namespaces/default/secrets/s',
  '/api/v1/Namespaces/default/secrets/s',
  '/api/v1/namespaces/default/secrets/%EF%BD%93',
  '/api/v1/namespaces/default/secrets/%',
  '/api/v1/namespaces/default/secrets/%7',
  '/api/v1/namespaces/default/secrets/%zz',
  '/api/v1/namespaces/default/secrets/%ff',
  '/api/v1/namespaces/default/secrets/\u00ff',
  '/api/v1/namespaces//secrets/s',
  '/api/v1/secrets/s',
  '/api/v1/secrets',
  '/api/v1/namespaces/default/secrets',
  '/api/v1/namespaces/default/secrets/s/status',
  '/api/v1/namespaces/default/secrets/s/__proto__',
  '/api/v1/namespaces/default/secrets/s/constructor',
  '/api/v1/namespaces/default/secrets/constructor',
  '/api/v1/namespaces/default/secrets/__proto__',
  '/api/v1/namespaces/default/__proto__/s',
  '/api/v1/namespaces/__proto__/secrets/s',
  '/api/v1/watch/namespaces/default/secrets?timeoutSeconds=1',
  '/api/v1/watch/namespaces/default/secrets/s?timeoutSeconds=1',
  '/api/v1/proxy/namespaces/default/secrets/s',
  '/apis//v1/namespaces/default/secrets/s',
  '/apis/core/v1/namespaces/default/secrets/s',
  '/apis/%2e%2e/api/v1/namespaces/default/secrets/s',
  '/apis/./v1/namespaces/default/secrets/s',
  '/livez/../api/v1/namespaces/default/secrets/s',
  '/livez/%2e%2e/api/v1/namespaces/default/secrets/s',
  '/livez/..%2fapi/v1/namespaces/default/secrets/s',
  '/livez%2f..%2fapi/v1/namespaces/default/secrets/s',
  '/livez;/../api/v1/namespaces/default/secrets/s',
  '/livez/api/v1/namespaces/default/secrets/s',
  '//livez/api/v1/namespaces/default/secrets/s',
  '/livez?/../api/v1/namespaces/default/secrets/s',
  `https://127.0.0.1${secret}`,
  `http://livez${secret}`,
  `//127.0.0.1${secret}`,
  '*',
  `/${'a/'.repeat(2000)}`,
  `/api/v1/namespaces/default/secrets/${'a'.repeat(10_000)}`,
  `/api/v1/namespaces/${'a'.repeat(10_000)}/secrets`,
]

/** Status 0 means that the server closed the connection, as it does over HTTP/2 for invalid paths. */
const refused = [0, 400, 403, 404, 405]

test(`${spellings.length} alternative spellings of a path grant no additional access`, {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const made = await server.client().post('/api/v1/namespaces/default/secrets', {
    metadata: { name: 's' },
    data: { k: value },
  })
  assert.equal(made.status, 201)
  for (const path of spellings) {
    await t.test(path.slice(0, 80), async () => {
      for (const send of [byHttp1, byHttp2]) {
        for (const token of ['alice-token', '']) {
          const answer = await send(server, 'GET', path, token)
          assert.ok(!answer.text.includes(value), `${token} was shown the secret`)
          // Users without permissions may read nothing except the server's health.
          if (answer.status === 200) assert.match(path, /^\/livez\?/)
          else assert.ok(refused.includes(answer.status), `${token}: ${answer.status} ${answer.text.slice(0, 300)}`)
        }
        const { status, text } = await send(server, 'GET', path, 'admin-token')
        if (status !== 200) assert.ok(refused.includes(status), `${status} ${text.slice(0, 300)}`)
      }
      await assertAlive()
    })
  }
})

test('a write to an unusual spelling of a path is rejected or has the same effect as a write to the plain path', {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const client = server.client()
  const namespaces = [
    'A',
    'a b',
    '%2e%2e',
    'a%2fb',
    '\u00e9',
    'a'.repeat(64),
    'a'.repeat(2000),
    'a%00',
    'a%0a',
    '-',
    '__proto__',
  ]
  for (const namespace of namespaces) {
    const { status, text } = await client.send(
      `/api/v1/namespaces/${encodeURI(namespace).replaceAll('%25', '%')}/configmaps`,
      {
        method: 'POST',
        body: { metadata: { name: 'x' } },
      },
    )
    assert.ok([400, 404, 422].includes(status), `${namespace.slice(0, 50)}: ${status} ${text.slice(0, 300)}`)
    await assertAlive()
  }
  const { body } = await client.get(
    '/api/v1/configmaps?fieldSelector=metadata.name!=extension-apiserver-authentication',
  )
  assert.deepEqual(body.items, [])
})

const http1Methods = [
  'TRACE',
  'PROPFIND',
  'OPTIONS',
  'CONNECT',
  'PURGE',
  'M-SEARCH',
  'get',
  'Get',
  'FOO',
  '__proto__',
  'G\u00cbT',
]
const http2Methods = [
  'TRACE',
  'PROPFIND',
  'OPTIONS',
  'get',
  'FOO',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
]

test('requests with unusual methods are rejected', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const client = server.client()
  await client.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' }, data: { k: value } })
  for (const [name, methods, send, codes] of [
    ['HTTP/1.1', http1Methods, byHttp1, [400, 404, 405, 501]],
    // Status 0 means that the server closed the connection.
    ['HTTP/2', http2Methods, byHttp2, [0, 400, 404, 405, 501]],
  ] as const) {
    for (const method of methods) {
      await t.test(`a request with the method ${method} in ${name} is rejected`, async () => {
        const { status, text } = await send(server, method, secret, 'admin-token')
        const right: readonly number[] = codes
        assert.ok(right.includes(status), `${status} ${text.slice(0, 300)}`)
        assert.ok(!text.includes(value) && !text.includes('[object'), text.slice(0, 300))
        const others = await send(server, method, secret, 'alice-token')
        assert.ok([...right, 403].includes(others.status), `${others.status} ${others.text.slice(0, 300)}`)
        assert.ok(!others.text.includes('native code'), others.text.slice(0, 300))
        await assertAlive()
      })
    }
  }
  await t.test('HEAD requests are authorized like GET requests, but not served', async () => {
    for (const send of [byHttp1, byHttp2]) {
      const { status, text } = await send(server, 'HEAD', secret, 'admin-token')
      assert.equal(status, 405)
      assert.ok(!text.includes(value))
      assert.equal((await send(server, 'HEAD', secret, 'alice-token')).status, 403)
    }
    await assertAlive()
  })
  await t.test('a method override header is ignored', async () => {
    for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      assert.equal((await client.get(secret, { [header]: 'DELETE' })).status, 200)
    }
    assert.equal((await client.get(`${secret}?_method=DELETE`)).status, 200)
    assert.equal((await client.get(secret)).status, 200)
  })
  await t.test('a GET with a body is handled like an ordinary GET', async () => {
    assert.equal((await client.send(secret, { method: 'GET', raw: '{"kind":"DeleteOptions"}' })).status, 200)
    assert.equal((await client.get(secret)).status, 200)
  })
})

async function byHttp1(server: Restartable, method: string, path: string, token: string): Promise<RawAnswer> {
  return await sendHead(server, [
    `${method} ${path} HTTP/1.1`,
    ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
  ])
}

const sessions = new WeakMap<Restartable, ClientHttp2Session>()

/** Uses the same connection for all requests until the server closes it. */
async function byHttp2(server: Restartable, method: string, path: string, token: string): Promise<RawAnswer> {
  let session = sessions.get(server)
  if (session === undefined || session.closed || session.destroyed) {
    session = openSession(server)
    session.unref()
    sessions.set(server, session)
  }
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
  return await ask(session, { ':method': method, ':path': path, ...authorization })
}
