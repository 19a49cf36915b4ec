/**
 * Tests the server and the node port with clients other than kubectl: WebSockets, permissions, rejections, forbidden
 * node addresses, and tunnels that end when the server stops.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { selfSignedCertificate } from '../../../src/api/pki/self-signed-certificate.ts'
import { requestHeaders } from '../../../src/apiserver/http/relay/forwarded-headers.ts'
import { localNode } from '../../../src/cluster/node-port/local-nodes.ts'
import { HttpClient } from '../../support/http-client.ts'
import { issuePair } from '../../support/issued-pair.ts'
import { reachedNode } from '../../support/reached-node.ts'
import { SpdyClient } from '../../support/spdy-client.ts'
import { soon } from '../../support/until.ts'

const reached = await reachedNode({ after })
const { api, node, port, addPod } = reached
const { client } = api
const pod = await addPod('web', ['c', 'd'])
const pods = '/api/v1/namespaces/default/pods'
const container = pod.container('c')!
container.last.append(1_700_000_000_000, 'one\ntwo\nthree')
writeFileSync(join(api.directory, 'ca.crt'), api.ca)

interface Answer {
  readonly status: number
  readonly text: string
}

interface Asked {
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  readonly servername?: string
}

/** Sends a request to the given port, which belongs to the node or to the server. */
async function ask(to: number, path: string, { method = 'GET', headers = {}, servername = 'n1' }: Asked = {}) {
  const asked = request({ host: '127.0.0.1', port: to, path, method, headers, servername, ca: api.ca, agent: false })
  asked.end()
  const [response] = await once(asked, 'response')
  const text = (await response.toArray()).join('')
  return { status: response.statusCode, text } as Answer
}

const adminToken = { authorization: 'Bearer admin-token' }

test('a node serves only users that the API server authenticates and authorizes', async () => {
  const bob = { authorization: 'Bearer bob-token' }
  for (const path of ['/pods', '/healthz', '/exec/default/web/c', '/nothing']) {
    assert.equal((await ask(port, path)).status, 401, path)
    assert.equal((await ask(port, path, { headers: { authorization: 'Bearer unknown' } })).status, 401)
    assert.match((await ask(port, path, { headers: bob })).text, /Forbidden \(user=bob, verb=get, .*nodes, .*=proxy\)/)
  }
  assert.equal((await ask(port, '/healthz', { headers: adminToken })).text, 'ok')
  assert.match((await ask(port, '/pods', { headers: adminToken })).text, /"PodList".*"web"/)
  assert.match((await ask(port, '/pods', { headers: adminToken, servername: '' })).text, /"PodList"/)
  const rows: readonly (readonly [string, string, number, RegExp])[] = [
    ['GET', '/exec/default/web/c?output=1&command=ls', 400, /missing upgrade headers/],
    ['GET', '/containerLogs/default/none/c', 404, /pod "none" does not exist/],
    ['GET', '/containerLogs/default/web/z', 404, /container "z" not found/],
    ['GET', '/containerLogs/default/web/c?tailLines=x', 422, /invalid/],
    ['GET', '/containerLogs/default/web/c?sinceTime=2023-11-14T22:13:20Z&tailLines=2&limitBytes=5', 200, /^two\nt$/],
    ['POST', '/run/default/web/c?cmd=echo%20hi', 200, /^hi\n$/],
    ['POST', '/run/default/web/c?cmd=false', 500, /exit code 1/],
    ['POST', `/run/default/web/${pod.uid}/c?cmd=true`, 200, /^$/],
    ['POST', '/run/default/web/another-uid/c?cmd=true', 404, /does not exist/],
    ['GET', '/%zz', 404, /not found/],
    // Permission for one subresource must not give access to another subresource through a different path.
    ['POST', '/stats/../run/default/web/c?cmd=echo%20hi', 400, /canonical form/],
    ['GET', '/metrics/%2e%2e/pods', 400, /canonical form/],
    ['GET', '//other/pods', 400, /canonical form/],
  ]
  for (const [method, path, status, text] of rows) {
    const answer = await ask(port, path, { method, headers: adminToken })
    assert.equal(answer.status, status, `${path}: ${answer.text}`)
    assert.match(answer.text, text, path)
  }
  await assert.rejects(ask(port, '/pods', { headers: adminToken, servername: 'n2' }))
})

