/** Tests admission webhooks with a real server: requests, their order, and the effects of responses. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { serve } from '../../../support/in-process.ts'
import { untilTrue } from '../../../support/until.ts'
import { configurationPath, configure, everything, unconfigure, Webhooks, webhook } from '../../../support/webhooks.ts'

const server = await serve({ after })
const webhooks = await Webhooks.start({ after })
const client = server.client()
const maps = '/api/v1/namespaces/hooked/configmaps'
await client.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })
await client.post('/api/v1/namespaces', { metadata: { name: 'free' } })

const encoded = (operations: unknown) => `/patch/${Buffer.from(JSON.stringify(operations)).toString('base64url')}`

/** Runs a function while these webhooks are configured. */
async function withConfigured(sort: 'mutating' | 'validating', hooks: readonly object[], run: () => Promise<void>) {
  await configure(client, sort, 'tested', hooks)
  webhooks.taken()
  try {
    await run()
  } finally {
    await unconfigure(client, sort, 'tested')
  }
}

test('labels added by a webhook are stored, and later webhooks see them', async () => {
  await withConfigured('mutating', [webhook(webhooks, '/chain/a'), webhook(webhooks, '/chain/b')], async () => {
    const { status, body } = await client.post(maps, { metadata: { name: 'chained' } })
    assert.deepEqual([status, body.metadata.labels], [201, { chain: 'ab' }])
    assert.deepEqual((await client.get(`${maps}/chained`)).body.metadata.labels, { chain: 'ab' })
    assert.deepEqual(webhooks.taken(), ['/chain/a', '/chain/b'])
  })
})

test('reinvocationPolicy IfNeeded: a webhook is called again if the object has changed since the first call', async () => {
  const again = { reinvocationPolicy: 'IfNeeded' }
  const hooks = [
    webhook(webhooks, '/chain/a', again),
    webhook(webhooks, '/chain/b'),
    webhook(webhooks, '/allow', again),
  ]
  await withConfigured('mutating', hooks, async () => {
    const { body } = await client.post(maps, { metadata: { name: 'again' } })
    assert.equal(body.metadata.labels.chain, 'aba')
    // The last webhook is called again because the first webhook changed the object in the second round.
    assert.deepEqual(webhooks.taken(), ['/chain/a', '/chain/b', '/allow', '/chain/a', '/allow'])
  })
})

test('a denial returns the code and message from the webhook, regardless of the failure policy', async () => {
  const hooks = [webhook(webhooks, '/deny/418/not today', { failurePolicy: 'Ignore', name: 'no.example.com' })]
  await withConfigured('validating', hooks, async () => {
    const { status, body } = await client.post(maps, { metadata: { name: 'denied' } })
    assert.equal(status, 418)
    assert.equal(body.message, 'admission webhook "no.example.com" denied the request: not today')
    assert.equal((await client.get(`${maps}/denied`)).status, 404)
  })
})

test('a webhook warning is sent to the client as UTF-8 without control characters', async () => {
  const hooks = [webhook(webhooks, `/warn/${encodeURIComponent('über "\u{1f600}" 名\n\u0085.')}`)]
  await withConfigured('validating', hooks, async () => {
    const { status, headers } = await client.post(maps, { metadata: { name: 'warned' } })
    assert.equal(status, 201)
    // Node.js decodes header values as Latin-1.
    const warning = Buffer.from(String(headers.warning), 'latin1').toString('utf8')
    assert.equal(warning, '299 - "über \\"\u{1f600}\\" 名??."')
  })
})

test('long webhook warnings are truncated between characters', async () => {
  const hooks = [webhook(webhooks, '/warn-at-length')]
  await withConfigured('validating', hooks, async () => {
    const { headers } = await client.post(maps, { metadata: { name: 'warned-at-length' } })
    const bytes = Buffer.from(String(headers.warning), 'latin1')
    assert.match(bytes.toString('utf8'), /^299 - "\u{1f600}+"$/u)
    assert.ok(bytes.length > 3900 && bytes.length <= 4010, `${bytes.length} bytes`)
  })
})

