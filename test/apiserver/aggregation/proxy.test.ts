/**
 * Tests requests that are forwarded to an aggregated API server, which runs in another process and trusts only the
 * front proxy.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { AggregatedServer, giveService } from '../../support/aggregated.ts'
import { serve } from '../../support/in-process.ts'
import { sendHttp2 } from '../../support/raw-http.ts'
import { until, untilTrue } from '../../support/until.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const tracing = join(directory, 'tracing.yaml')
const kind = 'apiVersion: apiserver.config.orch.io/v1alpha1\nkind: TracingConfiguration\n'
// Enable tracing, with a collector that does not exist.
writeFileSync(tracing, `${kind}endpoint: 127.0.0.1:1\n`)

const server = await serve({ after }, ['--authorization-mode=RBAC', `--tracing-config-file=${tracing}`])
const client = server.client()
const services = '/apis/apiregistration.orch.io/v1/apiservices'
const configMap = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const root = '/apis/a.example.com/v1'

const trust = await until(
  () => client.get(configMap),
  ({ status }) => status === 200,
)
const authority: string = trust.body.data['requestheader-client-ca-file']
const backend = await AggregatedServer.start({ after }, { authority })
await giveService(client)
assert.equal((await client.post(services, backend.apiService())).status, 201)
await isAvailable('Passed')

async function condition(name = 'v1.a.example.com') {
  const { body } = await client.get(`${services}/${name}`)
  return (body.status?.conditions ?? []).find(({ type }: { type: string }) => type === 'Available') ?? {}
}

async function isAvailable(reason: string): Promise<void> {
  await until(condition, (found) => found.reason === reason)
}

/** Sends a request and returns it as received by the backend. */
async function echo(headers: { [name: string]: string } = {}, asked = client) {
  const { body, status, text } = await asked.get(`${root}/echo`, headers)
  assert.equal(status, 200, text)
  return body as { method: string; url: string; headers: string[]; text: string }
}

function valuesOf(headers: readonly string[], expected: string): string[] {
  return headers.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase() === expected ? [headers[i + 1]!] : []))
}

test('the extension-apiserver-authentication ConfigMap tells backends how to authenticate the front proxy', async () => {
  const { data } = trust.body
  const lists = Object.entries<string>(data).filter(([name]) => !name.endsWith('ca-file'))
  assert.deepEqual(Object.fromEntries(lists.map(([name, text]) => [name, JSON.parse(text)])), {
    'requestheader-username-headers': ['X-Remote-User'],
    'requestheader-group-headers': ['X-Remote-Group'],
    'requestheader-extra-headers-prefix': ['X-Remote-Extra-'],
    'requestheader-allowed-names': ['front-proxy-client'],
  })
  assert.equal(data['client-ca-file'], readFileSync(join(server.directory, 'data/pki/ca.crt'), 'utf8'))
  assert.notEqual(authority, data['client-ca-file'])
  assert.equal(backend.calls.at(-1)?.certificate, 'front-proxy-client')
})

test('the extension-apiserver-authentication ConfigMap is recreated after deletion and keeps values from other servers', async () => {
  await client.delete(configMap)
  await until(
    () => client.get(configMap),
    ({ status }) => status === 200,
  )
  const { body } = await client.get(configMap)
  const others = { ...body.data, 'requestheader-allowed-names': '["other"]', 'requestheader-client-ca-file': 'none' }
  await client.put(configMap, { ...body, data: others })
  const names = async () => (await client.get(configMap)).body.data['requestheader-allowed-names']
  await until(names, (text) => text === '["front-proxy-client","other"]')
  assert.equal((await client.get(configMap)).body.data['requestheader-client-ca-file'], authority)
})

test('a backend receives the trace context, and a recorded span of the server is the parent', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const span = '00f067aa0ba902b7'
  const told = async (flags: string, state: string) => {
    const { headers } = await echo({ traceparent: `00-${trace}-${span}-${flags}`, tracestate: state })
    return [valuesOf(headers, 'traceparent'), valuesOf(headers, 'tracestate')]
  }
  const [[parent, ...more], state] = (await told('01', 'a=1')) as [string[], string[]]
  assert.match(parent!, new RegExp(`^00-${trace}-(?!${span})[0-9a-f]{16}-01$`))
  assert.deepEqual([more, state], [[], ['a=1']])
  assert.deepEqual(await told('00', 'a=1'), [[`00-${trace}-${span}-00`], ['a=1']])
})

