/** Tests flow control over the network: waiting, rejection and admission as configured by the stored objects. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { type Restartable, serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { caOf, openSocket, statusesOf, untilClosed } from '../../support/raw-http.ts'
import { until } from '../../support/until.ts'

const group = '/apis/flowcontrol.apiserver.orch.io/v1beta2'
const oneSeat = ['--authorization-mode=AlwaysAllow', '--max-requests-inflight=1', '--max-mutating-requests-inflight=1']

/** Makes alice and bob share one seat, and configures queues in which up to ten requests of each user may wait. */
async function shareOneSeat(server: Restartable): Promise<{ schema: string; level: string }> {
  const admin = server.client()
  const queuing = { queues: 1024, handSize: 2, queueLengthLimit: 5 }
  const level = await admin.post(`${group}/prioritylevelconfigurations`, {
    metadata: { name: 'tiny' },
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: 1, limitResponse: { type: 'Queue', queuing } } },
  })
  const all = ['*']
  const schema = await admin.post(`${group}/flowschemas`, {
    metadata: { name: 'both' },
    spec: {
      priorityLevelConfiguration: { name: 'tiny' },
      matchingPrecedence: 300,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: ['alice', 'bob'].map((name) => ({ kind: 'User', user: { name } })),
          resourceRules: [{ verbs: all, apiGroups: all, resources: all, namespaces: all, clusterScope: true }],
        },
      ],
    },
  })
  assert.deepEqual([level.status, schema.status], [201, 201])
  return { schema: schema.body.metadata.uid, level: level.body.metadata.uid }
}

