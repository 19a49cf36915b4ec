/**
 * Tests PodSecurity: levels from namespace labels and the configuration file, rejections, warnings, metrics and
 * exemptions.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { readPodSecurity } from '../../../src/apiserver/admission/pod-security/configuration.ts'
import { admissionFile } from '../../support/admission-file.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'

const plain = { containers: [{ name: 'c', image: 'i' }] }
const hostNetwork = { ...plain, hostNetwork: true }
const label = (name: string) => `pod-security.orch.io/${name}`
const noAccounts = '--disable-admission-plugins=ServiceAccount'

let createdCount = 0
async function namespace(client: HttpClient, levels: { readonly [name: string]: string } = {}): Promise<string> {
  const name = `n${createdCount++}`
  const labels = Object.fromEntries(Object.entries(levels).map(([key, value]) => [label(key), value]))
  const answer = await client.post('/api/v1/namespaces', { metadata: { name, labels } })
  assert.equal(answer.status, 201, answer.text)
  return name
}

const pod = (client: HttpClient, where: string, spec: object, name = 'p') =>
  client.post(`/api/v1/namespaces/${where}/pods`, { metadata: { name }, spec })

const patch = (client: HttpClient, path: string, body: unknown, type = 'merge-patch') =>
  client.send(path, { method: 'PATCH', headers: { 'content-type': `application/${type}+json` }, body })

const relabel = (client: HttpClient, where: string, labels: object, query = '') =>
  patch(client, `/api/v1/namespaces/${where}${query}`, { metadata: { labels } })

function warningsOf({ headers }: Answer): string[] {
  return [...String(headers.warning ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text]) =>
    text!.replaceAll(/\\(.)/g, '$1'),
  )
}

describe('Pod Security labels on a namespace', async () => {
  const server = await serve({ after }, [noAccounts])
  const client = server.client()

  test('the enforce label of a namespace rejects a violating pod with a reason and without a warning', async () => {
    const where = await namespace(client, { enforce: 'baseline', warn: 'restricted' })
    const refused = await pod(client, where, hostNetwork)
    assert.deepEqual([refused.status, refused.body.details], [403, { name: 'p', kind: 'pods' }])
    assert.equal(
      refused.body.message,
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    )
    assert.deepEqual(warningsOf(refused), [])
  })

  test('the warn label of a namespace admits a pod and warns about all violations', async () => {
    const where = await namespace(client, { warn: 'restricted', 'warn-version': 'v1.22' })
    const answer = await pod(client, where, plain)
    const [warning, ...more] = warningsOf(answer)
    assert.deepEqual([answer.status, more], [201, []])
    assert.match(warning!, /^would violate PodSecurity "restricted:v1\.22": allowPrivilegeEscalation != false \(/)
    assert.match(warning!, /securityContext\.seccompProfile\.type to "RuntimeDefault" or "Localhost"\)$/)
  })

  test('the audit label of a namespace increments a counter and causes no warning', async () => {
    const where = await namespace(client, { audit: 'baseline' })
    const denied = async () => {
      const { text } = await client.get('/metrics')
      const line = text
        .split('\n')
        .find((one) => one.startsWith('pod_security_evaluations_total{') && one.includes('mode="audit"'))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const before = await denied()
    const answer = await pod(client, where, hostNetwork)
    assert.deepEqual([answer.status, warningsOf(answer)], [201, []])
    assert.equal(await denied(), before + 1)
  })

  test('invalid Pod Security labels are rejected in every kind of write', async () => {
    const bad = { [label('enforce')]: 'strict', [label('warn-version')]: 'v2.1' }
    const answer = await client.post('/api/v1/namespaces', { metadata: { name: 'bad', labels: bad } })
    assert.equal(answer.status, 422)
    assert.deepEqual(
      answer.body.details.causes.map(({ field }: { field: string }) => field),
      Object.keys(bad).map((key) => `metadata.labels[${key}]`),
    )
    const where = await namespace(client)
    for (const type of ['merge-patch', 'strategic-merge-patch'])
      assert.equal(
        (await patch(client, `/api/v1/namespaces/${where}`, { metadata: { labels: bad } }, type)).status,
        422,
      )
    const configuration = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: where, labels: bad } }
    const applied = await client.send(`/api/v1/namespaces/${where}?fieldManager=m`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: configuration,
    })
    assert.equal(applied.status, 422)
    for (const version of ['1.22', 'v1', 'v1.022', 'v1.x', 'Latest', '']) {
      const labels = { [label('audit-version')]: version }
      assert.equal((await relabel(client, where, labels)).status, 422, version)
    }
  })

  test('setting a stricter enforce level on a namespace returns warnings about existing pods', async () => {
    const where = await namespace(client)
    for (const name of ['a', 'b', 'd']) await pod(client, where, hostNetwork, name)
    await pod(client, where, { ...plain, hostPID: true, volumes: [{ name: 'v', hostPath: { path: '/' } }] }, 'e')
    const head = `existing pods in namespace "${where}" violate the new PodSecurity enforce level "baseline:latest"`
    const told = [head, 'a (and 2 other pods): host namespaces', 'e: host namespaces, hostPath volumes']
    const baseline = { [label('enforce')]: 'baseline' }
    assert.deepEqual(warningsOf(await relabel(client, where, baseline, '?dryRun=All')), told)
    assert.deepEqual(warningsOf(await relabel(client, where, { [label('warn')]: 'baseline' })), [])
    assert.deepEqual(warningsOf(await relabel(client, where, baseline)), told)
    assert.deepEqual(warningsOf(await relabel(client, where, { other: 'x' })), [])
    assert.equal(warningsOf(await relabel(client, where, { [label('enforce')]: 'restricted' })).length, 3)
    assert.deepEqual(warningsOf(await relabel(client, where, baseline)), [])
    assert.equal(warningsOf(await relabel(client, where, { [label('enforce-version')]: 'v1.7' })).length, 3)
    assert.deepEqual(warningsOf(await relabel(client, where, { [label('enforce')]: 'privileged' })), [])
  })

  test('PodSecurity checks an updated pod only if relevant fields change', async () => {
    const where = await namespace(client)
    await pod(client, where, hostNetwork)
    await relabel(client, where, { [label('enforce')]: 'baseline' })
    const path = `/api/v1/namespaces/${where}/pods/p`
    const status = async (body: object, at = path) => (await patch(client, at, body, 'strategic-merge-patch')).status
    assert.equal(await status({ metadata: { labels: { a: 'b' } } }), 200)
    assert.equal(await status({ spec: { activeDeadlineSeconds: 10 } }), 200)
    assert.equal(await status({ status: { message: 'm' } }, `${path}/status`), 200)
    assert.equal(await status({ spec: { containers: [{ name: 'c', image: 'other' }] } }), 403)
    const added = { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } }
    assert.equal(await status(added, `${path}/ephemeralcontainers`), 403)
  })

  const template = { metadata: { labels: { a: 'b' } }, spec: hostNetwork }
  const selected = { selector: { matchLabels: { a: 'b' } }, template }
  const once = { ...template, spec: { ...hostNetwork, restartPolicy: 'Never' } }
  for (const [path, object] of [
    ['/api/v1/namespaces/NS/podtemplates', { template }],
    ['/api/v1/namespaces/NS/replicationcontrollers', { spec: { selector: { a: 'b' }, template } }],
    ['/apis/apps/v1/namespaces/NS/deployments', { spec: selected }],
    ['/apis/apps/v1/namespaces/NS/replicasets', { spec: selected }],
    ['/apis/apps/v1/namespaces/NS/statefulsets', { spec: { ...selected, serviceName: 's' } }],
    ['/apis/apps/v1/namespaces/NS/daemonsets', { spec: selected }],
    ['/apis/batch/v1/namespaces/NS/jobs', { spec: { template: once } }],
    [
      '/apis/batch/v1/namespaces/NS/cronjobs',
      { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: once } } } },
    ],
  ] as const)
    test(`${path.split('/').at(-1)} that violate the Pod Security level cause warnings but are admitted`, async () => {
      const where = await namespace(client, { enforce: 'baseline', warn: 'baseline' })
      const answer = await client.post(path.replace('NS', where), { metadata: { name: 'x' }, ...object })
      assert.equal(answer.status, 201, answer.text)
      assert.deepEqual(warningsOf(answer), [
        'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
      ])
    })
})

const head = { apiVersion: 'pod-security.admission.config.orch.io/v1beta1', kind: 'PodSecurityConfiguration' }

describe('PodSecurity configuration file', async () => {
  const file = admissionFile(
    { after },
    {
      PodSecurity: {
        ...head,
        defaults: { enforce: 'baseline', warn: 'restricted', 'warn-version': 'v1.7' },
        exemptions: { usernames: ['system:serviceaccount:free:robot'], namespaces: ['free'], runtimeClasses: ['free'] },
      },
    },
  )
  const server = await serve({ after }, [noAccounts, file])
  const client = server.client()

  test('the PodSecurity configuration sets the default levels of namespaces without labels', async () => {
    const where = await namespace(client)
    assert.match((await pod(client, where, hostNetwork)).body.message, /violates PodSecurity "baseline:latest"/)
    assert.match(
      warningsOf(await pod(client, where, plain))[0]!,
      /^would violate PodSecurity "restricted:v1\.7": runAsNonRoot/,
    )
    const free = await namespace(client, { enforce: 'privileged', warn: 'privileged' })
    const answer = await pod(client, free, hostNetwork)
    assert.deepEqual([answer.status, warningsOf(answer)], [201, []])
  })

  test('the PodSecurity configuration exempts users, namespaces and runtime classes', async () => {
    const where = await namespace(client)
    await client.post('/api/v1/namespaces', { metadata: { name: 'free' } })
    await client.post('/apis/node.orch.io/v1/runtimeclasses', { metadata: { name: 'free' }, handler: 'h' })
    const asRobot = await client.send(`/api/v1/namespaces/${where}/pods`, {
      method: 'POST',
      headers: { 'impersonate-user': 'system:serviceaccount:free:robot', 'impersonate-group': 'system:masters' },
      body: { metadata: { name: 'u' }, spec: hostNetwork },
    })
    assert.equal(asRobot.status, 201, asRobot.text)
    assert.equal((await pod(client, 'free', hostNetwork)).status, 201)
    assert.equal((await pod(client, where, { ...hostNetwork, runtimeClassName: 'free' }, 'r')).status, 201)
    assert.equal((await pod(client, where, hostNetwork, 'nobody')).status, 403)
  })

  for (const [what, fields, told] of [
    ['a wrong kind', { kind: 'Pod' }, /its configuration must be of kind PodSecurityConfiguration/],
    ['an unknown field', { default: {} }, /unknown field "default"/],
    ['an unknown nested field', { defaults: { enforced: 'x' } }, /unknown field "defaults\.enforced"/],
    ['an unknown level', { defaults: { enforce: 'strict' } }, /defaults\.enforce: .*"strict"/],
    ['an unknown version', { defaults: { 'warn-version': 'v2' } }, /defaults\.warn-version: .*"v2"/],
    ['a duplicate exempt name', { exemptions: { namespaces: ['a', 'a'] } }, /exemptions\.namespaces\[1\]: Duplicate/],
    ['an invalid exempt name', { exemptions: { runtimeClasses: ['A_'] } }, /exemptions\.runtimeClasses\[0\]/],
    ['an exempt user without a name', { exemptions: { usernames: [''] } }, /exemptions\.usernames\[0\]/],
  ] as const)
    test(`a PodSecurity configuration with ${what} is rejected`, () => {
      const value = { ...head, ...fields } as unknown as Json
      assert.throws(() => readPodSecurity(value, vendorOf('orch')), told)
    })

  test('the server does not start with an invalid PodSecurity configuration, and the error names the file and the plugin', async () => {
    const bad = admissionFile({ after }, { PodSecurity: { ...head, default: {} } })
    const { code, errors } = await startFailing({ after }, [bad])
    assert.equal(code, 1)
    assert.match(errors, /admission\.yaml: PodSecurity: unknown field "default"/)
  })
})

test('Pod Security labels and annotations use the domain of the profile', async () => {
  const server = await serve({ after }, [noAccounts, '--profile=kubernetes'])
  const client = server.client()
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline', [label('enforce')]: 'privileged' }
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: 'n', labels } })).status, 201)
  assert.equal((await pod(client, 'n', hostNetwork)).status, 403)
  const key = 'container.apparmor.security.beta.kubernetes.io/c'
  const annotated = { metadata: { name: 'p', annotations: { [key]: 'unconfined' } }, spec: plain }
  const refused = await client.post('/api/v1/namespaces/n/pods', annotated)
  assert.match(refused.body.message, /forbidden AppArmor profile/)
})
