/**
 * Tests the admission plugins that check only the pod, on a server that enables all of them: AlwaysPullImages,
 * SecurityContextDeny, LimitPodHardAntiAffinityTopology and ExtendedResourceToleration. Also tests
 * DenyServiceExternalIPs, which checks Services.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const container = { name: 'c', image: 'i' }
const pods = '/api/v1/namespaces/default/pods'
const strategic = 'application/strategic-merge-patch+json'

describe('admission plugins for pods and Services', async () => {
  const names = ['AlwaysPullImages', 'LimitPodHardAntiAffinityTopology', 'ExtendedResourceToleration']
  const server = await serve({ after }, [
    '--disable-admission-plugins=ServiceAccount',
    `--enable-admission-plugins=${[...names, 'SecurityContextDeny', 'DenyServiceExternalIPs'].join(',')}`,
  ])
  const client = server.client()
  const create = (spec: object, name = 'p', query = '?dryRun=All') =>
    client.post(`${pods}${query}`, { metadata: { name }, spec: { containers: [container], ...spec } })
  const patch = (path: string, body: object) =>
    client.send(path, { method: 'PATCH', headers: { 'content-type': strategic }, body })

  test('AlwaysPullImages: all containers, including those added later, get the pull policy Always', async () => {
    const spec = {
      initContainers: [{ name: 'i', image: 'i:1', imagePullPolicy: 'Never' }],
      containers: [{ ...container, image: 'i:1', imagePullPolicy: 'IfNotPresent' }],
    }
    const { body, status } = await create(spec, 'pulled', '')
    const policies = [...body.spec.initContainers, ...body.spec.containers].map((one) => one.imagePullPolicy)
    assert.deepEqual([status, policies], [201, ['Always', 'Always']])
    const added = { spec: { ephemeralContainers: [{ name: 'e', image: 'x:1', imagePullPolicy: 'Never' }] } }
    const later = await patch(`${pods}/pulled/ephemeralcontainers`, added)
    assert.deepEqual([later.status, later.body.spec.ephemeralContainers[0].imagePullPolicy], [200, 'Always'])
    const other = await patch(`${pods}/pulled`, { spec: { containers: [{ name: 'c', image: 'i:2' }] } })
    assert.deepEqual([other.status, other.body.spec.containers[0].imagePullPolicy], [200, 'Always'])
  })

  for (const [field, value] of Object.entries({
    supplementalGroups: [1],
    seLinuxOptions: { level: 's0' },
    runAsUser: 0,
    fsGroup: 5,
  }))
    test(`SecurityContextDeny: a pod with ${field} is rejected`, async () => {
      const refused = await create({ securityContext: { [field]: value } })
      assert.equal(refused.status, 403)
      assert.match(refused.body.message, new RegExp(`spec\\.securityContext\\.${field} is forbidden`))
    })

  test('SecurityContextDeny: an explicitly empty list of supplemental groups is rejected, but null is allowed', async () => {
    const empty = { securityContext: { supplementalGroups: [] } }
    const { body: pod } = await create({ securityContext: { supplementalGroups: null } }, 'unstated', '')
    assert.deepEqual(pod.spec.securityContext, {})
    const path = `${pods}/unstated`
    const applied = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'applied' } }
    const send = (place: string, method: string, [type, body]: [string, unknown]) =>
      client.send(place, { method, headers: { 'content-type': type }, body })
    const ways = {
      create: await create(empty),
      put: await client.put(path, { ...pod, spec: { ...pod.spec, ...empty } }),
      merge: await send(path, 'PATCH', ['application/merge-patch+json', { spec: empty }]),
      strategic: await patch(path, { spec: empty }),
      json: await send(path, 'PATCH', [
        'application/json-patch+json',
        [{ op: 'add', path: '/spec/securityContext/supplementalGroups', value: [] }],
      ]),
      apply: await send(`${pods}/applied?fieldManager=m`, 'PATCH', [
        'application/apply-patch+yaml',
        { ...applied, spec: { containers: [container], ...empty } },
      ]),
    }
    const told = Object.entries(ways).map(([way, { status, body }]) => [way, status, body.message])
    for (const [way, status, message] of told)
      assert.match(`${status} ${message}`, /^403 .*supplementalGroups is forbidden/, String(way))
  })

  test('SecurityContextDeny: all kinds of containers are checked, and other fields are allowed', async () => {
    const running = { ...container, securityContext: { runAsUser: 0 } }
    const labelled = { ...container, securityContext: { seLinuxOptions: { user: 'u' } } }
    assert.equal((await create({ containers: [running] })).status, 403)
    assert.equal((await create({ initContainers: [{ ...labelled, name: 'i' }] })).status, 403)
    const free = { ...container, securityContext: { privileged: true, runAsGroup: 1 } }
    assert.equal((await create({ containers: [free], securityContext: { runAsNonRoot: true } })).status, 201)
    await create({}, 'plain', '')
    const added = { spec: { ephemeralContainers: [{ ...running, name: 'e' }] } }
    assert.equal((await patch(`${pods}/plain/ephemeralcontainers`, added)).status, 403)
  })

  test('LimitPodHardAntiAffinityTopology: required anti-affinity terms must use the hostname topology key', async () => {
    const away = (...keys: string[]) => ({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({
            labelSelector: {},
            topologyKey,
          })),
        },
      },
    })
    assert.equal((await create(away('orch.io/hostname'))).status, 201)
    const refused = await create(away('orch.io/hostname', 'rack'))
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /topologyKey rack but only orch\.io\/hostname is allowed/)
    const term = { weight: 1, podAffinityTerm: { labelSelector: {}, topologyKey: 'rack' } }
    const soft = { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [term] } } }
    assert.equal((await create(soft)).status, 201)
  })

  test('ExtendedResourceToleration: pods that request an extended resource get a toleration for its taint', async () => {
    const amount = (name: string) => ({ requests: { [name]: '1' }, limits: { [name]: '1' } })
    const spec = {
      initContainers: [{ name: 'i', image: 'i', resources: amount('example.com/gpu') }],
      containers: [{ ...container, resources: { ...amount('cpu'), ...amount('a.example/fpga') } }],
    }
    const { body } = await create(spec)
    const added = body.spec.tolerations.filter(({ key }: { key: string }) => !key.startsWith('node.'))
    assert.deepEqual(added, [
      { key: 'a.example/fpga', operator: 'Exists', effect: 'NoSchedule' },
      { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
    ])
    // An identical toleration is not added again. If the pod has only a broader toleration, the plugin still adds its
    // own.
    const taint = { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }
    for (const own of [taint, { ...taint, effect: undefined }, { operator: 'Exists' }]) {
      const tolerant = await create({
        containers: [{ ...container, resources: amount('example.com/gpu') }],
        tolerations: [own],
      })
      const told = tolerant.body.spec.tolerations.filter(({ key = '' }: { key?: string }) => !key.startsWith('node.'))
      assert.deepEqual(told, own === taint ? [taint] : [JSON.parse(JSON.stringify(own)), taint])
    }
  })

  test('DenyServiceExternalIPs: external IPs cannot be added but may be kept or removed', async () => {
    const services = '/api/v1/namespaces/default/services'
    const spec = { ports: [{ port: 80 }], externalIPs: ['192.0.2.1'] }
    const refused = await client.post(services, { metadata: { name: 's' }, spec })
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /192\.0\.2\.1/)
    await server.stop()
    await server.restart(['--disable-admission-plugins=ServiceAccount'])
    assert.equal(
      (
        await client.post(services, {
          metadata: { name: 's' },
          spec: { ...spec, externalIPs: ['192.0.2.1', '192.0.2.2'] },
        })
      ).status,
      201,
    )
    await server.stop()
    await server.restart(['--enable-admission-plugins=DenyServiceExternalIPs'])
    const change = async (externalIPs: string[]) =>
      (await patch(`${services}/s`, { spec: { externalIPs }, metadata: { labels: { n: `${externalIPs.length}` } } }))
        .status
    assert.equal(await change(['192.0.2.1', '192.0.2.2']), 200)
    assert.equal(await change(['192.0.2.1', '192.0.2.3']), 403)
    assert.equal(await change(['192.0.2.1']), 200)
    assert.equal(await change([]), 200)
  })
})