test('v1beta1: a patch is applied as a JSON patch, regardless of its patchType', async () => {
  const operations = Buffer.from(JSON.stringify([{ op: 'add', path: '/data', value: { patched: 'yes' } }]))
  const path = `/typed-patch/Foreign/${operations.toString('base64url')}`
  const post = async (name: string) => await client.post(maps, { metadata: { name } })
  await withConfigured('mutating', [webhook(webhooks, path, { admissionReviewVersions: ['v1beta1'] })], async () => {
    const { status, body } = await post('typed-beta')
    assert.deepEqual([status, body.data], [201, { patched: 'yes' }])
  })
  await withConfigured('mutating', [webhook(webhooks, path)], async () => {
    const { status, body } = await post('typed')
    assert.equal(status, 500)
    assert.match(body.message, /unsupported patch type "Foreign"/)
  })
})

test('webhooks are not called if nothing is configured or no rule matches', async () => {
  const hooks = [
    webhook(webhooks, '/deny/403/a', { rules: [{ ...everything, operations: ['DELETE'] }] }),
    webhook(webhooks, '/deny/403/b', { objectSelector: { matchLabels: { run: '1' } } }),
    webhook(webhooks, '/deny/403/c', { rules: [{ ...everything, resources: ['configmaps/status'] }] }),
    webhook(webhooks, '/deny/403/d', { rules: [{ ...everything, scope: 'Cluster' }] }),
    webhook(webhooks, '/deny/403/e', { rules: [{ ...everything, apiGroups: ['apps'] }] }),
  ]
  await withConfigured('validating', hooks, async () => {
    assert.equal((await client.post(maps, { metadata: { name: 'unmatched' } })).status, 201)
    const free = await client.post('/api/v1/namespaces/free/configmaps', { metadata: { name: 'a' } })
    assert.equal(free.status, 201)
    assert.deepEqual(webhooks.taken(), [])
    assert.equal((await client.post(maps, { metadata: { name: 'run', labels: { run: '1' } } })).status, 403)
    assert.equal((await client.delete(`${maps}/unmatched`)).status, 403)
  })
})

test('admission reviews for updates and collection deletes contain all fields', async () => {
  const rules = [{ ...everything, operations: ['UPDATE', 'DELETE'] }]
  await client.post(maps, { metadata: { name: 'whole', labels: { l: 'w' } }, data: { k: 'v' } })
  await withConfigured('validating', [webhook(webhooks, '/allow', { rules, timeoutSeconds: 7 })], async () => {
    await client.put(`${maps}/whole?fieldManager=me`, {
      metadata: { name: 'whole', labels: { l: 'w' } },
      data: { k: 'w' },
    })
    await client.send(`${maps}?labelSelector=l%3Dw`, { method: 'DELETE' })
    const [updated, deleted] = webhooks.calls.splice(0)
    assert.deepEqual([updated!.query, updated!.authorization], ['?timeout=7s', undefined])
    assert.equal(updated!.review.apiVersion, 'admission.orch.io/v1')
    const { uid, userInfo, object, oldObject, ...rest } = updated!.review.request
    assert.deepEqual(rest, {
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'whole',
      namespace: 'hooked',
      operation: 'UPDATE',
      dryRun: false,
      options: { kind: 'UpdateOptions', apiVersion: 'meta.orch.io/v1', fieldManager: 'me' },
    })
    assert.equal(userInfo.username, 'admin')
    assert.deepEqual([object.data, oldObject.data], [{ k: 'w' }, { k: 'v' }])
    assert.equal(object.metadata.resourceVersion, oldObject.metadata.resourceVersion)
    const request = deleted!.review.request
    assert.deepEqual([request.operation, request.name, request.object], ['DELETE', undefined, null])
    assert.equal(request.oldObject.metadata.name, 'whole')
    assert.notEqual(uid, request.uid)
  })
})

