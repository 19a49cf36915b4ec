/**
 * Tests the observability of requests: slow requests in the log, traces at a collector, and profiles of the server.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { beginTrace, readTraceParent, traceHeaders } from '../../src/base/telemetry/tracing/trace-context.ts'
import { serve } from '../support/in-process.ts'
import { configMaps } from '../support/paths.ts'
import { openSocket, statusesOf, untilClosed } from '../support/raw-http.ts'
import { recordingServer } from '../support/recording-server.ts'
import { startFailing } from '../support/start-failing.ts'
import { until } from '../support/until.ts'
import { configure } from '../support/webhooks.ts'

test('a slow request is logged in one line with the duration of each phase', async (t) => {
  const server = await serve(t)
  const body = JSON.stringify({ metadata: { name: 'slow' } })
  const socket = await openSocket(server, 'http/1.1')
  const answered = untilClosed(socket)
  const head = 'Host: x\r\nAuthorization: Bearer admin-token\r\nContent-Type: application/json\r\nConnection: close\r\n'
  socket.write(`POST ${configMaps}?dryRun=All HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n`)
  // Waits in real time, because the test depends on the real clock.
  await pause(1100)
  socket.write(body)
  assert.deepEqual(statusesOf(await answered), [201])
  const line = await until(
    async () => server.output().match(/.* slow request .*/)?.[0] ?? '',
    (found) => found !== '',
  )
  assert.match(line, new RegExp(`method="POST" path="${configMaps}" user="admin" code=201 .* bodyMs=\\d{3,} `))
  assert.match(line, / admissionMs=\d+ .*otherMs=\d+$/)
  assert.doesNotMatch(line, /dryRun/)
  await server.client().get(configMaps)
  assert.equal(server.output().match(/slow request/g)?.length, 1)
})

/** Starts a fake collector that records the JSON that it receives. */
async function collector(t: { after(run: () => void): void }) {
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any request
  const spans: any[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString())
    spans.push(...resourceSpans[0].scopeSpans[0].spans)
    response.writeHead(request.url === '/v1/traces' ? 200 : 404).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return { spans, endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function configuration(directory: string, rest: string): string {
  const file = join(directory, 'tracing.yaml')
  writeFileSync(file, `apiVersion: apiserver.config.orch.io/v1alpha1\nkind: TracingConfiguration\n${rest}`)
  return file
}

test('a request that the client marks as sampled is exported as a span with child spans', async (t) => {
  const { spans, endpoint } = await collector(t)
  const server = await serve(t)
  const client = server.client()
  await server.restart([`--tracing-config-file=${configuration(server.directory, `endpoint: ${endpoint}\n`)}`])
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const parent = '00f067aa0ba902b7'
  const headers = { traceparent: `00-${traceId}-${parent}-01`, tracestate: 'a=1,b=2' }
  const webhook = await recordingServer(t)
  await configure(client, 'validating', 'traced', [
    {
      name: 'traced.example.com',
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: webhook.url, caBundle: Buffer.from(webhook.authority).toString('base64') },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    },
  ])
  webhook.requests.length = 0
  // Sends a body that is too long to arrive together with the head, so that the server has to wait for the body.
  const body = { metadata: { name: 'traced' }, data: { text: 'x'.repeat(100_000) } }
  const sent = { method: 'POST', headers, body }
  assert.equal((await client.send(`${configMaps}?fieldManager=secret`, sent)).status, 201)
  assert.equal((await client.get(configMaps)).status, 200)
  assert.equal((await client.get(configMaps, { traceparent: `00-${traceId}-${parent}-00` })).status, 200)
  await until(
    async () => spans.length,
    (count) => count > 0,
  )
  const whole = spans.find(({ kind }) => kind === 2)
  assert.deepEqual(
    [whole.traceId, whole.parentSpanId, whole.traceState, whole.name, spans.filter(({ kind }) => kind === 2).length],
    [traceId, parent, 'a=1,b=2', 'create configmaps', 1],
  )
  const told = webhook.requests.map((asked) => [asked.headers.traceparent, asked.headers.tracestate])
  assert.deepEqual(told, [[`00-${traceId}-${whole.spanId}-01`, 'a=1,b=2']])
  assert.doesNotMatch(JSON.stringify(spans), /secret|admin/)
  assert.deepEqual([...new Set(spans.slice(1).map(({ name }) => name))].sort(), ['admission', 'body', 'store'])
  assert.ok(spans.slice(1).every((part) => part.parentSpanId === whole.spanId && part.traceId === traceId))
  assert.ok(BigInt(whole.endTimeUnixNano) > BigInt(whole.startTimeUnixNano))
  assert.match((await client.get('/metrics')).text, /apiserver_trace_spans_total\{outcome="sent"\} [1-9]/)
})

test('if the trace collector is unreachable, spans are dropped and nothing else fails', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const file = configuration(server.directory, 'endpoint: 127.0.0.1:1\nsamplingRatePerMillion: 1000000\n')
  await server.restart([`--tracing-config-file=${file}`])
  const statuses = await Promise.all(Array.from({ length: 700 }, () => client.get('/livez').then((a) => a.status)))
  assert.ok(statuses.every((status) => status === 200))
  await until(
    () => client.get('/metrics'),
    ({ text }) => /apiserver_trace_spans_total\{outcome="dropped"\} [1-9]/.test(text),
  )
  assert.equal(server.output().match(/cannot export traces/g)?.length, 1)
})

