/**
 * An HTTPS server with admission webhooks as a separate process, which `webhooks.ts` starts. The path of a call
 * determines the response, and the server reports every call to its parent process. The server can act like
 * well-behaved or hostile webhooks.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'

interface Review {
  readonly apiVersion: string
  readonly request: { readonly uid: string; readonly object: { metadata: { labels?: { [key: string]: string } } } }
}

interface Call {
  readonly review: Review
  readonly args: readonly string[]
  readonly response: ServerResponse
}

type Behaviour = (call: Call) => void | Promise<void>

function reply({ review, response }: Call, told: object, top: object = {}): void {
  const body = { apiVersion: review.apiVersion, kind: 'AdmissionReview', ...top }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ...body, response: { uid: review.request.uid, allowed: true, ...told } }))
}

function patch(call: Call, operations: unknown): void {
  const text = Buffer.from(JSON.stringify(operations)).toString('base64')
  reply(call, { patchType: 'JSONPatch', patch: text })
}

function label(call: Call, key: string, value: string): void {
  const { labels } = call.review.request.object.metadata
  const [path, added] = labels ? [`/metadata/labels/${key}`, value] : ['/metadata/labels', { [key]: value }]
  patch(call, [{ op: 'add', path, value: added }])
}

async function stream(response: ServerResponse, chunk: Buffer, { times, everyMs }: { times: number; everyMs: number }) {
  for (let i = 0; i < times && !response.destroyed; i++) {
    if (!response.write(chunk)) await Promise.race([new Promise((done) => response.once('drain', done)), pause(5000)])
    if (everyMs > 0) await pause(everyMs)
  }
  response.end()
}

const megabyte = Buffer.alloc(1024 * 1024, 0x20)

const behaviours: { readonly [name: string]: Behaviour } = {
  allow: (call) => reply(call, {}),
  deny: (call) => reply(call, { allowed: false, status: { code: Number(call.args[0]), message: call.args[1] } }),
  warn: (call) => reply(call, { warnings: call.args }),
  'many-warnings': (call) =>
    reply(call, { warnings: Array.from({ length: Number(call.args[0]) }, (_, i) => `warning ${i}`) }),
  // Insert the number unchanged, because the test also sends numbers that are not integers.
  'deny-for': ({ review, args, response }) => {
    const status = `{"code":429,"message":"later","details":{"retryAfterSeconds":${args[0]}}}`
    const uid = JSON.stringify(review.request.uid)
    const told = `{"uid":${uid},"allowed":false,"status":${status}}`
    response.end(`{"apiVersion":"${review.apiVersion}","kind":"AdmissionReview","response":${told}}`)
  },
  'warn-at-length': (call) => reply(call, { warnings: ['\u{1f600}'.repeat(1500)] }),
  label: (call) => label(call, call.args[0]!, call.args[1]!),
  chain: (call) => label(call, 'chain', `${call.review.request.object.metadata.labels?.chain ?? ''}${call.args[0]}`),
  // The arguments are the patch type and the operations.
  'typed-patch': (call) =>
    reply(call, {
      patchType: call.args[0],
      patch: Buffer.from(call.args[1]!, 'base64url').toString('base64'),
    }),
  patch: (call) => patch(call, JSON.parse(Buffer.from(call.args[0]!, 'base64url').toString('utf8'))),
  slow: async (call) => {
    await pause(Number(call.args[0]))
    reply(call, {})
  },
  'slow-deny': async (call) => {
    await pause(Number(call.args[0]))
    reply(call, { allowed: false, status: { code: 403, message: 'denied late' } })
  },
  hang: () => {},
  redirect: ({ response }) => void response.writeHead(307, { location: '/canary' }).end(),
  gigabyte: ({ response }) => stream(response, megabyte, { times: 1024, everyMs: 0 }),
  drip: ({ response }) => stream(response, Buffer.from(' '), { times: 60, everyMs: 1000 }),
  'bad-json': ({ response }) => void response.end('{"apiVersion":'),
  'wrong-uid': (call) => reply(call, { uid: 'of-somebody-else' }),
  'wrong-version': (call) => reply(call, {}, { apiVersion: 'example.com/v1' }),
  bomb: ({ response }) => {
    response.setHeader('content-encoding', 'gzip')
    response.end(bomb)
  },
  reset: ({ response }) => void response.socket?.destroy(),
  // Crashes on some objects and denies all other objects.
  'crash-or-deny': (call) => {
    if (call.review.request.object.metadata.labels?.crash !== undefined) call.response.socket?.destroy()
    else reply(call, { allowed: false, status: { code: 403, message: 'no' } })
  },
  // Never responds for some objects and denies all other objects.
  'hang-or-deny': (call) => {
    if (call.review.request.object.metadata.labels?.hang === undefined)
      reply(call, { allowed: false, status: { code: 403, message: 'no' } })
  },
  // Valid JSON that is expensive to parse.
  'many-values': ({ response }) => void response.end(`[${'[],'.repeat(1_500_000)}[]]`),
  'huge-patch': (call) => patch(call, [{ op: 'add', path: '/data', value: { big: 'x'.repeat(8 * 1024 * 1024) } }]),
  // Each insertion at the front shifts all existing elements.
  'quadratic-patch': (call) =>
    patch(call, [
      { op: 'add', path: '/metadata/finalizers', value: Array.from({ length: 50_000 }, (_, i) => `example.com/f${i}`) },
      ...Array.from({ length: 9_000 }, () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'example.com/x' })),
    ]),
  'deep-patch': (call) => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
    const text = Buffer.from(`[{"op":"add","path":"/data","value":${deep}}]`).toString('base64')
    reply(call, { patchType: 'JSONPatch', patch: text })
  },
  'prototype-patch': (call) => patch(call, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]),
}

const bomb = process.argv.includes('--bomb') ? gzipSync(Buffer.alloc(200 * 1024 * 1024), { level: 1 }) : Buffer.alloc(0)

process.on('disconnect', () => process.exit())
process.once('message', ({ cert, key }: { cert: string; key: string }) => {
  const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(request.url ?? '/', 'https://webhook')
  const { authorization, host } = request.headers
  const certificate = (request.socket as TLSSocket).getPeerCertificate()?.subject?.CN
  process.send?.({ call: { path: url.pathname, query: url.search, authorization, host, certificate, text } })
  const [what = '', ...args] = url.pathname.slice(1).split('/').map(decodeURIComponent)
  const behaviour = behaviours[what] ?? behaviours.allow!
  await behaviour({ review: JSON.parse(text), args, response })
}