test('admission reviews contain the grace period of a deletion and the pod of a Binding', async () => {
  const pods = '/api/v1/namespaces/hooked/pods'
  const rules = [{ ...everything, operations: ['CREATE', 'DELETE'], resources: ['pods', 'bindings'] }]
  const hook = webhook(webhooks, '/allow', { rules, objectSelector: undefined })
  await client.post('/api/v1/namespaces/hooked/serviceaccounts', { metadata: { name: 'default' } })
  const make = async (name: string, nodeName?: string) => {
    const spec = { nodeName, terminationGracePeriodSeconds: 12, containers: [{ name: 'c', image: 'i' }] }
    assert.equal((await client.post(pods, { metadata: { name }, spec })).status, 201)
  }
  await make('runs', 'n')
  await make('waits')
  await withConfigured('validating', [hook], async () => {
    await client.post('/api/v1/namespaces/hooked/bindings', { metadata: { name: 'gone' }, target: { name: 'n' } })
    for (const path of ['runs?dryRun=All', 'runs?gracePeriodSeconds=5', 'runs', 'waits?gracePeriodSeconds=9'])
      assert.equal((await client.delete(`${pods}/${path}`)).status, 200, path)
    const [bound, ...deleted] = webhooks.calls.splice(0).map(({ review }) => review.request)
    assert.deepEqual([bound.kind.kind, bound.name], ['Binding', 'gone'])
    // A terminating pod keeps its grace period, whereas an unscheduled pod needs none.
    assert.deepEqual(
      deleted.map(({ options }) => options.gracePeriodSeconds),
      [12, 5, undefined, 0],
    )
  })
})

test('webhooks are called for every kind of write, with the actual operation', async () => {
  const rules = [{ ...everything, operations: ['*'] }]
  await withConfigured('validating', [webhook(webhooks, '/deny/403/every way', { rules })], async () => {
    await client.post('/api/v1/namespaces/free/configmaps', { metadata: { name: 'way' } })
    const path = `${maps}/way`
    const apply = { headers: { 'content-type': 'application/apply-patch+yaml' }, method: 'PATCH' }
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'way' }, data: { a: 'b' } }
    assert.equal((await client.send(`${path}?fieldManager=me`, { ...apply, body: applied })).status, 403)
    await configure(client, 'validating', 'tested', [])
    assert.equal((await client.post(maps, { metadata: { name: 'way' } })).status, 201)
    await configure(client, 'validating', 'tested', [webhook(webhooks, '/deny/403/every way', { rules })])
    const patches = { 'merge-patch+json': {}, 'strategic-merge-patch+json': {}, 'json-patch+json': [] }
    for (const type of Object.keys(patches)) {
      const data = { data: { changed: type.slice(0, 4) } }
      const body = type === 'json-patch+json' ? [{ op: 'add', path: '/data', value: data.data }] : data
      const answer = await client.send(path, {
        method: 'PATCH',
        headers: { 'content-type': `application/${type}` },
        body,
      })
      assert.equal(answer.status, 403, type)
    }
    assert.equal((await client.send(`${path}?fieldManager=me`, { ...apply, body: applied })).status, 403)
    assert.equal((await client.put(path, { metadata: { name: 'way' }, data: { a: 'c' } })).status, 403)
    assert.equal((await client.delete(path)).status, 403)
    assert.equal((await client.send(maps, { method: 'DELETE' })).status, 403)
    const lease = '/apis/coordination.orch.io/v1/namespaces/hooked/leases/made'
    assert.equal((await client.put(lease, { metadata: { name: 'made' } })).status, 403)
    const operations = webhooks.calls.splice(0).map(({ review }) => review.request.operation)
    assert.deepEqual(operations, ['CREATE', ...Array(5).fill('UPDATE'), 'DELETE', 'DELETE', 'CREATE'])
    assert.deepEqual((await client.get(path)).body.data, undefined)
  })
})

test('matchPolicy Equivalent: a webhook for one version also receives requests in other versions, converted to that version', async () => {
  const rules = [{ operations: ['CREATE'], apiGroups: ['batch'], apiVersions: ['v1'], resources: ['cronjobs'] }]
  const container = { name: 'c', image: 'i' }
  const template = { spec: { restartPolicy: 'Never', containers: [container] } }
  const hooks = [
    webhook(webhooks, '/label/seen/yes', { rules }),
    webhook(webhooks, '/deny/403/exact', { rules, matchPolicy: 'Exact' }),
  ]
  await withConfigured('mutating', hooks, async () => {
    const sent = { metadata: { name: 'beta' }, spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } } }
    const { status, body } = await client.post('/apis/batch/v1beta1/namespaces/hooked/cronjobs', sent)
    assert.deepEqual([status, body.apiVersion, body.metadata.labels], [201, 'batch/v1beta1', { seen: 'yes' }])
    const [{ review }] = webhooks.calls.splice(0) as unknown as [
      { review: { request: Record<string, { version: string }> } },
    ]
    const { kind, requestKind, object } = review.request
    assert.deepEqual([kind!.version, requestKind!.version], ['v1', 'v1beta1'])
    assert.equal((object as unknown as { apiVersion: string }).apiVersion, 'batch/v1')
  })
})

