/**
 * Tests connections to pods, nodes and services. The required permission depends on the method, admission plugins are
 * called, and rejections name what is missing. The tests cover plain requests and protocol upgrades.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { connectOptions } from '../../../src/apiserver/http/request/connect-options.ts'
import { type ResourceInfo, readRequest } from '../../../src/apiserver/http/request/request-info.ts'
import type { ForwardRequest } from '../../../src/apiserver/outbound/proxy-target.ts'
import { podConnections } from '../../../src/apiserver/resources/pod-connections.ts'
import { serviceConnections } from '../../../src/apiserver/resources/service-connections.ts'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'
import { openSession, sendHead } from '../../support/raw-http.ts'
import { startWithFew } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const server = await serve({ after })
const client = server.client()
await giveAccount(client)
const core = '/api/v1'
const pods = `${core}/namespaces/default/pods`
const services = `${core}/namespaces/default/services`

const pod = (name: string, containers: readonly string[], nodeName?: string) => ({
  metadata: { name },
  spec: { containers: containers.map((one) => ({ name: one, image: 'i' })), ...(nodeName ? { nodeName } : {}) },
})
for (const made of [pod('one', ['c']), pod('two', ['c', 'd']), pod('bound', ['c'], 'n'), pod('lost', ['c'], 'gone')])
  assert.equal((await client.post(pods, made)).status, 201)
await client.post(`${core}/nodes`, { metadata: { name: 'n' } })
await client.put(`${pods}/bound/status`, {
  metadata: { name: 'bound' },
  status: { phase: 'Running', podIP: '127.0.0.9', podIPs: [{ ip: '127.0.0.9' }] },
})
for (const name of ['empty', 'full'])
  await client.post(services, { metadata: { name }, spec: { ports: [{ port: 80 }] } })
const endpoints = async (name: string, subsets: readonly object[]) =>
  await client.post(`${core}/namespaces/default/endpoints`, { metadata: { name }, subsets })
const targetRef = { kind: 'Pod', namespace: 'default', name: 'bound' }
await endpoints('full', [{ addresses: [{ ip: '10.0.0.9', targetRef }], ports: [{ port: 80 }] }])
await endpoints('stray', [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ port: 80 }] }])
await endpoints('none-yet', [])

const answers: readonly (readonly [method: string, path: string, status: number, told: RegExp])[] = [
  ['POST', `${pods}/two/exec?command=x`, 400, /container name must be specified/],
  ['POST', `${pods}/two/exec?command=x&container=z`, 400, /container z is not valid/],
  ['POST', `${pods}/two/exec?command=x&container=d`, 400, /does not have a host/],
  ['GET', `${pods}/none/exec?command=x`, 404, /pods "none" not found/],
  ['GET', `${pods}/one/attach?stdout=true`, 400, /does not have a host/],
  ['POST', `${pods}/one/portforward?ports=80`, 400, /does not have a host/],
  ['POST', `${pods}/one/portforward?ports=many`, 400, /ports must be a whole number/],
  ['POST', `${pods}/bound/exec?command=x`, 400, /Upgrade request required/],
  ['POST', `${pods}/lost/exec?command=x`, 404, /nodes "gone" not found/],
  ['GET', `${pods}/one/proxy`, 400, /address not allowed/],
  ['GET', `${pods}/bound/proxy`, 400, /address not allowed/],
  ['DELETE', `${pods}/https:bound:8443/proxy/a/b?c=d`, 400, /address not allowed/],
  ['PUT', `${pods}/ftp:bound:1/proxy`, 400, /invalid pod request/],
  ['PATCH', `${pods}/none:80/proxy/`, 404, /pods "none" not found/],
  ['POST', `${core}/nodes/n:10250/proxy/stats/summary`, 500, /agent on node "n": no preferred addresses/],
  ['GET', `${core}/nodes/other/proxy`, 404, /nodes "other" not found/],
  ['GET', `${services}/none/proxy`, 404, /services "none" not found/],
  ['GET', `${services}/none:80/proxy`, 404, /services "none" not found/],
  ['GET', `${services}/http:empty:80/proxy/x`, 404, /services "empty" not found/],
  ['GET', `${services}/empty:81/proxy/x`, 503, /no service port 81 found for service "empty"/],
  ['GET', `${services}/none-yet/proxy`, 503, /no endpoints available for service "none-yet"/],
  ['GET', `${services}/full:other/proxy`, 503, /no endpoints available for service "full:other"/],
  // The server does not connect to the address, because the address never belonged to the pod or no longer belongs to
  // it.
  ['GET', `${services}/stray/proxy`, 503, /no endpoints available for service "stray"/],
  ['GET', `${services}/full:80/proxy`, 503, /no endpoints available for service "full:80"/],
]

test('the error for a rejected connect request names the missing parameter or object', async () => {
  for (const [method, path, status, expected] of answers) {
    const answer = await client.send(path, { method, raw: 'anything at all', headers: { accept: 'image/png' } })
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    assert.deepEqual([answer.body.kind, answer.headers['retry-after']], ['Status', undefined])
    assert.match(answer.body.message, expected, `${method} ${path}`)
  }
  const missing = await client.get(`${services}/none/proxy`)
  assert.deepEqual(missing.body.details, { name: 'none', kind: 'services' })
  // Client errors are not logged as server errors.
  assert.match(server.output(), /warning request failed with status 503 .*services\/none-yet\/proxy/)
  assert.doesNotMatch(server.output(), /error request failed .*\/proxy/)
  const log = await client.get(`${pods}/bound/log`)
  assert.deepEqual([log.status, log.body.reason], [500, 'InternalError'])
})

test('only proxy subresources have subpaths, and unsupported methods of a subresource are rejected', async () => {
  for (const [method, path, status] of [
    ['GET', `${pods}/one/exec/more`, 404],
    ['GET', `${pods}/one/status/more`, 404],
    ['GET', `${pods}/one/log/more`, 404],
    ['PUT', `${pods}/one/exec`, 405],
    ['DELETE', `${pods}/one/portforward`, 405],
    ['GET', `${core}/nodes/n/exec`, 404],
  ] as const)
    assert.equal((await client.send(path, { method })).status, status, `${method} ${path}`)
})

test('each HTTP method on a connect subresource requires the corresponding verb', async () => {
  const bob = server.client('bob-token')
  for (const [method, path, verb, what] of [
    ['POST', `${pods}/one/exec`, 'create', 'pods/exec'],
    ['GET', `${pods}/one/exec`, 'get', 'pods/exec'],
    ['DELETE', `${pods}/one/proxy/a/b`, 'delete', 'pods/proxy'],
    ['PUT', `${core}/nodes/n/proxy/a`, 'update', 'nodes/proxy'],
  ] as const) {
    const { status, body } = await bob.send(path, { method })
    assert.equal(status, 403)
    assert.match(body.message, new RegExp(`cannot ${verb} resource "${what}"`))
  }
})

test('admission of a connect request runs before the object is looked up', async (t) => {
  const denying = (await serve(t, ['--enable-admission-plugins=AlwaysDeny'])).client()
  for (const path of [`${pods}/none/exec`, `${pods}/none/proxy/x`, `${core}/nodes/none/proxy`])
    assert.equal((await denying.get(path)).status, 403, path)
  assert.equal((await denying.get(`${pods}/none/log`)).status, 404)
})

test('a rejected upgrade request gets an ordinary Status response and does not hang', async () => {
  const upgrades = [
    [
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Protocol: v4.channel.k8s.io',
    ],
    ['Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v4.channel.k8s.io'],
  ]
  for (const headers of upgrades)
    for (const [method, path, status] of [
      ['GET', `${pods}/one/exec?command=x`, 400],
      ['POST', `${pods}/bound/exec?command=x`, 500],
      ['POST', `${pods}/one/portforward`, 400],
      ['GET', `${pods}/bound/proxy/ws`, 400],
    ] as const) {
      const lines = [
        `${method} ${path} HTTP/1.1`,
        'Authorization: Bearer admin-token',
        'Connection: Upgrade',
        ...headers,
      ]
      const answer = await sendHead(server, method === 'POST' ? [...lines, 'Content-Length: 0'] : lines)
      assert.equal(answer.status, status, `${lines.join(', ')}: ${answer.text}`)
      assert.match(answer.text, /"kind":\s*"Status"/)
    }
})

test('discovery reports the options kind of each connect subresource, such as PodExecOptions', async () => {
  const { body } = await client.get(core)
  const kinds = Object.fromEntries(
    body.resources.map(({ name, kind, verbs }: { name: string; kind: string; verbs: string[] }) => [
      name,
      [kind, verbs],
    ]),
  )
  assert.deepEqual(kinds['pods/exec'], ['PodExecOptions', ['create', 'get']])
  assert.deepEqual(kinds['nodes/proxy'], ['NodeProxyOptions', ['create', 'delete', 'get', 'patch', 'update']])
  assert.deepEqual(kinds['services/proxy'][0], 'ServiceProxyOptions')
})

test('connect options for admission are decoded from the query', () => {
  const { connects: exec } = podConnections(undefined as never, undefined as never, new Set()).find(
    ({ subresource }) => subresource === 'exec',
  )!
  const { connects: proxy } = podConnections(undefined as never, undefined as never, new Set()).find(
    ({ subresource }) => subresource === 'proxy',
  )!
  const read = (rest: string) => readRequest('POST', `${pods}/p/${rest}`) as ResourceInfo
  assert.deepEqual(connectOptions(exec!, read('exec?command=a&command=b&tty=1&stdin=false&other=x')), {
    apiVersion: 'v1',
    kind: 'PodExecOptions',
    metadata: {},
    command: ['a', 'b'],
    tty: true,
    stdin: false,
  })
  assert.equal(connectOptions(proxy!, read('proxy/a/b?x=y')).path, '/a/b')
  assert.equal(connectOptions(proxy!, read('proxy')).path, '/')
})

/** Starts a plain HTTP server behind the proxies. It responds to `/hang` only when the test ends the response. */
async function startBackend(t: TestContext) {
  const hanging: ServerResponse[] = []
  const backend = createServer(({ url }, response) => {
    if (url === '/hang') hanging.push(response)
    else response.end('ok')
  })
  backend.listen(0, '127.0.0.1')
  await once(backend, 'listening')
  t.after(() => {
    backend.closeAllConnections()
    backend.close()
  })
  return { hanging, port: (backend.address() as AddressInfo).port }
}