test('the server forwards the user in trusted headers, and removes the user headers and credentials that the client sent', async () => {
  const hostile = {
    'x-remote-user': 'root',
    'X-Remote-Group': 'system:masters',
    'x-remote-extra-a': 'b',
    X_Remote_User: 'root',
    'x-remote-uid': '0',
    cookie: 'session=1',
    'x-forwarded-for': '1.2.3.4',
    connection: 'X-Remote-User, x-kept-not',
    'x-kept-not': '1',
    'x-kept': '1',
  }
  const { headers, url, method } = await echo(hostile)
  assert.deepEqual([method, url], ['GET', `${root}/echo`])
  assert.deepEqual(valuesOf(headers, 'x-remote-user'), ['admin'])
  assert.deepEqual(valuesOf(headers, 'x-remote-group'), ['system:masters', 'system:authenticated'])
  assert.deepEqual(valuesOf(headers, 'x-forwarded-for'), ['1.2.3.4, 127.0.0.1'])
  assert.deepEqual(valuesOf(headers, 'x-kept'), ['1'])
  assert.deepEqual(valuesOf(headers, 'host'), [`backend.apis.svc:${backend.port}`])
  const gone = ['authorization', 'cookie', 'x_remote_user', 'x-remote-uid', 'x-remote-extra-a', 'x-kept-not']
  for (const name of gone) assert.deepEqual(valuesOf(headers, name), [], name)
})

test('for an impersonated request, the impersonated user is forwarded', async () => {
  const utf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
  const { headers } = await echo({
    'impersonate-user': utf8('zoé'),
    'impersonate-group': 'system:masters',
    'impersonate-extra-acme.com%2fproject': 'p 1',
  })
  assert.deepEqual(valuesOf(headers, 'x-remote-user'), [utf8('zoé')])
  assert.deepEqual(valuesOf(headers, 'x-remote-group'), ['system:masters', 'system:authenticated'])
  assert.deepEqual(valuesOf(headers, 'x-remote-extra-acme.com%2fproject'), ['p 1'])
  assert.ok(!headers.some((name, i) => i % 2 === 0 && /^impersonate/i.test(name)))
})

test('unauthorized requests are rejected before they reach the backend', async () => {
  backend.calls.length = 0
  const alice = server.client('alice-token')
  for (const asked of [`${root}/echo`, `${root}/namespaces/n/things`])
    assert.equal((await alice.get(asked)).status, 403)
  assert.equal((await alice.send(`${root}/namespaces/n/things`, { method: 'POST', body: {} })).status, 403)
  assert.equal((await server.client('wrong-token').get(`${root}/echo`)).status, 401)
  assert.deepEqual(backend.receivedCalls(), [])
  const role = { rules: [{ apiGroups: ['a.example.com'], resources: ['things'], verbs: ['list'] }] }
  const rbac = '/apis/rbac.authorization.orch.io/v1/clusterrole'
  await client.post(`${rbac}s`, { metadata: { name: 'things' }, ...role })
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'things' }
  const subjects = [{ kind: 'User', name: 'alice' }]
  await client.post(`${rbac}bindings`, { metadata: { name: 'things' }, roleRef, subjects })
  await until(
    () => alice.get(`${root}/namespaces/n/things`),
    ({ status }) => status === 200,
  )
  assert.equal((await alice.get(`${root}/namespaces/n/things/a`)).status, 403)
})

