/**
 * Tests auditing on a real server: the events that the log, the webhook and the in-memory buffer receive for each kind
 * of request.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { recordingServer } from '../../support/recording-server.ts'
import { startFailing } from '../../support/start-failing.ts'
import { untilTrue } from '../../support/until.ts'
import { configure, unconfigure, Webhooks, webhook } from '../../support/webhooks.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-audit-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const [policyFile, logFile, webhookFile] = ['policy.yaml', 'audit.log', 'webhook.json'].map((name) =>
  join(directory, name),
)

writeFileSync(
  policyFile!,
  `apiVersion: audit.orch.io/v1
kind: Policy
rules:
  - level: None
    nonResourceURLs: ['/metrics', '/healthz*']
  - level: RequestResponse
    omitManagedFields: true
    omitStages: [RequestReceived]
    resources:
      - group: ''
        resources: [configmaps, secrets, serviceaccounts/token]
      - group: authentication.orch.io
  - level: Metadata
    resources: [{ group: '', resources: [pods] }]
  - level: Metadata
    omitStages: [RequestReceived]
`,
)
const receiver = await recordingServer({ after })
const clusters = [
  {
    name: 'c',
    cluster: {
      server: `${receiver.url}/events`,
      'certificate-authority-data': Buffer.from(receiver.authority).toString('base64'),
    },
  },
]
const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }]
const users = [{ name: 'u', user: { token: 'audit-receiver-token' } }]
writeFileSync(webhookFile!, JSON.stringify({ clusters, contexts, users, 'current-context': 'x' }))

const server = await serve({ after }, [
  `--audit-policy-file=${policyFile}`,
  `--audit-log-path=${logFile}`,
  `--audit-webhook-config-file=${webhookFile}`,
  '--audit-webhook-batch-max-wait=10ms',
  '--enable-break-glass=true',
])
const admin = server.client()

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any event
type Told = any

/** Returns the events of one request once they are in the log. */
async function eventsOf(auditId: string, count = 1): Promise<Told[]> {
  const read = (): Told[] =>
    (existsSync(logFile!) ? readFileSync(logFile!, 'utf8').trimEnd().split('\n') : [])
      .filter((line) => line.includes(auditId))
      .map((line) => JSON.parse(line))
  await untilTrue(async () => read().length >= count)
  assert.equal(read().length, count)
  return read()
}

const idOf = ({ headers }: { headers: { [name: string]: unknown } }) => String(headers['audit-id'])

