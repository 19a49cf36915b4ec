/**
 * An aggregated API server as a separate process, which `aggregated.ts` starts. The server trusts only the front proxy,
 * whose CA it receives at startup, and reports every request to its parent process. The path of a request determines
 * the response. The server can act as a well-behaved or as a hostile backend.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { metricsOf } from './aggregated-metrics.ts'

interface Start {
  readonly cert: string
  readonly key: string
  /** PEM file with the CA of the front proxy. If undefined, the server requires no client certificate. */
  readonly authority: string | undefined
  readonly port: number
}

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const watchers = new Set<ServerResponse>()

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

const takeoverHeaders = {
  'content-type': 'text/html',
  'content-security-policy': "script-src 'unsafe-inline' *",
  'x-content-type-options': 'none',
  'service-worker-allowed': '/',
  'set-cookie': 'a=b',
  'clear-site-data': '"*"',
  'strict-transport-security': 'max-age=1',
  'access-control-allow-origin': '*',
  'access-control-allow-methods': '*',
  link: '</x>; rel=preload',
  refresh: '0; url=https://elsewhere/',
  'content-location': 'https://elsewhere/',
  'reporting-endpoints': 'default="https://elsewhere/"',
  'report-to': '{}',
  nel: '{}',
  'origin-agent-cluster': '?1',
  'permissions-policy': 'camera=*',
  'www-authenticate': 'Basic realm="sign in"',
  'x-frame-options': 'ALLOWALL',
  sourcemap: 'https://elsewhere/',
  etag: '"kept"',
  'content-disposition': 'inline',
}
/**
 * A page that tries to write with the visitor's permissions and to install a service worker, and shows its progress in
 * the title.
 */
const takeoverPage = `<!doctype html><title>relayed</title><p>relayed<script>
  document.title = 'script ran'
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ metadata: { name: 'taken-over' } })
  fetch('/api/v1/namespaces/default/configmaps', { method: 'POST', headers, body })
  navigator.serviceWorker?.register('worker', { scope: '/' })
</script>`

const behaviours: { readonly [name: string]: Behaviour } = {
  echo: async (request, response) => {
    const text = await textOf(request)
    const { method, url } = request
    send(response, { method, url, headers: request.rawHeaders, text })
  },
  watched: (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    watchers.add(response)
    response.on('close', () => watchers.delete(response))
  },
  redirect: (_, response) => void response.writeHead(302, { location: 'https://127.0.0.1:1/canary' }).end(),
  'not-modified': (_, response) => void response.writeHead(304, { etag: '"a"', location: 'https://elsewhere/' }).end(),
  made: (_, response) => {
    const heads = [
      'location',
      '/apis/x',
      'set-cookie',
      'a=b',
      'alt-svc',
      'h2="elsewhere:443"',
      'etag',
      '"kept"',
      'x-other',
      'yes',
    ]
    const more = ['warning', '299 - "one"', 'warning', '299 - "two"', 'connection', 'x-hop', 'x-hop', 'mine']
    response.writeHead(201, [...heads, ...more]).end('{}')
  },
  'made-elsewhere': (request, response) =>
    void response
      .writeHead(201, { location: new URL(request.url ?? '', 'https://a').searchParams.get('to') ?? '' })
      .end(),
  // A page that pretends to belong to the API server and contains everything that a browser might execute.
  takeover: (_, response) => {
    const heads = Object.entries(takeoverHeaders).flat()
    response.writeHead(200, heads).end(takeoverPage)
  },
  worker: (_, response) => {
    const heads = { 'content-type': 'text/javascript', 'service-worker-allowed': '/' }
    response.writeHead(200, heads).end('oninstall = () => skipWaiting()')
  },
  replaced: (_, response) => {
    const part = '--x\r\nContent-Type: text/html\r\nSet-Cookie: a=b\r\n\r\n<p>\r\n--x--\r\n'
    response.writeHead(200, { 'content-type': 'Multipart/X-Mixed-Replace;boundary=x' }).end(part)
  },
  warnings: (_, response) => {
    const many = Array.from({ length: 300 }, (_, i) => ['warning', `299 - "${i}"`]).flat()
    response.writeHead(200, [...many, 'vary', 'accept', 'vary', 'accept-encoding']).end('{}')
  },
  hang: () => {},
  // Responds before the request body has arrived, and reports whether the whole body arrives afterwards.
  early: (request, response) => {
    response.end('{}')
    request.on('end', () => process.send?.({ body: 'whole' }))
    request.socket.on('close', () => request.complete || process.send?.({ body: 'cut' }))
    request.resume()
  },
  reset: ({ socket }) => void socket.destroy(),
  'broken-off': (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"half":')
    setTimeout(() => response.destroy(), 50)
  },
  huge: async (_, response) => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20)
    let sent = 0
    response.on('close', () => process.send?.({ sent }))
    while (sent < 1024 && !response.destroyed) {
      if (!response.write(chunk))
        await Promise.race([new Promise((done) => response.once('drain', done)), pause(20_000)])
      sent++
    }
    response.end()
  },
  drip: async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    while (!response.destroyed) {
      response.write(' ')
      await pause(100)
    }
  },
  'huge-head': (_, response) => void response.writeHead(200, { 'x-long': 'a'.repeat(100_000) }).end(),
  'many-heads': ({ socket }) =>
    void socket.end(
      `HTTP/1.1 200 OK\r\ncontent-type: a\r\ncontent-type: b\r\netag: a\r\netag: b\r\ncontent-length: 2\r\n\r\n{}`,
    ),
  'odd-status': ({ socket }) => void socket.end('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'),
  'uninvited-switch': ({ socket }) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\nhello'),
  // Bytes after the response that look like the response to the next request.
  'second-answer': ({ socket }) =>
    void socket.write(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged',
    ),
}