test('webhooks are called for custom kinds, all subresources and connect requests', async () => {
  const group = 'webhooked.example.com'
  const schema = { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } }
  const subresources = { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } }
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema, subresources }))
  const definition = { metadata: { name: `widgets.${group}` }, spec: { group, scope: 'Namespaced', names, versions } }
  assert.equal((await client.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', definition)).status, 201)
  const path = `/apis/${group}/v2/namespaces/hooked/widgets`
  const widget = { apiVersion: `${group}/v2`, kind: 'Widget', metadata: { name: 'w' }, spec: { n: 1 } }
  await untilTrue(async () => (await client.get(path)).status === 200)
  const rules = [{ operations: ['*'], apiGroups: [group, ''], apiVersions: ['v1'], resources: ['*/*'] }]
  await withConfigured('validating', [webhook(webhooks, '/allow', { rules })], async () => {
    assert.equal((await client.post(path, widget)).status, 201)
    const merge = { headers: { 'content-type': 'application/merge-patch+json' }, method: 'PATCH' }
    assert.equal((await client.send(`${path}/w/scale`, { ...merge, body: { spec: { replicas: 3 } } })).status, 200)
    assert.equal((await client.send(`${path}/w/status`, { ...merge, body: { status: { n: 2 } } })).status, 200)
    await client.send('/api/v1/namespaces/hooked/pods/p/exec?command=ls', { method: 'POST' })
    const seen = webhooks.calls
      .splice(0)
      .map(({ review: { request: r } }) => [
        `${r.operation} ${r.resource.version} ${r.resource.resource}/${r.subResource ?? ''}`,
        `${r.kind.kind} ${r.requestResource.version} ${r.object.apiVersion}`,
      ])
    assert.deepEqual(seen, [
      ['CREATE v1 widgets/', `Widget v2 ${group}/v1`],
      ['UPDATE v1 widgets/scale', 'Scale v2 autoscaling/v1'],
      ['UPDATE v1 widgets/status', `Widget v2 ${group}/v1`],
      ['CONNECT v1 pods/exec', 'PodExecOptions v1 v1'],
    ])
  })
  await client.delete(`/apis/apiextensions.orch.io/v1/customresourcedefinitions/widgets.${group}`)
})

test('forbidden patches in webhook responses are rejected', async () => {
  const cases: [unknown, number, RegExp][] = [
    [[{ op: 'replace', path: '/metadata/namespace', value: 'free' }], 400, /namespace/],
    [[{ op: 'replace', path: '/kind', value: 'Secret' }], 500, /must not change the kind/],
    [[{ op: 'add', path: '/data', value: 'text' }], 500, /cannot apply the patch/],
    [[{ op: 'remove', path: '/none' }], 500, /cannot apply the patch/],
    [{ op: 'add' }, 500, /cannot apply the patch/],
    [[{ op: 'add', path: '/data', value: { 'bad key': 'v' } }], 422, /bad key/],
  ]
  for (const [operations, code, message] of cases)
    await withConfigured(
      'mutating',
      [webhook(webhooks, encoded(operations), { failurePolicy: 'Ignore' })],
      async () => {
        const { status, body } = await client.post(maps, { metadata: { name: 'patched' } })
        assert.equal(status, code, JSON.stringify(operations))
        assert.match(body.message, message)
      },
    )
})

test('invalid managedFields in webhook responses are discarded with a warning', async () => {
  const ruin = encoded([{ op: 'add', path: '/metadata/managedFields', value: [{ manager: 'x', operation: 'Odd' }] }])
  await withConfigured('mutating', [webhook(webhooks, ruin)], async () => {
    const { status, body, headers } = await client.post(`${maps}?fieldManager=me`, {
      metadata: { name: 'managed' },
      data: { a: 'b' },
    })
    assert.equal(status, 201)
    assert.match(String(headers.warning), /managedFields was invalid/)
    assert.deepEqual(
      body.metadata.managedFields.map(({ manager }: { manager: string }) => manager),
      ['me'],
    )
  })
})