test('request bodies are forwarded unchanged with all methods, over HTTP/1.1 and HTTP/2', async () => {
  const raw = `{"a":"${'x'.repeat(400_000)}"}`
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { body } = await client.send(`${root}/echo?a=b%20c`, { method, raw })
    assert.deepEqual([body.method, body.url, body.text === raw], [method, `${root}/echo?a=b%20c`, true])
  }
  const head = { ':method': 'POST', ':path': `${root}/echo`, authorization: 'Bearer admin-token' }
  const { status, text } = await sendHttp2(server, head, ['{"h":', '2}'])
  assert.deepEqual([status, JSON.parse(text).text], [200, '{"h":2}'])
  const empty = await sendHttp2(server, { ...head, ':method': 'DELETE' }, [''])
  assert.deepEqual([empty.status, JSON.parse(empty.text).text], [200, ''])
  const none = await client.send(`${root}/echo`, { method: 'DELETE' })
  assert.deepEqual([none.body.text, valuesOf(none.body.headers, 'content-length')], ['', ['0']])
  assert.equal((await client.send(`${root}/echo`, { method: 'HEAD' })).status, 200)
})

test('only the backend response headers that describe the body are forwarded', async () => {
  const { status, headers } = await client.get(`${root}/made`)
  assert.equal(status, 201)
  assert.deepEqual([headers.location, headers.etag, headers.warning], ['/apis/x', '"kept"', '299 - "one", 299 - "two"'])
  for (const name of ['set-cookie', 'alt-svc', 'x-hop', 'x-other']) assert.equal(headers[name], undefined, name)
  assert.notEqual(headers['audit-id'], undefined)
})

test('a watch on a backend is streamed to the client and ends when the client disconnects', async () => {
  const leaving = new AbortController()
  const events = client.watch(`${root}/watched?watch=1`, leaving.signal)
  const next = events.next()
  await untilTrue(async () => backend.calls.some(({ url }) => url.includes('watched')))
  for (let i = 0; i < 3; i++) {
    backend.emit({ type: 'ADDED', object: { i } })
    const { value } = i === 0 ? await next : await events.next()
    assert.deepEqual(value.object, { i })
  }
  leaving.abort()
  for await (const _ of events);
})

test('discovery lists the aggregated group in priority order, and the backend describes the version', async () => {
  const { groups } = (await client.get('/apis')).body as { groups: { name: string }[] }
  const names = groups.map(({ name }) => name)
  assert.equal(names.at(-1), 'a.example.com')
  assert.deepEqual((await client.get('/apis/a.example.com')).body, {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'a.example.com',
    versions: [{ groupVersion: 'a.example.com/v1', version: 'v1' }],
    preferredVersion: { groupVersion: 'a.example.com/v1', version: 'v1' },
  })
  assert.equal((await client.get(root)).body.resources[0].kind, 'Thing')
  assert.ok((await client.get('/')).body.paths.includes(root))
  const { body } = await client.get(`${services}/v1.a.example.com`)
  const spec = { ...body.spec, groupPriorityMinimum: 20_000 }
  assert.equal((await client.put(`${services}/v1.a.example.com`, { ...body, spec })).status, 200)
  const second = async () => ((await client.get('/apis')).body as { groups: { name: string }[] }).groups[1]?.name
  await until(second, (name) => name === 'a.example.com')
})

test('built-in versions are served locally even if their APIService specifies a backend', async () => {
  const { body } = await client.get(`${services}/v1.apps`)
  const service = { namespace: 'apis', name: 'backend', port: backend.port }
  const spec = { ...body.spec, service, caBundle: backend.caBundle }
  assert.equal((await client.put(`${services}/v1.apps`, { ...body, spec })).status, 200)
  await until(
    () => condition('v1.apps'),
    ({ reason }) => reason === 'BuiltIn',
  )
  assert.equal((await client.get('/apis/apps/v1/deployments')).body.kind, 'DeploymentList')
  const now = (await client.get(`${services}/v1.apps`)).body
  await client.put(`${services}/v1.apps`, { ...now, spec: body.spec })
  await until(
    () => condition('v1.apps'),
    ({ reason }) => reason === 'Local',
  )
})