test('the server does not start with an invalid tracing file', async (t) => {
  for (const [rest, expected] of [
    ['samplingRatePerMillion: 2000000\n', /samplingRatePerMillion must be a whole number from 0 to 1000000/],
    ['endpoint: "ftp://x"\n', /endpoint must be HOST:PORT or the URL/],
    ['rate: 1\n', /"rate" is unknown; known fields are/],
  ] as const) {
    const { code, errors } = await startFailing(t, (directory) => [
      `--tracing-config-file=${configuration(directory, rest)}`,
    ])
    assert.deepEqual([code, expected.test(errors)], [1, true], errors)
  }
})

test('a valid traceparent header determines whether a request is sampled', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const span = '00f067aa0ba902b7'
  const wrong = [
    ...['', 'x', `00-${trace}-${span}`, `00-${trace}-${span}-01-more`, `ff-${trace}-${span}-01`],
    ...[`00-${'0'.repeat(32)}-${span}-01`, `00-${trace}-${'0'.repeat(16)}-01`, `00-${trace.toUpperCase()}-${span}-01`],
  ]
  for (const header of wrong) assert.equal(readTraceParent(header), undefined, header)
  assert.deepEqual(readTraceParent(`01-${trace}-${span}-03-more`), { traceId: trace, spanId: span, sampled: true })
  const sent = (parent: string | undefined, state = '') => ({ parent, state })
  assert.equal(beginTrace(sent(undefined), 0), undefined)
  assert.equal(beginTrace(sent(`00-${trace}-${span}-00`), 1_000_000), undefined)
  const { parentId, state } = beginTrace(sent('nonsense', 'a=1'), 1_000_000)!
  assert.deepEqual([parentId, state], ['', ''])
})

test("requests to other servers carry this server's span if the trace is sampled, and otherwise the caller's span", () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const span = '00f067aa0ba902b7'
  const told = (parent: string | undefined, state = '', rate = 0) =>
    traceHeaders(beginTrace({ parent, state }, rate), () => ({ parent, state }))
  const recorded = told(`00-${trace}-${span}-03`, 'a=1,b=2')
  assert.match(recorded.traceparent!, new RegExp(`^00-${trace}-(?!${span})[0-9a-f]{16}-01$`))
  assert.equal(recorded.tracestate, 'a=1,b=2')
  const unrecorded = { traceparent: `00-${trace}-${span}-00`, tracestate: 'a=1' }
  assert.deepEqual(told(`00-${trace}-${span}-00`, 'a=1'), unrecorded)
  assert.deepEqual(told(`cc-${trace}-${span}-02-more`, 'a=1'), unrecorded)
  assert.deepEqual([told(undefined, 'a=1'), told('nonsense', 'a=1')], [{}, {}])
  assert.match(told(undefined, '', 1_000_000).traceparent!, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  // A tracestate that could make a webhook call fail is dropped.
  for (const hostile of ['a=\u00e9', 'a=1\r\nx: y', 'a=\u0000', `a=${'1'.repeat(511)}`])
    assert.deepEqual(Object.keys(told(`00-${trace}-${span}-01`, hostile)), ['traceparent'], hostile)
})

test('only the administrator can record profiles, and only one profile at a time', async (t) => {
  const server = await serve(t, ['--authorization-mode=AlwaysAllow'])
  const admin = server.client()
  const alice = server.client('alice-token')
  assert.equal((await alice.get('/debug/pprof/profile?seconds=1')).status, 403)
  assert.match((await admin.get('/debug/pprof/')).text, /^\/debug\/pprof\/profile\n\/debug\/pprof\/heap\n/)
  const [first, second] = await Promise.all([
    admin.get('/debug/pprof/profile?seconds=1'),
    admin.get('/debug/pprof/heap?seconds=1'),
  ])
  assert.deepEqual([first.status, second.status].sort(), [200, 429])
  const profile = first.status === 200 ? first : await admin.get('/debug/pprof/profile?seconds=1')
  assert.ok(profile.body.nodes.length > 0 && profile.body.samples.length > 0)
  const heap = await admin.get('/debug/pprof/heap?seconds=1')
  assert.deepEqual([heap.status, typeof heap.body.head.selfSize], [200, 'number'])
  assert.match(heap.headers['content-disposition'] ?? '', /orch\.heapprofile/)
  const refused = ['seconds=0', 'seconds=51', 'seconds=x'].map((query) => admin.get(`/debug/pprof/heap?${query}`))
  assert.deepEqual(
    (await Promise.all(refused)).map(({ status }) => status),
    [400, 400, 400],
  )
  assert.deepEqual(
    [(await admin.get('/debug/pprof/nosuch')).status, (await admin.post('/debug/pprof/heap', {})).status],
    [404, 405],
  )
  await server.restart(['--profiling=false'])
  assert.equal((await admin.get('/debug/pprof/')).status, 404)
})