test('a node rejects cross-origin exec requests from browsers', async () => {
  const path = '/run/default/web/c?cmd=true'
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }])
    assert.equal((await ask(port, path, { method: 'POST', headers: { ...adminToken, ...headers } })).status, 403)
  const own = { origin: `https://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' }
  assert.equal((await ask(port, path, { method: 'POST', headers: { ...adminToken, ...own } })).status, 200)
  const exec = '/exec/default/web/c?command=true&output=1'
  const upgrade = { ...adminToken, connection: 'Upgrade', upgrade: 'websocket', origin: 'https://evil.example' }
  assert.deepEqual((await ask(port, exec, { headers: upgrade })).status, 403)
})

test('the server forwards commands from same-origin pages and rejects commands from other pages', async () => {
  const run = async (origin: string) => {
    const headers = { ...adminToken, origin }
    return await ask(api.port, '/api/v1/nodes/n1/proxy/run/default/web/c?cmd=true', {
      method: 'POST',
      headers,
      servername: '',
    })
  }
  assert.equal((await run(`https://127.0.0.1:${api.port}`)).status, 200)
  assert.equal((await run('https://evil.example')).status, 403)
})

test('the server relays log options, requires a container name for a pod with two containers, and returns errors from the node', async () => {
  const log = (query: string) => client.get(`${pods}/web/log?${query}`)
  assert.equal((await log('container=c&tailLines=1')).text, 'three\n')
  assert.equal((await log('container=c&sinceTime=2030-01-01T00:00:00Z')).text, '')
  assert.match((await log('container=c')).headers['content-type'] as string, /^text\/plain/)
  assert.match((await log('')).body.message, /must be specified for pod web, choose one of: \[c d\]/)
  const none = await log('container=c&previous=true')
  assert.deepEqual([none.status, none.body.reason], [400, 'BadRequest'])
})

test('the container name may be omitted for a pod with one regular container, even if there are init containers', async () => {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], initContainers: [{ name: 'i', image: 'i' }] }
  await client.post(pods, { metadata: { name: 'prepared' }, spec })
  node.add('prepared', '1').container('c')!.last.append(1, 'of c')
  assert.equal((await client.get(`${pods}/prepared/log`)).text, 'of c\n')
})

async function webSocket(path: string, protocol: string, inputs: readonly string[] = [], token = 'admin-token') {
  const script = join(import.meta.dirname, '../../support/websocket-client.mjs')
  const url = `${api.server.url.replace('https', 'wss')}${path}`
  const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: join(api.directory, 'ca.crt') }
  const child = spawn(process.execPath, [script, url, protocol, token, JSON.stringify(inputs)], {
    env,
    timeout: 60_000,
  })
  const facts: { open?: string; message?: string; close?: number; error?: true }[] = []
  for await (const line of createInterface(child.stdout)) facts.push(JSON.parse(line))
  return facts
}

const status = (exit: number) =>
  exit === 0
    ? '{"metadata":{},"status":"Success"}'
    : `{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: exit status ${exit}","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"${exit}"}]}}`

test('exec over WebSocket supports binary and base64 channels, exit codes, terminal resizing and closing stdin', async () => {
  const path = (rest: string) => `${pods}/web/exec?container=c&stdout=true&${rest}`
  const echo = 'command=sh&command=-c&command=read%20a%3B%20echo%20got%20%24a%3B%20exit%204&stdin=true'
  const [binary, text, closing] = await Promise.all([
    webSocket(path(`${echo}&tty=true`), 'v4.channel.k8s.io', ['\u0004{"Width":80,"Height":24}', '\u0000you\n']),
    webSocket(path(echo), 'base64.channel.k8s.io', [`0${Buffer.from('me\n').toString('base64')}`]),
    webSocket(path('command=cat&stdin=true'), 'v5.channel.k8s.io', ['\u0000all', '\u00ff\u0000']),
  ])
  const begin = { message: '\u0001' }
  assert.deepEqual(binary, [
    { open: 'v4.channel.k8s.io' },
    begin,
    { message: '\u0001got you\n' },
    { message: `\u0003${status(4)}` },
    { close: 1000 },
  ])
  assert.deepEqual(container.sizes, ['80x24'])
  const failed = Buffer.from('command terminated with non-zero exit code: exit status 4').toString('base64')
  assert.deepEqual(text, [
    { open: 'base64.channel.k8s.io' },
    { message: '1' },
    { message: `1${Buffer.from('got me\n').toString('base64')}` },
    { message: `3${failed}` },
    { close: 1000 },
  ])
  assert.deepEqual(closing.slice(2), [{ message: '\u0001all' }, { message: `\u0003${status(0)}` }, { close: 1000 }])
})