test('an unavailable backend returns 503 until it recovers, and other requests are unaffected', async () => {
  await backend.stop()
  const dead = await client.get(`${root}/echo`)
  assert.deepEqual([dead.status, dead.body.reason], [503, 'ServiceUnavailable'])
  assert.match(dead.body.message, /cannot reach the backend of the APIService "v1\.a\.example\.com": .*refused|cut/)
  assert.equal(dead.headers['retry-after'], undefined)
  await isAvailable('FailedDiscoveryCheck')
  assert.equal((await condition()).status, 'False')
  assert.equal((await client.get(`${root}/echo`)).status, 503)
  assert.equal((await client.get('/apis/apps/v1/deployments')).status, 200)
  assert.ok((await client.get('/apis')).body.groups.length > 10)
  await backend.start()
  await isAvailable('Passed')
  await echo()
})

test('the APIService status reports why a backend is unreachable', async () => {
  const place = { ...backend.apiService(), metadata: { name: 'v1.b.example.com' } } as {
    metadata: object
    spec: object
  }
  const make = (service: object) => ({
    ...place,
    spec: { ...place.spec, group: 'b.example.com', service, caBundle: backend.caBundle },
  })
  const at = '/api/v1/namespaces/apis'
  const is = (reason: string) =>
    until(
      () => condition('v1.b.example.com'),
      (found) => found.reason === reason && found.status === 'False',
    )
  await client.post(services, make({ namespace: 'apis', name: 'nowhere', port: 443 }))
  await is('ServiceNotFound')
  const ports = [{ name: 'https', port: 444 }]
  await client.post(`${at}/services`, { metadata: { name: 'nowhere' }, spec: { clusterIP: 'None', ports } })
  await is('ServicePortError')
  const spec = { clusterIP: 'None', ports: [{ name: 'https', port: 443 }] }
  const { body } = await client.get(`${at}/services/nowhere`)
  await client.put(`${at}/services/nowhere`, { ...body, spec: { ...body.spec, ...spec } })
  await is('EndpointsNotFound')
  await client.post(`${at}/endpoints`, { metadata: { name: 'nowhere' }, subsets: [] })
  await is('MissingEndpoints')
  const refused = await client.get('/apis/b.example.com/v1/things')
  assert.deepEqual([refused.status, /no ready address/.test(refused.body.message)], [503, true])
  await client.delete(`${services}/v1.b.example.com`)
  assert.equal((await client.get('/apis/b.example.com/v1/things')).status, 404)
})

test('a backend certificate from another CA or for another name is rejected', async () => {
  const other = await AggregatedServer.start(
    { after },
    { group: 'c.example.com', names: { dns: ['other.apis.svc'], ips: [] } },
  )
  const path = `${services}/v1.c.example.com`
  const asked = '/apis/c.example.com/v1/echo'
  await client.post(services, other.apiService())
  const badName = await client.get(asked)
  assert.match(badName.body.message, /certificate is not valid for backend\.apis\.svc/)
  await client.delete(path)
  await client.post(services, other.apiService({ caBundle: backend.caBundle }))
  const badAuthority = await client.get(asked)
  assert.match(badAuthority.body.message, /signed by unknown authority/)
  assert.deepEqual(other.receivedCalls(), [])
  await client.delete(path)
  await client.post(services, other.apiService({ caBundle: undefined, insecureSkipTLSVerify: true }))
  await until(
    () => client.get(asked),
    ({ status }) => status === 200,
  )
  await client.delete(path)
})

test("OpenAPI v2 and v3 include the backend's own types but not its definitions of other types", async () => {
  const place = '/apis/a.example.com/v1/namespaces/{namespace}/things'
  const published = await until(
    async () => (await client.get('/openapi/v2')).body,
    ({ paths }) => paths[place] !== undefined,
  )
  assert.equal(published.definitions['com.example.a.v1.Thing'].properties.size.type, 'integer')
  assert.notEqual(published.paths['/apis/apps/v1/deployments'].get.operationId, 'mine')
  const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
  assert.match((await client.get('/openapi/v2', { accept: type })).text, /How large it is\./)
  const index = (await client.get('/openapi/v3')).body.paths
  assert.equal(index['apis/a.example.com/v1'].serverRelativeURL, '/openapi/v3/apis/a.example.com/v1?hash=AB')
  assert.equal((await client.get('/openapi/v3/apis/a.example.com/v1?hash=AB')).body.info.title, 'things')
})
