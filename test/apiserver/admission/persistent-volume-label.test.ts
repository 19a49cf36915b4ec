/** Tests PersistentVolumeLabel: new volumes get the labels from the table and a matching node affinity. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { configuredPersistentVolumeLabel } from '../../../src/apiserver/admission/controls/persistent-volume-label.ts'
import { admissionFile } from '../../support/admission-file.ts'
import { serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'

const enabled = '--enable-admission-plugins=PersistentVolumeLabel'
const head = { apiVersion: 'persistentvolumelabel.admission.orch.io/v1alpha1', kind: 'Configuration' }
const zone = 'topology.orch.io/zone'
const region = 'topology.orch.io/region'

describe('labels on new volumes', async () => {
  const volumes = [
    { source: 'awsElasticBlockStore', id: 'vol-1', labels: { [zone]: 'a__b', [region]: 'west' } },
    { source: 'awsElasticBlockStore', labels: { [region]: 'anywhere' } },
  ]
  const file = admissionFile({ after }, { PersistentVolumeLabel: { ...head, volumes } })
  const server = await serve({ after }, [enabled, file])
  const client = server.client()
  const create = async (spec: object, labels: object = {}) => {
    const answer = await client.post('/api/v1/persistentvolumes?dryRun=All', {
      metadata: { name: 'v', labels },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
    })
    assert.equal(answer.status, 201, answer.text)
    return [answer.body.metadata.labels, answer.body.spec.nodeAffinity?.required.nodeSelectorTerms]
  }
  const ebs = (volumeID: string) => ({ awsElasticBlockStore: { volumeID } })
  const isIn = (key: string, ...values: string[]) => ({ key, operator: 'In', values })

  test('a new volume gets labels and a node affinity from its volume source', async () => {
    assert.deepEqual(await create(ebs('vol-1')), [
      { [zone]: 'a__b', [region]: 'west' },
      [{ matchExpressions: [isIn(region, 'west'), isIn(zone, 'a', 'b')] }],
    ])
    assert.deepEqual(await create(ebs('vol-2')), [
      { [region]: 'anywhere' },
      [{ matchExpressions: [isIn(region, 'anywhere')] }],
    ])
    assert.deepEqual(await create({ nfs: { server: 's', path: '/' } }), [undefined, undefined])
  })

  test('a new volume keeps the labels and the affinity that the client has set', async () => {
    assert.deepEqual(await create(ebs('vol-2'), { [region]: 'here', own: 'x' }), [
      { [region]: 'here', own: 'x' },
      [{ matchExpressions: [isIn(region, 'here')] }],
    ])
    const terms = (key: string) => [{ matchExpressions: [isIn(key, 'x')] }]
    const affine = (key: string) => ({ nodeAffinity: { required: { nodeSelectorTerms: terms(key) } }, ...ebs('vol-2') })
    assert.deepEqual((await create(affine(region)))[1], terms(region))
    assert.deepEqual((await create(affine('disk')))[1], [
      { matchExpressions: [isIn('disk', 'x'), isIn(region, 'anywhere')] },
    ])
  })
})

for (const [what, fields, expected] of [
  ['an unknown source', { volumes: [{ source: 'floppy', labels: { a: 'b' } }] }, /volumes\[0\]\.source/],
  ['an invalid label', { volumes: [{ source: 'cinder', labels: { 'a b': 'c' } }] }, /volumes\[0\]\.labels/],
  ['missing labels', { volumes: [{ source: 'cinder', labels: {} }] }, /volumes\[0\]\.labels/],
  ['an unknown field', { volume: [] }, /unknown field "volume"/],
] as const)
  test(`a volume label table with ${what} is rejected`, () => {
    const value = { ...head, ...fields } as unknown as Json
    assert.throws(() => configuredPersistentVolumeLabel({ vendor: vendorOf('orch') }, value), expected)
  })

test('the server does not start if PersistentVolumeLabel is enabled without a label table', async () => {
  const { code, errors } = await startFailing({ after }, [enabled])
  assert.equal(code, 1)
  assert.match(errors, /PersistentVolumeLabel requires a label table/)
})