test('a WebSocket can authenticate with a token subprotocol, which is not forwarded to nodes', async () => {
  const path = `${pods}/web/exec?container=c&stdout=true&command=echo&command=hi`
  const token = (text: string) => `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString('base64url')}`
  const attempt = (protocols: string, header = '') => webSocket(path, protocols, [], header)
  const [good, wrong, alone, twice, malformed] = await Promise.all([
    attempt(`v4.channel.k8s.io,${token('admin-token')}`),
    attempt(`v4.channel.k8s.io,${token('unknown')}`),
    attempt(token('admin-token')),
    attempt(`v4.channel.k8s.io,${token('admin-token')},${token('bob-token')}`),
    attempt(`v4.channel.k8s.io,${token('admin-token')}!`),
  ])
  assert.deepEqual(good.slice(0, 3), [{ open: 'v4.channel.k8s.io' }, { message: '\u0001' }, { message: '\u0001hi\n' }])
  for (const refused of [wrong, alone, twice, malformed]) assert.ok(refused.some(({ error }) => error))
  const passed = requestHeaders({
    rawHeaders: ['Sec-WebSocket-Protocol', `v4.channel.k8s.io, ${token('admin-token')}`],
    user: undefined,
    address: '127.0.0.1',
    identityHeaders: [],
    sendsUid: true,
    via: 'v',
    dropped: [],
    added: {},
  })
  assert.deepEqual(passed.slice(0, 2), ['Sec-WebSocket-Protocol', 'v4.channel.k8s.io'])
  const watch = await webSocket('/api/v1/namespaces?watch=1&timeoutSeconds=1', `${token('admin-token')},any`, [], '')
  assert.deepEqual(watch[0], { open: 'any' })
  const offered = { 'sec-websocket-protocol': `v4.channel.k8s.io,${token('admin-token')}` }
  const plain = await ask(api.port, '/api/v1/pods', { headers: offered, servername: '' })
  assert.notEqual(plain.status, 200)
})

test('a log over WebSocket is sent as bytes or base64 text after an empty message', async () => {
  const path = `${pods}/web/log?container=c`
  const [binary, plain, text, other, missing] = await Promise.all([
    webSocket(path, 'binary.k8s.io'),
    webSocket(path, ''),
    webSocket(path, 'base64.binary.k8s.io'),
    webSocket(path, 'v4.channel.k8s.io'),
    webSocket(`${pods}/missing/log`, 'binary.k8s.io'),
  ])
  const log = 'one\ntwo\nthree'
  const received = (facts: typeof binary) => facts.flatMap(({ message }) => message ?? [])
  for (const [facts, protocol] of [
    [binary, 'binary.k8s.io'],
    [plain, ''],
  ] as const) {
    assert.deepEqual([facts[0], facts[1], facts.at(-1)], [{ open: protocol }, { message: '' }, { close: 1000 }])
    assert.equal(received(facts).join('').trimEnd(), log)
  }
  assert.deepEqual(
    [text[0], text[1], text.at(-1)],
    [{ open: 'base64.binary.k8s.io' }, { message: '' }, { close: 1000 }],
  )
  const decoded = received(text).map((piece) => Buffer.from(piece, 'base64').toString('utf8'))
  assert.equal(decoded.join('').trimEnd(), log)
  for (const facts of [other, missing]) assert.deepEqual(facts[0], { error: true })
})