test('a dry run that matches a webhook with side effects is rejected without calling it', async () => {
  const beta = configurationPath('validating').replace('/v1/', '/v1beta1/')
  const hook = webhook(webhooks, '/allow', { sideEffects: 'Some' })
  assert.equal((await client.post(beta, { metadata: { name: 'effects' }, webhooks: [hook] })).status, 201)
  webhooks.taken()
  const { status, body } = await client.post(`${maps}?dryRun=All`, { metadata: { name: 'dry' } })
  assert.equal(status, 400)
  assert.match(body.message, /does not support dry run/)
  assert.deepEqual(webhooks.taken(), [])
  await unconfigure(client, 'validating', 'effects')
})

test("a webhook with a Service reference is called at the Service's endpoints under the Service's DNS name", async () => {
  const hooked = await Webhooks.start({ after }, { names: { dns: ['hook.hooked.svc'], ips: [] } })
  const services = '/api/v1/namespaces/hooked/services'
  const { port, caBundle } = hooked
  const service = { namespace: 'hooked', name: 'hook', port, path: '/allow/it' }
  const asked = async (clientConfig: object) => {
    await configure(client, 'validating', 'tested', [webhook(webhooks, '/', { clientConfig })])
    const { status, body } = await client.post(`${maps}?dryRun=All`, { metadata: { name: 'served' } })
    return status === 201 ? '' : body.message
  }
  assert.match(await asked({ service, caBundle }), /service "hook" not found/)
  const spec = { type: 'ExternalName', externalName: '127.0.0.1' }
  await client.post(services, { metadata: { name: 'hook' }, spec })
  assert.equal(await asked({ service, caBundle }), '')
  assert.deepEqual(
    hooked.calls.map(({ path, host }) => [path, host]),
    [['/allow/it', `hook.hooked.svc:${port}`]],
  )
  await client.post(services, { metadata: { name: 'other' }, spec })
  const other = await asked({ service: { ...service, name: 'other' }, caBundle })
  assert.match(other, /x509: certificate is not valid for other.hooked.svc/)
  await unconfigure(client, 'validating', 'tested')
})

test('a webhook configuration that could lock out its owners causes warnings', async () => {
  const hook = {
    name: 'risky.example.com',
    clientConfig: {
      service: { namespace: 'hooked', name: 'nowhere' },
      caBundle: Buffer.from('no PEM').toString('base64'),
    },
    rules: [everything],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Ignore',
  }
  const { headers } = await client.post(`${configurationPath('validating')}?dryRun=All`, {
    metadata: { name: 'risky' },
    webhooks: [hook],
  })
  for (const text of [
    /system namespaces kube-system/,
    /leases/,
    /its own backend runs/,
    /hooked\/nowhere does not exist/,
    /caBundle contains no certificate/,
  ])
    assert.match(String(headers.warning), text)
  const careful = webhook(webhooks, '/allow')
  const answer = await client.post(`${configurationPath('validating')}?dryRun=All`, {
    metadata: { name: 'careful' },
    webhooks: [careful],
  })
  assert.deepEqual([answer.status, answer.headers.warning], [201, undefined])
  // A missing CA bundle causes no warning, because installers often add the bundle later.
  const service = { namespace: 'hooked', name: 'hook' }
  const scoped = { ...hook, rules: [{ ...everything, resources: ['secrets'] }], clientConfig: { service } }
  const installed = await client.post(`${configurationPath('validating')}?dryRun=All`, {
    metadata: { name: 'installed' },
    webhooks: [scoped],
  })
  assert.equal(installed.status, 201)
  assert.doesNotMatch(String(installed.headers.warning), /caBundle/)
})

