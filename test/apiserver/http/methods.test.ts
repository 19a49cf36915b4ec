/**
 * Tests that unsupported methods get a 405, for collections and objects, with and without a namespace, and that unknown
 * paths still get a 404.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { sendHttp2 } from '../../support/raw-http.ts'
import { untilTrue } from '../../support/until.ts'

const inNamespace = '/api/v1/namespaces/default/configmaps'
const everywhere = '/api/v1/configmaps'

/** The methods that get a 405, by path. All other common methods are served. */
const rows: { readonly [path: string]: readonly string[] } = {
  [inNamespace]: ['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'PURGE', 'TRACE'],
  [`${inNamespace}/a`]: ['POST', 'HEAD', 'OPTIONS', 'PURGE'],
  [`${inNamespace}/a?watch=1`]: ['HEAD'],
  [`${inNamespace}?watch=1`]: ['HEAD', 'PUT'],
  [everywhere]: ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PURGE'],
  '/api/v1/watch/configmaps': ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
  '/api/v1/watch/namespaces/default/configmaps': ['POST', 'DELETE', 'HEAD'],
  '/api/v1/watch/namespaces/default/configmaps/a': ['PUT', 'PATCH', 'DELETE'],
  '/api/v1/namespaces': ['DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS'],
  '/api/v1/namespaces/default/pods/x/status': ['POST', 'DELETE', 'HEAD', 'OPTIONS'],
  '/api': ['POST', 'HEAD'],
  '/api/v1': ['POST', 'PUT', 'HEAD', 'OPTIONS'],
  '/version': ['POST', 'OPTIONS'],
}

const widget = { apiVersion: 'example.com/v1', kind: 'Widget' }
const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
}

const unknown: { readonly [path: string]: readonly string[] } = {
  '/api/v1/configmaps/a': ['GET', 'PUT', 'DELETE', 'PURGE'],
  '/api/v1/nonesuch': ['GET', 'POST', 'DELETE', 'OPTIONS', 'PURGE'],
  '/api/v1/namespaces/default/nodes': ['GET', 'POST'],
  [`${inNamespace}/a/nonesuch`]: ['GET', 'PUT', 'PURGE'],
}

test('requests with unsupported methods get a 405, requests for unknown paths get a 404, and neither kind of request changes data', {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t)
  const client = server.client()
  await client.post(inNamespace, { metadata: { name: 'a' } })
  const before = (await client.get(inNamespace)).text
  for (const [expected, table] of [
    [405, rows],
    [404, unknown],
  ] as const)
    for (const [path, methods] of Object.entries(table))
      for (const method of methods)
        await t.test(`${method} ${path} gets the expected status`, async () => {
          const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: { metadata: { name: 'b' } } } : {}
          const answer = await client.send(path, { method, ...body })
          assert.equal(answer.status, expected, answer.text)
          if (method === 'HEAD') assert.equal(answer.text, '')
          else if (expected === 405) assert.equal(answer.body.reason, 'MethodNotAllowed')
          const headers = { ':method': method, ':path': path, authorization: 'Bearer admin-token' }
          assert.equal((await sendHttp2(server, headers)).status, expected)
        })
  await t.test('rejected requests with unsupported methods change nothing', async () =>
    assert.equal((await client.get(inNamespace)).text, before),
  )
  await t.test('HEAD is supported for health checks', async () => {
    for (const path of ['/livez', '/readyz', '/healthz'])
      assert.equal((await client.send(path, { method: 'HEAD' })).status, 200)
  })
  await t.test('HEAD is supported for group lists and custom objects', async () => {
    await client.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', definition)
    const custom = '/apis/example.com/v1'
    await untilTrue(async () => (await client.get(`${custom}/widgets`)).status === 200)
    const things = `${custom}/namespaces/default/widgets`
    assert.equal((await client.post(things, { ...widget, metadata: { name: 'a' } })).status, 201)
    for (const path of [
      ...['/', '/apis', '/apis/', '/apis/apps', '/apis/example.com', custom],
      ...[things, `${things}/a`, `${things}/a/status`, `${custom}/widgets?limit=1`],
    ]) {
      const head = await client.send(path, { method: 'HEAD' })
      const get = await client.get(path)
      assert.deepEqual([head.status, head.text], [200, ''], path)
      assert.equal(head.headers['content-type'], get.headers['content-type'], path)
      const headers = { ':method': 'HEAD', ':path': path, authorization: 'Bearer admin-token' }
      assert.equal((await sendHttp2(server, headers)).status, 200, path)
    }
    const missing = await client.send(`${things}/b`, { method: 'HEAD' })
    assert.deepEqual([missing.status, missing.text], [404, ''])
    for (const path of [`${things}?watch=1`, '/apis/apps/v1', '/apis/apps/v1/deployments'])
      assert.equal((await client.send(path, { method: 'HEAD' })).status, 405, path)
    assert.equal((await server.client('alice-token').send(`${things}/a`, { method: 'HEAD' })).status, 403)
  })
  await t.test('a user without permission gets a 403 instead of a 405', async () => {
    const answer = await server.client('alice-token').send(inNamespace, { method: 'PURGE' })
    assert.equal(answer.status, 403)
  })
})