test('a WebSocket watch sends each event as a text message and ends with a close frame', async () => {
  const maps = '/api/v1/namespaces/default/configmaps'
  const big = 'x'.repeat(100_000)
  for (const name of ['ws-1', 'ws-2'])
    await client.post(maps, { metadata: { name, labels: { ws: '1' } }, data: { big } })
  const selected = 'labelSelector=ws%3D1&timeoutSeconds=1'
  const [facts, nested, tooOld, refused] = await Promise.all([
    webSocket(`${maps}?watch=true&${selected}`, ''),
    webSocket(`/api/v1/watch/namespaces/default/configmaps?${selected}`, 'anything'),
    webSocket(`${maps}?watch=1&resourceVersion=1&${selected}`, ''),
    webSocket(`${maps}?watch=true&${selected}`, '', [], 'bob-token'),
  ])
  for (const [received, protocol] of [
    [facts, ''],
    [nested, 'anything'],
  ] as const) {
    assert.deepEqual([received[0], received.at(-1)], [{ open: protocol }, { close: 1000 }])
    const texts = received.slice(1, -1).map(({ message }) => message!)
    assert.deepEqual(
      texts.map((message) => [JSON.parse(message).type, JSON.parse(message).object.metadata.name]),
      [
        ['ADDED', 'ws-1'],
        ['ADDED', 'ws-2'],
      ],
    )
    assert.ok(texts.every((message) => message.endsWith('}\n') && message.length > big.length))
  }
  assert.deepEqual(tooOld[0], { open: '' })
  assert.deepEqual(refused[0], { error: true })
  for (const name of ['ws-1', 'ws-2']) await client.delete(`${maps}/${name}`)
})

test('a WebSocket watch sends all initial objects unchanged even if they fill many chunks', async () => {
  const maps = '/api/v1/namespaces/default/configmaps'
  const names = Array.from({ length: 60 }, (_, i) => `many-${String(i).padStart(2, '0')}`)
  const dataOf = (name: string) => ({ text: `${name} `.repeat(2500) })
  for (const name of names) await client.post(maps, { metadata: { name, labels: { many: '1' } }, data: dataOf(name) })
  const received = await webSocket(`${maps}?watch=true&labelSelector=many%3D1&timeoutSeconds=1`, '')
  const objects = received.slice(1, -1).map(({ message }) => JSON.parse(message!).object)
  assert.deepEqual(
    objects.map(({ metadata, data }) => [metadata.name, data]),
    names.map((name) => [name, dataOf(name)]),
  )
  for (const name of names) await client.delete(`${maps}/${name}`)
})

/** Returns the Sec-WebSocket-Accept value that RFC 6455 requires for a key. */
function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