test('a preview of a webhook configuration contains only matching objects that the caller may list', async () => {
  const hook = webhook(webhooks, '/allow', { objectSelector: { matchLabels: { previewed: 'yes' } } })
  await client.post(maps, { metadata: { name: 'seen', labels: { previewed: 'yes' } } })
  await client.post('/api/v1/namespaces/free/configmaps', {
    metadata: { name: 'unseen', labels: { previewed: 'yes' } },
  })
  const path = '/apis/ops.orch.io/v1/webhookpreviews'
  const { status, body } = await client.post(path, { spec: { webhooks: [hook] } })
  assert.equal(status, 201)
  assert.deepEqual(body.status.webhooks, [
    { name: hook.name, types: [{ group: '', resource: 'configmaps', count: 1, names: ['hooked/seen'] }] },
  ])
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  const rules = [{ apiGroups: ['ops.orch.io'], resources: ['webhookpreviews'], verbs: ['create'] }]
  await client.post(`${rbac}/clusterroles`, { metadata: { name: 'previewer' }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'previewer' }
  await client.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'previewer' },
    roleRef,
    subjects: [{ kind: 'User', name: 'bob' }],
  })
  const bobs = await server.client('bob-token').post(path, { spec: { webhooks: [hook] } })
  assert.deepEqual(bobs.body.status, { webhooks: [{ name: hook.name, types: [] }], hiddenTypes: ['configmaps'] })
})

test('the admission trace lists all plugins and webhooks with durations and results', async () => {
  await withConfigured(
    'mutating',
    [webhook(webhooks, '/label/traced/yes', { name: 'traced.example.com' })],
    async () => {
      const answer = await client.send(`${maps}?dryRun=All`, {
        method: 'POST',
        headers: { 'explain-admission': 'true' },
        body: { metadata: { name: 'traced' } },
      })
      const trace = JSON.parse(String(answer.headers['admission-trace'])) as {
        webhook?: string
        said?: string
        ms: number
      }[]
      const look = trace.find(({ webhook: name }) => name === 'traced.example.com')
      assert.deepEqual([look?.said, look!.ms > 0], ['allowed, with a patch', true])
      assert.match(
        String(answer.headers['admission-changes']),
        /"MutatingAdmissionWebhook","fields":\["metadata.labels"\]/,
      )
    },
  )
})

test('metrics count webhook calls, rejections and ignored failures', async () => {
  const hooks = [
    webhook(webhooks, '/deny/403/counted', { name: 'counted.example.com' }),
    webhook(webhooks, '/bad-json', { name: 'ignored.example.com', failurePolicy: 'Ignore' }),
  ]
  await withConfigured('validating', hooks, async () => {
    await client.post(maps, { metadata: { name: 'counted' } })
    const { text } = await client.get('/metrics')
    for (const line of [
      'apiserver_admission_webhook_request_total{code="403",name="counted.example.com",operation="CREATE",rejected="true",type="validating"} 1',
      'apiserver_admission_webhook_rejection_count{error_type="no_error",name="counted.example.com",operation="CREATE",rejection_code="403",type="validating"} 1',
      'apiserver_admission_webhook_fail_open_count{name="ignored.example.com",type="validating"} 1',
      'apiserver_admission_webhook_admission_duration_seconds_count{name="counted.example.com",operation="CREATE",rejected="true",type="validating"} 1',
    ])
      assert.ok(text.includes(line), line)
  })
})

test('the server sends webhook credentials only to the hosts for which they are configured', async (t) => {
  const kubeconfig = join(server.directory, 'webhooks.kubeconfig')
  const users = [{ name: `127.0.0.1:${webhooks.port}`, user: { token: 'for-this-one' } }]
  writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', users }))
  const configuration = {
    apiVersion: 'apiserver.config.orch.io/v1',
    kind: 'WebhookAdmissionConfiguration',
    kubeConfigFile: kubeconfig,
  }
  const plugins = [{ name: 'ValidatingAdmissionWebhook', configuration }]
  const file = join(server.directory, 'admission.json')
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins }),
  )
  const configured = await serve(t, [`--admission-control-config-file=${file}`])
  const stranger = await Webhooks.start(t)
  const own = configured.client()
  await own.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })
  webhooks.taken()
  await configure(own, 'validating', 'credentials', [webhook(webhooks, '/allow'), webhook(stranger, '/allow')])
  assert.equal((await own.post(maps, { metadata: { name: 'a' } })).status, 201)
  assert.deepEqual(
    [webhooks.calls[0]!.authorization, stranger.calls[0]!.authorization],
    ['Bearer for-this-one', undefined],
  )
})