test('the audit event for a create contains both bodies, the user, the source IPs and the authorization reason', async () => {
  const body = { metadata: { name: 'told' }, data: { a: 'b' } }
  const answer = await admin.send('/api/v1/namespaces/default/configmaps?fieldManager=me', {
    method: 'POST',
    body,
    headers: { 'user-agent': 'tester/1', 'x-forwarded-for': '10.1.2.3, nonsense' },
  })
  assert.equal(answer.status, 201)
  const [event] = await eventsOf(idOf(answer))
  const { requestReceivedTimestamp, stageTimestamp, responseObject, requestObject, annotations, ...rest } = event
  assert.deepEqual(rest, {
    kind: 'Event',
    apiVersion: 'audit.orch.io/v1',
    level: 'RequestResponse',
    auditID: idOf(answer),
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/default/configmaps?fieldManager=me',
    verb: 'create',
    user: { username: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] },
    sourceIPs: ['10.1.2.3', '127.0.0.1'],
    userAgent: 'tester/1',
    objectRef: { resource: 'configmaps', namespace: 'default', name: 'told', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
  })
  assert.match(requestReceivedTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  assert.ok(requestReceivedTimestamp <= stageTimestamp)
  assert.deepEqual(requestObject.data, { a: 'b' })
  assert.equal(responseObject.metadata.uid, answer.body.metadata.uid)
  assert.equal(responseObject.metadata.managedFields, undefined)
  assert.equal(annotations['authorization.orch.io/decision'], 'allow')
})

test('the audit events for rejected and unauthenticated requests contain the status code and the reason', async () => {
  const refused = await server.client('bob-token').get('/api/v1/namespaces/default/pods')
  assert.equal(refused.status, 403)
  const [received, complete] = await eventsOf(idOf(refused), 2)
  assert.deepEqual([received.stage, received.responseStatus], ['RequestReceived', undefined])
  assert.deepEqual([complete.responseStatus.code, complete.responseStatus.reason], [403, 'Forbidden'])
  assert.equal(complete.annotations['authorization.orch.io/decision'], 'forbid')
  const unknown = await server.client('no-such-token').get('/api/v1/namespaces/default/configmaps')
  const [event] = await eventsOf(idOf(unknown))
  assert.deepEqual([event.stage, event.user, event.responseStatus.code], ['ResponseStarted', {}, 401])
  assert.ok(!readFileSync(logFile!, 'utf8').includes('no-such-token'))
})

test('no audit event contains Secret values or tokens', async () => {
  const canary = 'canary-5f1c'
  const encoded = Buffer.from(canary).toString('base64')
  const path = '/api/v1/namespaces/default/secrets'
  const annotations = { 'kubectl.orch.io/last-applied-configuration': `{"data":"${canary}"}` }
  await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
  const answers = [
    await admin.post(path, { metadata: { name: 's', annotations }, data: { k: encoded }, stringData: { l: canary } }),
    await admin.get(`${path}/s`),
    await admin.get(path),
    await patch(`${path}/s`, 'merge-patch+json', { data: { k: encoded } }),
    await patch(`${path}/s`, 'json-patch+json', [{ op: 'replace', path: '/data/k', value: encoded }]),
    await patch(`${path}/s`, 'strategic-merge-patch+json', { stringData: { m: canary } }),
    await admin.post('/apis/authentication.orch.io/v1/tokenreviews', { spec: { token: canary } }),
    await admin.post('/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} }),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 200, 200, 200, 200, 200, 201, 201],
  )
  const applied = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { n: canary } }
  const apply = await patch(`${path}/s?fieldManager=a&force=true`, 'apply-patch+yaml', applied)
  assert.equal(apply.status, 200)
  for (const answer of [...answers, apply]) await eventsOf(idOf(answer))
  const log = readFileSync(logFile!, 'utf8')
  const token = answers.at(-1)!.body.status.token
  for (const secret of [canary, encoded, token]) assert.ok(!log.includes(secret))
  const [created] = await eventsOf(idOf(answers[0]!))
  assert.deepEqual(created.requestObject.data, { k: 'REDACTED' })
  assert.deepEqual(Object.keys(created.responseObject.data).sort(), ['k', 'l'])
})

function patch(path: string, type: string, body: unknown) {
  return admin.send(path, { method: 'PATCH', body, headers: { 'content-type': `application/${type}` } })
}

test('the audit event for an impersonated request names both users, and the start and the end of a watch are audited', async () => {
  const asAlice = await admin.get('/api/v1/namespaces/default/configmaps/told', { 'impersonate-user': 'alice' })
  const [event] = await eventsOf(idOf(asAlice))
  assert.deepEqual([event.user.username, event.impersonatedUser.username], ['admin', 'alice'])
  const watch = await admin.get('/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=1')
  const stages = (await eventsOf(idOf(watch), 3)).map(({ stage }) => stage)
  assert.deepEqual(stages, ['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
})

test('audit annotations record the use of deprecated versions, webhooks and break-glass access', async (t) => {
  const old = await admin.get('/apis/policy/v1beta1/poddisruptionbudgets')
  const [event] = await eventsOf(idOf(old))
  assert.deepEqual(
    [event.annotations['orch.io/deprecated'], event.annotations['orch.io/removed-release']],
    ['true', '1.25'],
  )

  const webhooks = await Webhooks.start(t)
  const name = 'mutate.example.com'
  await configure(admin, 'mutating', 'm', [webhook(webhooks, '/label/added/yes', { name })])
  await admin.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })
  const changed = await admin.post('/api/v1/namespaces/hooked/configmaps', { metadata: { name: 'changed' } })
  assert.equal(changed.status, 201)
  const [mutated] = await eventsOf(idOf(changed))
  const note = JSON.parse(mutated.annotations['mutation.webhook.admission.orch.io/round_0_index_0'])
  assert.deepEqual(note, { configuration: 'm', webhook: name, mutated: true })
  assert.ok(JSON.parse(mutated.annotations['patch.webhook.admission.orch.io/round_0_index_0']).patch.length > 0)

  const bypassed = await admin.send('/api/v1/namespaces/hooked/configmaps', {
    method: 'POST',
    body: { metadata: { name: 'bypassed' } },
    headers: { 'break-glass': 'it burns' },
  })
  const [broken] = await eventsOf(idOf(bypassed))
  assert.equal(broken.annotations['ops.orch.io/break-glass'], 'it burns')
  await unconfigure(admin, 'mutating', 'm')
})

test('the audit webhook receives the same events as the log, and is called with its own credentials', async () => {
  const answer = await admin.send('/api/v1/namespaces/default/configmaps/told', {
    headers: { 'audit-id': 'named-by-the-client' },
  })
  assert.equal(idOf(answer), 'named-by-the-client')
  await untilTrue(async () => receiver.requests.some(({ body }) => body.includes('named-by-the-client')))
  const { headers, path, body } = receiver.requests.find((each) => each.body.includes('named-by-the-client'))!
  assert.deepEqual([path, headers.authorization], ['/events', 'Bearer audit-receiver-token'])
  const { kind, apiVersion, items } = JSON.parse(body)
  assert.deepEqual([kind, apiVersion], ['EventList', 'audit.orch.io/v1'])
  const [logged] = await eventsOf('named-by-the-client')
  assert.deepEqual(
    items.find(({ auditID }: Told) => auditID === 'named-by-the-client'),
    logged,
  )
})

test('a malformed Audit-ID header is replaced', async () => {
  for (const bad of ['a b', 'x'.repeat(65), '"'])
    assert.match(idOf(await admin.get('/version', { 'audit-id': bad })), /^[0-9a-f]{8}-/)
})

test('authorized users can list recent audit events through the API', async () => {
  const path = '/apis/ops.orch.io/v1/auditevents'
  const { body } = await admin.get(path)
  const shown = body.items.find(({ object, verb }: Told) => object === 'told' && verb === 'create')
  assert.deepEqual([shown.user, shown.resource, shown.namespace, shown.code], ['admin', 'configmaps', 'default', 201])
  const one = await admin.get(`${path}/${shown.metadata.name}`)
  assert.equal(one.body.event.userAgent, 'tester/1')
  assert.equal((await admin.get(`${path}/none`)).status, 404)
  assert.equal((await server.client('bob-token').get(path)).status, 403)
  const metrics = (await admin.get('/metrics')).text
  assert.match(metrics, /apiserver_audit_event_total \d+/)
  assert.match(metrics, /apiserver_audit_level_total\{level="Metadata"\} [1-9]/)
})

test('a shutdown loses no audit events, and each event on a shared connection names the right caller', async (t) => {
  const log = join(directory, 'stopped.log')
  const stopping = await serve(t, [`--audit-policy-file=${policyFile}`, `--audit-log-path=${log}`])
  const client = stopping.client()
  const path = '/api/v1/namespaces/default/pods/none'
  const callers = [
    { 'user-agent': 'one' },
    { 'user-agent': 'two "quoted"' },
    { 'user-agent': 'two "quoted"', 'x-real-ip': '10.0.0.1' },
    { 'user-agent': 'two "quoted"', 'impersonate-user': 'bob' },
  ]
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => client.get(`${path}?i=${i}`, callers[i % 4] as { [name: string]: string })),
  )
  assert.ok(answers.every(({ status }) => status === 404 || status === 403))
  await stopping.stop()
  const events = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): Told => JSON.parse(line))
  const told = events.filter(({ requestURI, stage }) => requestURI.startsWith(path) && stage === 'ResponseComplete')
  assert.deepEqual(
    told
      .map(({ requestURI, userAgent, sourceIPs, impersonatedUser }) => [
        Number(requestURI.split('=')[1]),
        userAgent,
        sourceIPs.join(),
        impersonatedUser?.username,
      ])
      .sort(([a], [b]) => a - b),
    answers.map((_, i) => [
      i,
      callers[i % 4]!['user-agent'],
      i % 4 === 2 ? '10.0.0.1,127.0.0.1' : '127.0.0.1',
      i % 4 === 3 ? 'bob' : undefined,
    ]),
  )
})

test('invalid audit flags and files are rejected at startup', async (t) => {
  const broken = join(directory, 'broken.yaml')
  writeFileSync(broken, 'apiVersion: audit.orch.io/v1\nkind: Policy\nrules: [{ level: Some }]\n')
  const attempts: [flags: string[], why: RegExp][] = [
    [[`--audit-log-path=${logFile}`], /--audit-policy-file is required/],
    [[`--audit-policy-file=${broken}`], /broken\.yaml: rules\[0\]\.level/],
    [[`--audit-policy-file=${directory}/none`], /cannot read/],
    [[`--audit-policy-file=${policyFile}`, `--audit-log-path=${directory}`], /--audit-log-path: cannot write/],
    [['--audit-log-mode=sometimes'], /is not one of blocking/],
  ]
  for (const [flags, why] of attempts) assert.match((await startFailing(t, flags)).errors, why)
})
