/** Tests PodNodeSelector and PodTolerationRestriction: additions and restrictions by namespace or configuration. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { configuredPodNodeSelector } from '../../../src/apiserver/admission/controls/pod-node-selector.ts'
import { configuredPodTolerationRestriction } from '../../../src/apiserver/admission/controls/pod-toleration-restriction.ts'
import { admissionFile } from '../../support/admission-file.ts'
import { serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'

const container = { name: 'c', image: 'i' }
const flags = [
  '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds',
  '--enable-admission-plugins=PodNodeSelector,PodTolerationRestriction',
]
const head = { apiVersion: 'podtolerationrestriction.admission.orch.io/v1alpha1', kind: 'Configuration' }

describe('admission plugins for pod placement', async () => {
  const server = await serve({ after }, flags)
  const client = server.client()
  let createdCount = 0
  const namespace = async (annotations: { [name: string]: string } = {}, name = `n${createdCount++}`) => {
    const keys = Object.entries(annotations).map(([key, value]) => [`scheduler.alpha.orch.io/${key}`, value])
    await client.post('/api/v1/namespaces', { metadata: { name, annotations: Object.fromEntries(keys) } })
    return name
  }
  const create = (where: string, spec: object = {}, query = '?dryRun=All') =>
    client.post(`/api/v1/namespaces/${where}/pods${query}`, {
      metadata: { name: 'p' },
      spec: { containers: [container], ...spec },
    })

  test('the node selector of a namespace is merged into its pods, and conflicts are rejected', async () => {
    const where = await namespace({ 'node-selector': ' env=test , region=west' })
    assert.deepEqual((await create(where)).body.spec.nodeSelector, { env: 'test', region: 'west' })
    const own = await create(where, { nodeSelector: { disk: 'ssd', env: 'test' } })
    assert.deepEqual(own.body.spec.nodeSelector, { disk: 'ssd', env: 'test', region: 'west' })
    const refused = await create(where, { nodeSelector: { env: 'prod' } })
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /conflicts with its namespace node label selector/)
  })

  for (const text of ['env in (a,b)', 'env', 'a=b=c', '=x', 'a b=c', 'a=*'])
    test(`a namespace with an invalid node selector annotation rejects every pod: ${text}`, async () => {
      const where = await namespace({ 'node-selector': text })
      const refused = await create(where)
      assert.equal(refused.status, 403)
      assert.match(
        refused.body.message,
        new RegExp(`annotation scheduler\\.alpha\\.orch\\.io/node-selector of namespace "${where}"`),
      )
    })

  test('the default tolerations of a namespace are merged into its pods, and forbidden tolerations are rejected', async () => {
    const given = { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }
    const where = await namespace({ defaultTolerations: JSON.stringify([given]) })
    assert.deepEqual((await create(where)).body.spec.tolerations, [given])
    const wide = [{ key: 'k', operator: 'Exists' }]
    assert.deepEqual((await create(where, { tolerations: wide })).body.spec.tolerations, wide)
    const strict = await namespace({ tolerationsWhitelist: JSON.stringify(wide) })
    assert.equal((await create(strict, { tolerations: [given] })).status, 201)
    for (const other of [{ key: 'other', operator: 'Exists' }, { operator: 'Exists' }]) {
      const refused = await create(strict, { tolerations: [other] })
      assert.deepEqual([refused.status, refused.body.reason], [403, 'Forbidden'])
      assert.match(refused.body.message, /conflict with its namespace whitelist/)
    }
  })

  test('pods with resource requests get a toleration for memory pressure on create and on update', async () => {
    const where = await namespace()
    const asking = { containers: [{ ...container, resources: { requests: { cpu: '1m' } } }] }
    const pressure = { key: 'node.orch.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }
    assert.equal((await create(where)).body.spec.tolerations, undefined)
    assert.deepEqual((await create(where, asking, '')).body.spec.tolerations, [pressure])
    const headers = { 'content-type': 'application/merge-patch+json' }
    const path = `/api/v1/namespaces/${where}/pods/p`
    const changed = await client.send(path, { method: 'PATCH', headers, body: { metadata: { labels: { a: 'b' } } } })
    assert.deepEqual([changed.status, changed.body.spec.tolerations], [200, [pressure]])
  })

  for (const text of ['not json', '{}', '[1]', '[{"key":"k","nothing":1}]', '[{"operator":"Near"}]'])
    for (const name of ['defaultTolerations', 'tolerationsWhitelist'])
      test(`a namespace with an invalid ${name} annotation rejects every pod: ${text}`, async () => {
        const where = await namespace({ [name]: text })
        const refused = await create(where, { tolerations: [{ key: 'k', operator: 'Exists' }] })
        assert.equal(refused.status, 403, refused.text)
        assert.match(
          refused.body.message,
          new RegExp(`annotation scheduler\\.alpha\\.orch\\.io/${name} of namespace "${where}"`),
        )
      })

  test('the configuration file for pod placement applies to namespaces without annotations', async () => {
    const own = [{ key: 'own', operator: 'Exists' }]
    const file = admissionFile(
      { after },
      {
        PodNodeSelector: {
          podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'env=test', listed: 'disk=ssd' },
        },
        PodTolerationRestriction: { ...head, default: own, whitelist: own },
      },
    )
    await server.stop()
    await server.restart([...flags, file])
    const where = await namespace()
    const { spec } = (await create(where)).body
    assert.deepEqual([spec.nodeSelector, spec.tolerations], [{ env: 'test' }, [{ key: 'own', operator: 'Exists' }]])
    const foreign = await create(where, { tolerations: [{ key: 'other', operator: 'Exists' }] })
    assert.match(foreign.body.message, /conflict with its cluster whitelist/)
    const free = await namespace({ 'node-selector': '', defaultTolerations: '', tolerationsWhitelist: '' })
    const plain = (await create(free, { tolerations: [{ key: 'other', operator: 'Exists' }] })).body.spec
    assert.deepEqual([plain.nodeSelector, plain.tolerations.length], [undefined, 1])
    await namespace({}, 'listed')
    const listed = await create('listed', { nodeSelector: { disk: 'ssd' } })
    assert.deepEqual([listed.status, listed.body.spec?.nodeSelector], [201, { disk: 'ssd', env: 'test' }])
    for (const nodeSelector of [{ disk: 'hdd' }, { zone: 'z' }])
      assert.match((await create('listed', { nodeSelector })).body.message, /conflict with its namespace whitelist/)
  })

  test('the server does not start with an invalid pod placement configuration, even if the plugin is disabled', async () => {
    const file = admissionFile({ after }, { PodNodeSelector: { podNodeSelectorPluginConfig: { a: 'x in y' } } })
    const { code, errors } = await startFailing({ after }, [file])
    assert.equal(code, 1)
    assert.match(errors, /admission\.yaml: PodNodeSelector: podNodeSelectorPluginConfig\[a\]: /)
  })

  for (const [what, make, value, expected] of [
    ['field', configuredPodNodeSelector, { podNodeSelector: {} }, /unknown field "podNodeSelector"/],
    ['selector', configuredPodNodeSelector, { podNodeSelectorPluginConfig: { a: 'b=*' } }, /Config\[a\]: "b=\*"/],
    ['namespace name', configuredPodNodeSelector, { podNodeSelectorPluginConfig: { A_: 'a=b' } }, /Config\[A_\]: /],
    ['toleration', restricted, { default: [{ operator: 'Near' }] }, /default\[0\]\.operator/],
    ['toleration field', restricted, { whitelist: [{ keys: 'x' }] }, /unknown field "whitelist\[0\]\.keys"/],
  ] as const)
    test(`a pod placement configuration with an invalid ${what} is rejected`, () => {
      const parts = { vendor: vendorOf('orch'), lookup: undefined as never }
      assert.throws(() => make(parts, value as unknown as Json), expected)
    })
})

function restricted(parts: Parameters<typeof configuredPodTolerationRestriction>[0], fields: Json) {
  return configuredPodTolerationRestriction(parts, { ...head, ...(fields as object) } as Json)
}