/** Handlers for the connections of upgrade requests. */
const upgrades: { readonly [name: string]: (socket: Duplex) => void } = {
  tunnel: (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\nwelcome ')
    socket.pipe(socket)
  },
  'other-protocol': (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: other\r\n\r\n')
    socket.pipe(socket)
  },
  // Sends an ordinary response and continues to read. Bytes that the client sends afterwards must not arrive here.
  refused: (socket) => {
    socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 7\r\n\r\nrefused')
    socket.on('data', (chunk: Buffer) => process.send?.({ smuggled: chunk.toString('latin1') }))
  },
  'redirected-upgrade': (socket) => {
    socket.write('HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1:1/canary\r\ncontent-length: 0\r\n\r\n')
    socket.on('data', (chunk: Buffer) => process.send?.({ smuggled: chunk.toString('latin1') }))
  },
}

const group = process.argv[2] ?? 'a.example.com'
const version = process.argv[3] ?? 'v1'

function discovery(): object {
  const verbs = ['get', 'list', 'watch', 'create']
  const resources = [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs }]
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources }
}

const openApi = {
  swagger: '2.0',
  info: { title: 'things', version: '1' },
  paths: {
    [`/apis/${group}/${version}/namespaces/{namespace}/things`]: {
      get: {
        description: 'lists things',
        operationId: 'listThings',
        responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/com.example.a.v1.Thing' } } },
      },
    },
    '/apis/apps/v1/deployments': { get: { operationId: 'mine', responses: {} } },
  },
  definitions: {
    'com.example.a.v1.Thing': {
      description: 'A thing of another server.',
      type: 'object',
      properties: { size: { description: 'How large it is.', type: 'integer' } },
      'x-kubernetes-group-version-kind': [{ group, version, kind: 'Thing' }],
    },
  },
}

const v3 = { openapi: '3.0.0', info: { title: 'things', version: '1' }, paths: {}, components: { schemas: {} } }

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://backend')
  if (url.pathname === `/apis/${group}/${version}`) return send(response, discovery())
  if (url.pathname === '/openapi/v2') return send(response, openApi)
  if (url.pathname === '/openapi/v3')
    return send(response, {
      paths: { [`apis/${group}/${version}`]: { serverRelativeURL: `/openapi/v3/apis/${group}/${version}?hash=AB` } },
    })
  if (url.pathname.startsWith('/openapi/v3/')) return send(response, v3)
  const metrics = metricsOf(url.pathname)
  if (metrics !== undefined) return send(response, metrics)
  const place = url.pathname.split('/')
  await (behaviours[place[4] ?? ''] ?? behaviours.echo!)(request, response)
}

process.on('disconnect', () => process.exit())
process.on('message', ({ start, event }: { start?: Start; event?: object }) => {
  if (event !== undefined) for (const response of watchers) response.write(`${JSON.stringify(event)}\n`)
  if (start === undefined) return
  const { cert, key, authority, port } = start
  const trust = authority === undefined ? {} : { ca: authority, requestCert: true, rejectUnauthorized: true }
  const server = createServer({ cert, key, ...trust }, (request, response) => {
    report(request)
    answer(request, response).catch(() => response.destroy())
  })
  server.on('upgrade', (request, socket) => {
    report(request)
    socket.on('error', () => {})
    const name = new URL(request.url ?? '/', 'https://backend').pathname.split('/')[4] ?? ''
    ;(upgrades[name] ?? upgrades.refused!)(socket)
  })
  server.listen(port, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
})

function report(request: IncomingMessage): void {
  const certificate = (request.socket as TLSSocket).getPeerCertificate()?.subject?.CN
  process.send?.({ call: { method: request.method, url: request.url, headers: request.rawHeaders, certificate } })
}
