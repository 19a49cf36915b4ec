/** Pages for monitoring and diagnosis besides `/metrics`, and the media types of CBOR, which no page or type has. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after }, ['--emulated-version=1.36'])
const newest = server.client()
const nobody = server.client('')

test('/metrics/slis counts the results of each health check', async () => {
  const passed = async () => {
    const { status, text, headers } = await newest.get('/metrics/slis')
    assert.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8'])
    assert.doesNotMatch(text, /apiserver_request_total|process_/)
    return (/^kubernetes_healthchecks_total\{name="store",status="success",type="readyz"\} (\d+)$/m.exec(text) ?? [])[1]
  }
  const start = Number((await passed()) ?? 0)
  await newest.get('/readyz')
  await newest.get('/readyz?exclude=store')
  await newest.get('/readyz/store')
  assert.equal(Number(await passed()), start + 1)
  const { text } = await newest.get('/metrics/slis')
  assert.match(text, /^kubernetes_healthcheck\{name="ping",type="readyz"\} 1$/m)
  assert.doesNotMatch((await newest.get('/metrics')).text, /kubernetes_healthcheck/)
})

test('only users with permission can read the diagnostic pages', async () => {
  for (const path of ['/metrics/slis']) assert.equal((await nobody.get(path)).status, 403, path)
})

test('each version lists and serves its own diagnostic pages', async (t) => {
  const older = (await serve(t, ['--emulated-version=1.23'])).client()
  for (const path of ['/metrics/slis']) {
    assert.equal((await older.get(path)).status, 404, path)
    assert.ok(!(await older.get('/')).body.paths.includes(path), path)
    assert.ok((await newest.get('/')).body.paths.includes(path), path)
  }
})

test('CBOR is neither produced nor accepted', async () => {
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const get = async (path: string, accept: string) => (await newest.send(path, { headers: { accept } })).status
  for (const path of [configMaps, '/api/v1', '/apis', `${configMaps}?watch=1&timeoutSeconds=1`])
    assert.equal(await get(path, 'application/cbor'), 406, path)
  assert.equal(await get(configMaps, 'application/cbor-seq'), 406)
  assert.equal(await get(configMaps, 'application/cbor,application/json'), 200)
  const write = async (method: string, path: string, type: string) =>
    (await newest.send(path, { method, raw: '\xa0', headers: { 'content-type': type } })).status
  assert.equal(await write('POST', configMaps, 'application/cbor'), 415)
  assert.equal(await write('PUT', `${configMaps}/a`, 'application/cbor'), 415)
  assert.equal(await write('DELETE', `${configMaps}/a`, 'application/cbor'), 415)
  assert.equal(await write('PATCH', `${configMaps}/a?fieldManager=m`, 'application/apply-patch+cbor'), 415)
})