test('a WebSocket watch ends when its client disconnects, and is authorized and limited like any other request', async () => {
  const maps = '/api/v1/namespaces/default/configmaps'
  const before = api.server.watches
  const headers = {
    ...adminToken,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const open = async (more: object = {}) => {
    const asked = request({
      host: '127.0.0.1',
      port: api.port,
      path: `${maps}?watch=1`,
      ca: api.ca,
      agent: false,
      headers: { ...headers, ...more },
    })
    asked.end()
    return await Promise.race([once(asked, 'upgrade'), once(asked, 'response')])
  }
  const [response, socket] = await open()
  assert.equal(response.statusCode, 101)
  assert.equal(response.headers['sec-websocket-accept'], acceptOf(headers['sec-websocket-key']))
  assert.match(String(response.headers['audit-id']), /^[0-9a-f-]{36}$/)
  await soon(() => api.server.watches === before + 1)
  socket.destroy()
  await soon(() => api.server.watches === before)
  const [old] = await open({ 'sec-websocket-version': '8' })
  assert.equal(old.statusCode, 400)
  old.destroy()
  const [plain] = await open({ upgrade: 'h2c' })
  assert.equal(plain.statusCode, 200)
  plain.destroy()
  await soon(() => api.server.watches === before)
})

test('port-forward over WebSocket sends the port first, then data and errors', async () => {
  const facts = await webSocket(`${pods}/web/portforward?ports=80&ports=9`, 'v4.channel.k8s.io', [
    '\u0000GET /hi HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n',
  ])
  const messages = facts.flatMap(({ message }) => message ?? [])
  assert.deepEqual(messages.slice(0, 4).sort(), [
    '\u0000P\u0000',
    '\u0001P\u0000',
    '\u0002\u0009\u0000',
    '\u0003\u0009\u0000',
  ])
  assert.ok(messages.some((text) => text.startsWith('\u0000HTTP/1.1 200 OK') && text.includes('/hi')))
  assert.ok(messages.some((text) => text === '\u0003error forwarding port 9: connection refused by port 9'))
  const refused = await webSocket(`${pods}/web/portforward`, 'v4.channel.k8s.io')
  assert.ok(refused.some(({ error }) => error))
})

test('a GET request for a connect subresource requires the create permission', async () => {
  const rules = [{ apiGroups: [''], resources: ['pods/exec', 'pods/portforward'], verbs: ['get'] }]
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  await client.post(`${rbac}/roles`, { metadata: { name: 'reader' }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' }]
  await client.post(`${rbac}/rolebindings`, { metadata: { name: 'reader' }, roleRef, subjects })
  const bob = new HttpClient({ port: api.port, token: 'bob-token', ca: api.ca })
  const { status: code, body } = await bob.get(`${pods}/web/exec?container=c&command=id&stdout=true`)
  bob.close()
  assert.equal(code, 403)
  assert.match(body.message, /cannot create resource "pods\/exec"/)
})

test('a request without an upgrade, or over HTTP/2, is rejected with "Upgrade request required"', async () => {
  for (const path of [`${pods}/web/exec?container=c&command=id&stdout=true`, `${pods}/web/portforward`]) {
    const answer = await client.send(path, { method: 'POST' })
    assert.deepEqual([answer.status, answer.body.message], [400, 'Upgrade request required'])
  }
})

function assertSandboxed({ headers }: { readonly headers: { readonly [name: string]: unknown } }): void {
  assert.deepEqual([headers['content-security-policy'], headers['x-content-type-options']], ['sandbox', 'nosniff'])
}

test('pod, service and node proxies preserve paths, rewrite redirects and support upgrades', async () => {
  const services = '/api/v1/namespaces/default/services'
  await client.post(services, { metadata: { name: 'web' }, spec: { ports: [{ port: 8080, targetPort: 80 }] } })
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'web' }
  const subsets = [{ addresses: [{ ip: '192.0.2.9', targetRef }], ports: [{ port: 80 }] }]
  await client.post('/api/v1/namespaces/default/endpoints', { metadata: { name: 'web' }, subsets })
  for (const base of [`${pods}/web:80/proxy`, `${services}/web:8080/proxy`, `${services}/http:web:/proxy`]) {
    const { body } = await client.send(`${base}/a%20b?c=d`, { method: 'PUT', raw: '{}' })
    assert.deepEqual([body.method, body.url], ['PUT', '/a%20b?c=d'], base)
    assert.equal(body.headers.authorization, undefined)
    assert.equal((await client.get(`${base}/away`)).headers.location, `${base}/there`)
    assert.equal((await client.get(`${base}/far-away`)).status, 502)
    const page = await client.get(`${base}/page`)
    assert.equal(page.text, `<a href="${base}/x?y#z"><a href="//elsewhere/"><a href="${base}/">`, 'links stay')
    assert.equal(page.headers['content-length'], undefined)
    assertSandboxed(page)
    assert.deepEqual([page.headers['set-cookie'], page.headers['service-worker-allowed']], [undefined, undefined])
    assert.equal((await client.get(`${base}/created`)).headers.location, `${base}/there`)
    assert.equal((await client.get(`${base}/created-far-away`)).headers.location, undefined)
    assertSandboxed(await client.get(`${base}/away`))
  }
  assert.equal((await client.get(`${pods}/web:9/proxy/`)).status, 503)
  const healthy = await client.get('/api/v1/nodes/n1/proxy/healthz')
  assert.equal(healthy.text, 'ok')
  assertSandboxed(healthy)
  assertSandboxed(await client.get(`${pods}/web/log?container=c`))
  assert.match((await client.get('/api/v1/nodes/n1:10250/proxy/pods')).text, /PodList/)
  const asked = request({
    host: '127.0.0.1',
    port: api.port,
    ca: api.ca,
    agent: false,
    path: `${pods}/web:80/proxy/`,
    headers: { ...adminToken, connection: 'Upgrade', upgrade: 'echo' },
  })
  asked.end()
  const [, socket] = await once(asked, 'upgrade')
  socket.write('over and back')
  assert.equal(String((await once(socket, 'data'))[0]), 'over and back')
  socket.destroy()
})

test('the server does not connect to nodes with loopback, link-local or missing addresses', async () => {
  const nodeAt = async (name: string, addresses: readonly object[], Port = 10250) => {
    await client.post('/api/v1/nodes', { metadata: { name } })
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port } } }
    await client.put(`/api/v1/nodes/${name}/status`, { metadata: { name }, status })
    return (await client.get(`/api/v1/nodes/${name}/proxy/healthz`)).body.message
  }
  const hosts = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', 'fe80::1', '0.0.0.0', 'localhost']
  for (const [i, address] of hosts.entries())
    assert.match(await nodeAt(`h${i}`, [{ type: 'InternalIP', address }], port), /address not allowed/, address)
  assert.match(await nodeAt('none', []), /no preferred addresses found/)
  assert.match(await nodeAt('other', [{ type: 'Hostname', address: 'no-such-host.invalid' }]), /no such host/)
})

