/** Tests `orch/client` in a real browser, including access from the origins that `--cors-allowed-origins` permits. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { bundleIfStale } from '../../support/bundle.ts'
import { startChromium } from '../../support/chromium.ts'
import { serve } from '../../support/in-process.ts'
import { root } from '../../support/server.ts'

/** Serves an empty page and the bundle for browsers. */
async function startPages(t: TestContext): Promise<number> {
  await bundleIfStale('client-browser')
  const pages = createServer(({ url = '' }, response) => {
    if (!/^\/[\w-]+\.js$/.test(url)) return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(join(root, 'dist', url)))
  })
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    pages.closeAllConnections()
    pages.close()
  })
  return (pages.address() as AddressInfo).port
}

const everyVerb = `
  const inDefault = (name) => ({ namespace: 'default', name })
  const created = await client.create(ConfigMap, { metadata: inDefault('page'), data: { from: 'a page' } })
  const watching = client.watch(ConfigMap, { namespace: 'default', resourceVersion: created.metadata.resourceVersion })
  const next = watching.next()
  const updated = await client.update(ConfigMap, { ...created, data: { from: 'an update' } })
  const seen = (await next).value
  await watching.return()
  const applied = await client.apply(ConfigMap, { metadata: inDefault('page'), data: { more: '1' } }, { fieldManager: 'page' })
  const lease = await client.create(Lease, { metadata: inDefault('page'), spec: { holderIdentity: 'page' } })
  const { items } = await client.list(ConfigMap, { namespace: 'default', labelSelector: '!none' })
  await client.delete(ConfigMap, inDefault('page'))
  const missing = await client.get(ConfigMap, inDefault('page')).catch((error) => error)
  const names = items.map(({ metadata }) => metadata.name)
  return [seen.type, seen.object.data.from, applied.data, lease.kind, names, missing.name, missing.reason]`

test('a page from an allowed origin can read, write and watch, and a page from another origin is blocked', {
  timeout: 180_000,
}, async (t) => {
  const port = await startPages(t)
  const server = await serve(t, [`--cors-allowed-origins=^http://127[.]0[.]0[.]1:${port}$,^https://other[.]example$`])
  const browser = await startChromium(t)
  const code = (body: string) => `
    const { connect, ConfigMap, Lease } = await import('/client-browser.js')
    const client = await connect({ server: ${JSON.stringify(server.url)}, token: 'admin-token' })
    ${body}`
  assert.deepEqual(await browser.run(`http://127.0.0.1:${port}/`, code(everyVerb)), [
    ...['MODIFIED', 'an update', { from: 'an update', more: '1' }, 'Lease', ['page'], 'StatusError', 'NotFound'],
  ])
  const refused = `return await client.list(ConfigMap).catch((error) => error.name + ': ' + error.message)`
  assert.equal(
    await browser.run(`http://localhost:${port}/`, code(refused)),
    'TransportError: cannot reach the server, or the server does not allow this origin',
  )
})

test('CORS headers are the same as in kube-apiserver and are sent only to allowed origins', async (t) => {
  const server = await serve(t, ['--cors-allowed-origins=//127[.]0[.]0[.]1(:|$),example'])
  const client = server.client()
  const ask = async (method: string, origin: string, path = '/api/v1/namespaces') => {
    const { status, headers } = await client.send(path, { method, headers: { origin } })
    const corsHeaders = Object.entries(headers).filter(([name]) => name.startsWith('access-control-'))
    return { status, ...Object.fromEntries(corsHeaders) }
  }
  const allowed = (origin: string) => ({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
    'access-control-allow-headers':
      'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
    'access-control-expose-headers': 'Date',
    'access-control-allow-credentials': 'true',
  })
  assert.deepEqual(await ask('GET', 'http://127.0.0.1:8'), { status: 200, ...allowed('http://127.0.0.1:8') })
  assert.deepEqual(await ask('OPTIONS', 'https://an.example.com'), {
    status: 204,
    ...allowed('https://an.example.com'),
  })
  assert.deepEqual(await ask('GET', 'https://127.0.0.1', '/nowhere'), { status: 404, ...allowed('https://127.0.0.1') })
  assert.deepEqual(await ask('GET', 'http://127.0.0.2'), { status: 200 })
  assert.deepEqual(await ask('GET', `http://example.${'x'.repeat(2000)}`), { status: 200 })
  assert.notEqual((await ask('OPTIONS', 'http://127.0.0.2')).status, 204)
  const off = await serve(t)
  const { headers } = await off.client().get('/version', { origin: 'http://127.0.0.1' })
  assert.equal(headers['access-control-allow-origin'], undefined)
})