/** Sends a request that runs until its body is complete. */
async function holdSeat(server: Restartable, name: string, token = 'alice-token') {
  const body = JSON.stringify({ metadata: { name } })
  const socket = await openSocket(server, 'http/1.1')
  const answered = untilClosed(socket)
  const head = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: close\r\n`
  socket.write(`POST ${configMaps} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n`)
  const finish = async () => {
    socket.write(body)
    return statusesOf(await answered)
  }
  return { finish, leave: () => socket.destroy() }
}

/** Returns the value of the `/metrics` series whose line starts with this text. */
async function metric(server: Restartable, start: string): Promise<number> {
  const { text } = await server.client().get('/metrics')
  const line = text.split('\n').find((each) => each.startsWith(start))
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ')))
}

const flow = '{flow_schema="both",priority_level="tiny"'
const executing = (server: Restartable) => metric(server, `apiserver_flowcontrol_current_executing_requests${flow}`)
const waiting = (server: Restartable) => metric(server, `apiserver_flowcontrol_current_inqueue_requests${flow}`)

/** Starts a server on which alice occupies the seat that she shares with bob. */
async function serveHeld(t: TestContext, flags: readonly string[] = []) {
  const server = await serve(t, [...oneSeat, ...flags])
  const uids = await shareOneSeat(server)
  const held = await holdSeat(server, 'held')
  await until(
    () => executing(server),
    (count) => count === 1,
  )
  return { server, uids, held, alice: server.client('alice-token'), bob: server.client('bob-token') }
}

test('excess requests from a user who floods the server are rejected, and other users are served', async (t) => {
  const { server, uids, held, alice, bob } = await serveHeld(t)
  const done: string[] = []
  const ask = (who: string, client: typeof alice) =>
    client.get(configMaps).then((answer) => {
      done.push(`${who} ${answer.status}`)
      return answer
    })
  const flood = Array.from({ length: 25 }, () => ask('alice', alice))
  await until(
    () => waiting(server),
    (count) => count === 10,
  )
  const quiet = ask('bob', bob)
  await until(
    () => waiting(server),
    (count) => count === 11,
  )
  await until(
    async () => done.length,
    (count) => count === 15,
  )
  const [refused] = await Promise.race(flood.map(async (each) => [await each]))
  assert.deepEqual([refused!.status, refused!.headers['retry-after']], [429, '1'])
  assert.deepEqual([refused!.body.reason, refused!.body.details.retryAfterSeconds], ['TooManyRequests', 1])
  assert.match(refused!.body.message, /the priority level tiny has no free seat, and the queue is full/)
  assert.deepEqual(
    [refused!.headers['x-orch-pf-flowschema-uid'], refused!.headers['x-orch-pf-prioritylevel-uid']],
    [uids.schema, uids.level],
  )
  assert.equal(await metric(server, `apiserver_flowcontrol_rejected_requests_total${flow},reason="queue-full"`), 15)

  // The server continues to handle exempt requests.
  const probe = await alice.get('/readyz')
  assert.deepEqual([probe.status, (await server.client().get(configMaps)).status], [200, 200])

  assert.deepEqual(await held.finish(), [201])
  assert.equal((await quiet).status, 200)
  await Promise.all(flood)
  const served = done.filter((each) => each.endsWith('200'))
  assert.equal(served.length, 11)
  assert.ok(served.indexOf('bob 200') <= 3, `bob was served after ${served.indexOf('bob 200')} others`)
  assert.deepEqual([await waiting(server), await executing(server)], [0, 0])
})

test('a client that disconnects frees its seat or its position in the queue', async (t) => {
  const { server, held, bob } = await serveHeld(t)
  const second = await holdSeat(server, 'second')
  await until(
    () => waiting(server),
    (count) => count === 1,
  )
  second.leave()
  await until(
    () => waiting(server),
    (count) => count === 0,
  )
  assert.equal(await metric(server, `apiserver_flowcontrol_rejected_requests_total${flow},reason="cancelled"`), 1)
  const answer = bob.get(configMaps)
  await until(
    () => waiting(server),
    (count) => count === 1,
  )
  held.leave()
  assert.equal((await answer).status, 200)
  assert.equal(await executing(server), 0)
})

test('a request is rejected after waiting in the queue for a quarter of its timeout', async (t) => {
  const { server, held, bob } = await serveHeld(t, ['--request-timeout=4s'])
  const answer = await bob.get(configMaps)
  assert.deepEqual([answer.status, answer.headers['retry-after']], [429, '1'])
  assert.match(answer.body.message, /within the maximum queue time/)
  assert.equal(await metric(server, `apiserver_flowcontrol_rejected_requests_total${flow},reason="time-out"`), 1)
  held.leave()
})

test('a watch occupies a seat only during its start, and a configuration change applies to the next request', async (t) => {
  const server = await serve(t, oneSeat)
  const uids = await shareOneSeat(server)
  const alice = server.client('alice-token')
  const ended = new AbortController()
  const events = alice.watch(`${configMaps}?watch=1`, ended.signal)
  const first = events.next()
  const answers = await Promise.all(Array.from({ length: 5 }, () => alice.get(configMaps)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  await server.client().post(configMaps, { metadata: { name: 'told' } })
  assert.equal((await first).value?.object.metadata.name, 'told')
  ended.abort()
  assert.equal(answers[0]!.headers['x-orch-pf-flowschema-uid'], uids.schema)
  await server.client().delete(`${group}/flowschemas/both`)
  const { headers } = await alice.get(configMaps)
  const { body } = await server.client().get(`${group}/flowschemas/global-default`)
  assert.equal(headers['x-orch-pf-flowschema-uid'], body.metadata.uid)
})

test('the specs of default flow control objects are restored unless their auto-update annotation is false', async (t) => {
  const server = await serve(t)
  const admin = server.client()
  const path = `${group}/prioritylevelconfigurations/workload-low`
  const sharesOf = async () => (await admin.get(path)).body.spec?.limited.assuredConcurrencyShares
  const change = async (autoUpdate: string) => {
    const { body } = await admin.get(path)
    body.metadata.annotations['apf.orch.io/autoupdate-spec'] = autoUpdate
    body.spec.limited.assuredConcurrencyShares = 7
    assert.equal((await admin.put(path, body)).status, 200)
  }
  // The loop runs once a minute and at startup.
  await admin.delete(path)
  await server.restart()
  assert.equal(await until(sharesOf, (shares) => shares !== undefined), 100)
  await change('true')
  await server.restart()
  assert.equal(await until(sharesOf, (shares) => shares !== 7), 100)
  await change('false')
  await admin.delete(`${group}/flowschemas/probes`)
  await server.restart()
  await until(
    () => admin.get(`${group}/flowschemas/probes`),
    ({ status }) => status === 200,
  )
  assert.equal(await sharesOf(), 7)
  assert.equal(
    await metric(server, 'apiserver_flowcontrol_request_concurrency_limit{priority_level="workload-low"}'),
    28,
  )
})

test('without priority and fairness, the max-in-flight limits apply', async (t) => {
  const server = await serve(t, [...oneSeat, '--enable-priority-and-fairness=false'])
  const alice = server.client('alice-token')
  const bob = server.client('bob-token')
  const held = await holdSeat(server, 'held')
  await until(
    () => metric(server, 'apiserver_current_inflight_requests{request_kind="mutating"}'),
    (count) => count === 1,
  )
  const refused = await bob.post(configMaps, { metadata: { name: 'more' } })
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1'])
  assert.equal(refused.headers['x-orch-pf-flowschema-uid'], undefined)
  assert.equal(await metric(server, 'apiserver_dropped_requests_total{request_kind="mutating"}'), 1)
  const others = [await alice.get(configMaps), await alice.get('/livez')]
  const admin = await server.client().post(configMaps, { metadata: { name: 'admin' } })
  assert.deepEqual([...others.map(({ status }) => status), admin.status], [200, 200, 201])
  assert.deepEqual(await held.finish(), [201])
  assert.equal((await bob.post(configMaps, { metadata: { name: 'more' } })).status, 201)
})

/** Paths and formats for which the server builds long responses completely in memory. */
const longAnswers: readonly (readonly [path: string, accept: string])[] = [
  ['/openapi/v2', 'application/json'],
  [`${configMaps}/long`, 'application/yaml'],
  [`${configMaps}/long`, 'application/json'],
]

test('a request with a long response occupies its seat until the client has read the response or disconnected', async (t) => {
  const server = await serve(t, [...oneSeat, '--enable-priority-and-fairness=false'])
  const bob = server.client('bob-token')
  const admin = server.client()
  await admin.post(configMaps, { metadata: { name: 'long' }, data: { a: 'x'.repeat(200_000) } })
  for (const [path, accept] of longAnswers) {
    // A client that accepts headers but no bytes of a body.
    const session = connect(server.url, { ca: caOf(server), settings: { initialWindowSize: 0 } })
    const stream = session.request({ ':path': path, accept, authorization: 'Bearer alice-token' })
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 200)
    assert.equal((await bob.get(configMaps)).status, 429, `${path} as ${accept}`)
    session.destroy()
    await until(
      () => bob.get(configMaps),
      ({ status }) => status === 200,
    )
  }
})

for (const [version, seats] of [
  ['1.23', 1],
  ['1.36', 3],
] as const)
  test(`in ${version}, a write with 25 watchers occupies ${seats} seats`, async (t) => {
    const server = await serve(t, ['--authorization-mode=AlwaysAllow', `--emulated-version=${version}`])
    const admin = server.client()
    await admin.post(configMaps, { metadata: { name: 'first' } })
    const end = new AbortController()
    t.after(() => end.abort())
    const watches = Array.from({ length: 25 }, () => admin.watch(`${configMaps}?watch=1`, end.signal))
    await Promise.all(watches.map((watch) => watch.next()))
    const inUse = () => metric(server, 'apiserver_flowcontrol_request_concurrency_in_use{flow_schema="global-default"')
    const held = await holdSeat(server, 'held')
    await until(inUse, (count) => count === seats)
    await held.finish()
    await until(inUse, (count) => count === 0)
  })