test('proxied requests are limited per pod or node, regardless of how the name is spelled', {
  timeout: 300_000,
}, async (t) => {
  const { hanging, port } = await startBackend(t)
  // A server that may open 512 files proxies at most 64 concurrent requests to one object.
  const limited = await startWithFew(t, 512, ['--allowed-proxy-cidrs=127.0.0.1/32', '--max-connections=100'])
  const admin = limited.client()
  await giveAccount(admin)
  const address = { ip: '127.0.0.1' }
  for (const name of ['web', 'other']) {
    const spec = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }] }
    await admin.post(pods, { metadata: { name }, spec })
    const status = { phase: 'Running', podIP: address.ip, podIPs: [address] }
    await admin.put(`${pods}/${name}/status`, { metadata: { name }, status })
    const node = { metadata: { name }, status: { addresses: [{ type: 'InternalIP', address: address.ip }] } }
    assert.equal((await admin.post(`${core}/nodes`, node)).status, 201)
  }
  const session = openSession(limited)
  t.after(() => session.destroy())
  const authorization = 'Bearer admin-token'
  const targets = [
    [pods, ['web', `web:${port}`, `:web:${port}`, `http:web:${port}`, `%77eb:${port}`], `other:${port}`],
    [`${core}/nodes`, [`web:${port}`, `:web:${port}`, `http:web:${port}`, `%77eb:${port}`], `other:${port}`],
  ] as const
  for (const [collection, spellings, other] of targets) {
    const now = async (name: string) => {
      const { status, text } = await admin.get(`${collection}/${name}/proxy/now`)
      return `${name}: ${status === 200 ? text : status}`
    }
    for (let i = 0; i < 64; i++) {
      const path = `${collection}/${spellings[i % spellings.length]}/proxy/hang`
      session
        .request({ ':path': path, authorization })
        .on('error', () => {})
        .resume()
    }
    await until(
      async () => hanging.length,
      (count) => count === 64,
    )
    for (const name of spellings) assert.equal(await now(name), `${name}: 429`, collection)
    assert.equal(await now(other), `${other}: ok`, collection)
    for (const response of hanging.splice(0)) response.end()
    for (const name of spellings)
      await until(
        () => now(name),
        (answer) => answer === `${name}: ok`,
      )
  }
})

test('proxied requests are counted per Service, regardless of how the name is spelled', async () => {
  const ip = '192.0.2.1'
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'p' }
  const stored: { readonly [plural: string]: object } = {
    services: { spec: { ports: [{ name: 'http', port: 80 }] } },
    endpoints: { subsets: [{ addresses: [{ ip, targetRef }], ports: [{ name: 'http', port: 8080 }] }] },
    pods: { metadata: targetRef, status: { podIPs: [{ ip }] } },
  }
  // Endpoints must not contain addresses of this machine, so this test cannot send requests through a Service.
  const find = ({ plural }: { plural: string }) => ({ object: stored[plural] })
  const [endpoint] = serviceConnections({ getLatest: find, getCached: find } as never, {} as never)
  const countedAs = async (namespace: string, name: string) => {
    const path = `${core}/namespaces/${namespace}/services/${name}/proxy/x`
    const answer = await endpoint!.answer({ namespace, name, path, below: '/x' } as never)
    return (answer as ForwardRequest).target.to
  }
  for (const name of ['web:80', 'web:http', ':web:80', 'http:web:80', 'https:web:http'])
    assert.equal(await countedAs('default', name), 'service default/web', name)
  assert.equal(await countedAs('default', 'other:80'), 'service default/other')
})
