/**
 * Tests the pages for monitoring and diagnosis other than `/metrics`. Also tests that no page or type uses the CBOR
 * media types.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const gates = 'ListFromCacheSnapshot=true'
const keys = '--service-account-jwks-uri=https://someone:hidden@keys.example.com/keys'
const server = await serve({ after }, ['--emulated-version=1.36', `--feature-gates=${gates}`, keys])
const newest = server.client()
const later = ['/metrics/slis', '/statusz', '/flagz']
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

const accepting = (type: string) => ({ headers: { accept: type } })
const objectType = (kind: string, version = 'v1beta1', media = 'application/json') =>
  `${media};g=config.orch.io;v=${version};as=${kind}`

test('/statusz describes the running program as text or as an object', async () => {
  for (const accept of ['', '*/*', 'text/plain', 'application/json, */*', `${objectType('Statusz', 'v2')},*/*`]) {
    const { status, text, headers } = await newest.send('/statusz', accepting(accept))
    assert.deepEqual([status, headers['content-type']], [200, 'text/plain; charset=utf-8'], accept)
    assert.match(text, /^kube-apiserver statusz\nWarning: /)
    assert.match(text, /\nUp: 0 hr \d\d min \d\d sec\n/)
    assert.match(text, /\nEmulation version: 1\.36\n/)
    assert.match(text, /\nPaths: \/flagz \/healthz \/livez \/metrics \/readyz \/statusz \/version\n$/)
  }
  const { body, headers } = await newest.send('/statusz', accepting(objectType('Statusz')))
  const { startTime, uptimeSeconds, binaryVersion, ...others } = body
  assert.equal(headers['content-type'], 'application/json')
  assert.ok(Math.abs(Date.parse(startTime) + uptimeSeconds * 1000 - Date.now()) < 10_000)
  assert.match(binaryVersion, /^1\.36\.\d+\+orch\./)
  assert.deepEqual(others, {
    kind: 'Statusz',
    apiVersion: 'config.orch.io/v1beta1',
    metadata: { name: 'kube-apiserver' },
    goVersion: 'none',
    emulationVersion: '1.36',
    minimumCompatibilityVersion: '1.35',
    paths: ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version'],
  })
})

test('/flagz shows the flags as text or as an object', async () => {
  const { text } = await newest.get('/flagz')
  for (const line of ['emulated-version=1.36', 'request-timeout=1m0s', `feature-gates=${gates}`])
    assert.ok(text.includes(`\n${line}\n`), line)
  assert.match(text, /^service-account-jwks-uri=https:\/\/\*{3}@keys\.example\.com\/keys$/m)
  const { body } = await newest.send('/flagz', accepting(objectType('Flagz')))
  assert.deepEqual(
    [body.kind, body.metadata, body.flags['emulated-version']],
    ['Flagz', { name: 'kube-apiserver' }, '1.36'],
  )
  assert.deepEqual([body.flags['audit-log-maxage'], body.flags['audit-log-maxbackup']], ['366', '100'])
  const yaml = await newest.send('/flagz', accepting(objectType('Flagz', 'v1beta1', 'application/yaml')))
  assert.match(yaml.text, /^ {2}request-timeout: 1m0s$/m)
  const older = await newest.send('/flagz', accepting(objectType('Flagz', 'v1alpha1')))
  assert.deepEqual([older.body.apiVersion, older.headers.warning !== undefined], ['config.orch.io/v1alpha1', true])
})

test('the diagnostic pages reject unsupported methods and media types', async () => {
  for (const type of ['application/json', 'application/cbor', 'application/xml', objectType('Flagz', 'v1')])
    assert.equal((await newest.send('/flagz', accepting(type))).status, 406, type)
  assert.equal((await newest.send('/statusz', accepting(objectType('Flagz')))).status, 406)
  for (const method of ['POST', 'PUT', 'DELETE']) assert.equal((await newest.send('/statusz', { method })).status, 405)
  assert.equal((await newest.get('/flagz/')).status, 404)
})

test('only users with permission can read the diagnostic pages', async () => {
  for (const path of later) assert.equal((await nobody.get(path)).status, 403, path)
})

test('each Kubernetes version lists and serves its own diagnostic pages', async (t) => {
  const older = (await serve(t, ['--emulated-version=1.23'])).client()
  for (const path of later) {
    assert.equal((await older.get(path)).status, 404, path)
    assert.ok(!(await older.get('/')).body.paths.includes(path), path)
    assert.ok((await newest.get('/')).body.paths.includes(path), path)
  }
})

test('feature gates disable the diagnostic pages', async (t) => {
  const client = (await serve(t, ['--emulated-version=1.36', '--feature-gates=ComponentFlagz=false'])).client()
  assert.deepEqual([(await client.get('/flagz')).status, (await client.get('/statusz')).status], [404, 200])
})

test('the diagnostic pages neither produce nor accept CBOR', async () => {
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
