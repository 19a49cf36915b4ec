/**
 * Tests fields whose feature gate is disabled: the server drops them from objects, and warns clients that request
 * field validation.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after }, ['--disable-admission-plugins=ServiceAccount'])
const client = server.client()

const labels = { app: 'a' }
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const dataSourceRef = { kind: 'Thing', apiGroup: 'example.com', name: 'thing' }
const probe = { exec: { command: ['true'] }, terminationGracePeriodSeconds: 3 }
const gatedPod = {
  os: { name: 'linux' },
  containers: [{ name: 'c', image: 'i', livenessProbe: probe, securityContext: { procMount: 'Unmasked' } }],
  volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: { ...claimSpec, dataSourceRef } } } }],
}
const losses = (path: string) => [
  `${path}.os: IdentifyPodOS`,
  `${path}.containers[0].securityContext.procMount: ProcMountType`,
  `${path}.containers[0].livenessProbe.terminationGracePeriodSeconds: ProbeTerminationGracePeriod`,
  `${path}.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef: AnyVolumeDataSource`,
]
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const selector = { matchLabels: labels }
const inNamespace = (group: string, plural: string) => `${group}/namespaces/default/${plural}`

const rows: readonly (readonly [path: string, body: object, ...lost: string[]])[] = [
  [inNamespace('/api/v1', 'pods'), { spec: gatedPod }, ...losses('spec')],
  [
    inNamespace('/apis/apps/v1', 'statefulsets'),
    {
      spec: {
        serviceName: 's',
        selector,
        template,
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
      },
    },
    'spec.persistentVolumeClaimRetentionPolicy: StatefulSetAutoDeletePVC',
  ],
  [
    inNamespace('/apis/apps/v1', 'deployments'),
    { spec: { selector, template: { ...template, spec: gatedPod } } },
    ...losses('spec.template.spec'),
  ],
  [
    inNamespace('/apis/batch/v1', 'cronjobs'),
    {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...gatedPod, restartPolicy: 'Never' } } } },
      },
    },
    ...losses('spec.jobTemplate.spec.template.spec'),
  ],
  [
    inNamespace('/api/v1', 'persistentvolumeclaims'),
    { spec: { ...claimSpec, dataSourceRef } },
    'spec.dataSourceRef: AnyVolumeDataSource',
  ],
  [
    inNamespace('/apis/discovery.orch.io/v1', 'endpointslices'),
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'z' }] } }] },
    'endpoints[0].hints: TopologyAwareHints',
  ],
]

const warningsOf = (header: string | undefined) =>
  [...(header ?? '').matchAll(/299 - "([^"]*): dropped because the (\w+) feature gate is disabled"/g)].map(
    ([, path, feature]) => `${path}: ${feature}`,
  )

for (const [path, body, ...lost] of rows)
  test(`creating ${path.split('/').at(-1)} with gated fields warns about each dropped field`, async () => {
    const post = async (query: string) => {
      const answer = await client.post(`${path}?${query}`, { metadata: { generateName: 'gated-' }, ...body })
      assert.equal(answer.status, 201, answer.text)
      return warningsOf(answer.headers.warning as string | undefined).sort()
    }
    assert.deepEqual(await post('fieldValidation=Strict'), lost.toSorted())
    assert.deepEqual(await post('dryRun=All&fieldValidation=Warn'), lost.toSorted())
    for (const silent of ['fieldValidation=Ignore', '']) assert.deepEqual(await post(silent), [], silent)
  })

test('an update warns about dropped fields only if the update sends these fields', async () => {
  const path = inNamespace('/apis/apps/v1', 'statefulsets')
  const policy = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } }
  const spec = { serviceName: 's', selector, template }
  await client.post(path, { metadata: { name: 'updated' }, spec: { ...spec, ...policy } })
  const updated = `${path}/updated?fieldValidation=Strict`
  const plain = await client.put(updated, { metadata: { name: 'updated' }, spec: { ...spec, replicas: 2 } })
  assert.deepEqual([plain.status, plain.headers.warning], [200, undefined])
  const gated = await client.put(updated, { metadata: { name: 'updated' }, spec: { ...spec, ...policy } })
  assert.deepEqual(warningsOf(gated.headers.warning as string), [
    'spec.persistentVolumeClaimRetentionPolicy: StatefulSetAutoDeletePVC',
  ])
})