test('a node whose certificate is issued by an unknown CA is rejected', async () => {
  const { certificate: cert, key } = selfSignedCertificate('n3', { dns: ['n3'], ips: [] }, Date.now())
  let asked = 0
  const impostor = createServer({ cert, key }, (_, response) => {
    asked++
    response.end()
  }).listen(0, '127.0.0.1')
  await once(impostor, 'listening')
  const { port: at } = impostor.address() as { port: number }
  const forget = api.server.localNodes.add(localNode({ ...bare, name: 'n3' }, { host: '127.0.0.1', port: at }))
  await client.post('/api/v1/nodes', { metadata: { name: 'n3' } })
  const spec = { nodeName: 'n3', containers: [{ name: 'c', image: 'i' }] }
  await client.post(pods, { metadata: { name: 'doubtful' }, spec })
  for (const path of ['/api/v1/nodes/n3/proxy/healthz', `${pods}/doubtful/log`]) {
    const { status: code, body } = await client.get(path)
    assert.deepEqual([code, asked], [500, 0], path)
    assert.match(body.message, /x509/)
  }
  const log = await client.get(`${pods}/doubtful/log?insecureSkipTLSVerifyBackend=true`)
  assert.deepEqual([log.status, asked], [200, 1], 'where the caller asks for exactly that')
  forget()
  impostor.close()
})

const bare = {
  isReachable: true,
  pods: () => [],
  pod: () => undefined,
  usage: () => ({ startedAt: 0, memoryBytes: 0, pods: [] }),
}

test('a tunnel to a node opens only if the node accepts it, and closes when the server stops', async () => {
  const { certificate: cert, key } = issuePair(api.server.signingAuthority, {
    commonName: 'system:node:n4',
    dns: ['n4'],
  })
  const refusing = createServer({ cert, key }).listen(0, '127.0.0.1')
  refusing.on('upgrade', (_, socket) => socket.end('HTTP/1.1 418 No\r\ncontent-length: 5\r\n\r\nnever'))
  await once(refusing, 'listening')
  const { port: at } = refusing.address() as { port: number }
  api.server.localNodes.add(localNode({ ...bare, name: 'n4' }, { host: '127.0.0.1', port: at }))
  await client.post('/api/v1/nodes', { metadata: { name: 'n4' } })
  const spec = { nodeName: 'n4', containers: [{ name: 'c', image: 'i' }] }
  await client.post(pods, { metadata: { name: 'refused' }, spec })
  const headers = { ...adminToken, connection: 'Upgrade', upgrade: 'SPDY/3.1' }
  const refused = await ask(api.port, `${pods}/refused/exec?command=x&stdout=1`, {
    method: 'POST',
    headers,
    servername: '',
  })
  assert.deepEqual([refused.status, refused.text], [418, 'never'])
  refusing.close()

  const path = `${pods}/web/exec?container=c&command=cat&stdin=true&stdout=true`
  const asked = request({ host: '127.0.0.1', port: api.port, ca: api.ca, agent: false, method: 'POST', path, headers })
  asked.end()
  const [response, socket] = await once(asked, 'upgrade')
  assert.equal(response.headers.upgrade, 'SPDY/3.1')
  const spdy = new SpdyClient(socket)
  const [stdin, stdout] = ['stdin', 'stdout', 'error'].map((streamtype) => spdy.open({ streamtype }))
  spdy.send(stdin!, 'through')
  await soon(() => spdy.streams.get(stdout!)!.text === 'through')
  await api.server.stop()
  await soon(() => spdy.isClosed)
})
