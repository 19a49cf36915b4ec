/** Tests RuntimeClass: the class's overhead and scheduling are applied to its pods. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { mergeTolerations } from '../../../src/apiserver/admission/merge-tolerations.ts'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after }, ['--disable-admission-plugins=DefaultTolerationSeconds'])).client()
await giveAccount(client)

const makeClass = (name: string, fields: object) =>
  client.post('/apis/node.orch.io/v1/runtimeclasses', { metadata: { name }, handler: 'h', ...fields })
const makePod = (spec: object) =>
  client.post('/api/v1/namespaces/default/pods', {
    metadata: { generateName: 'p-' },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  })

test('the pod overhead is set from the RuntimeClass and cannot be set by clients', async () => {
  await makeClass('kata', { overhead: { podFixed: { cpu: '250m', memory: '120Mi' } } })
  await makeClass('bare', {})
  const { body } = await makePod({ runtimeClassName: 'kata' })
  assert.deepEqual(body.spec.overhead, { cpu: '250m', memory: '120Mi' })
  const same = await makePod({ runtimeClassName: 'kata', overhead: { cpu: '0.25', memory: '120Mi' } })
  assert.deepEqual([same.status, same.body.spec.overhead], [201, { cpu: '250m', memory: '120Mi' }])
  assert.equal((await makePod({ runtimeClassName: 'bare' })).status, 201)
  for (const spec of [
    { runtimeClassName: 'kata', overhead: { cpu: '1', memory: '120Mi' } },
    { runtimeClassName: 'kata', overhead: { cpu: '250m' } },
    { runtimeClassName: 'bare', overhead: { cpu: '1' } },
    { overhead: { cpu: '1' } },
    { runtimeClassName: 'none' },
  ])
    assert.equal((await makePod(spec)).status, 403, JSON.stringify(spec))
})

test('a pod inherits the node selector and tolerations from its RuntimeClass', async () => {
  const taint = { key: 'k', operator: 'Exists', effect: 'NoSchedule' }
  await makeClass('place', { scheduling: { nodeSelector: { disk: 'ssd', arch: 'x' }, tolerations: [taint] } })
  const placed = async (spec: object) => {
    const { status, body } = await makePod({ runtimeClassName: 'place', ...spec })
    return [status, body.spec?.nodeSelector, body.spec?.tolerations]
  }
  const both = { disk: 'ssd', arch: 'x' }
  assert.deepEqual(await placed({}), [201, both, [taint]])
  assert.deepEqual(await placed({ nodeSelector: { zone: 'z' }, tolerations: [taint] }), [
    201,
    { ...both, zone: 'z' },
    [taint],
  ])
  assert.equal((await placed({ nodeSelector: { disk: 'hdd' } }))[0], 403)
})

test('if a toleration of the RuntimeClass and a toleration of the pod overlap, the broader toleration is kept', () => {
  const all = { operator: 'Exists' as const }
  const k = { key: 'k', operator: 'Exists' as const, effect: 'NoSchedule' as const }
  const brief = { key: 'k', operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds: 5 }
  const longer = { ...brief, tolerationSeconds: 9 }
  const valued = { key: 'k', operator: 'Equal' as const, value: 'v', effect: 'NoSchedule' as const }
  const plain = { key: 'k', value: 'v', effect: 'NoSchedule' as const }
  assert.deepEqual(mergeTolerations([k], [k]), [k])
  assert.deepEqual(mergeTolerations([k, brief], [all]), [all])
  assert.deepEqual(mergeTolerations([all], [k, brief]), [all])
  assert.deepEqual(mergeTolerations([brief], [longer]), [longer])
  assert.deepEqual(mergeTolerations([longer], [brief]), [longer])
  assert.deepEqual(mergeTolerations([valued], [k]), [k])
  assert.deepEqual(mergeTolerations([valued], [{ ...valued, value: 'w' }]).length, 2)
  assert.deepEqual(mergeTolerations([plain], [brief]), [plain, brief])
  const many = Array.from({ length: 50_000 }, (_, i) => ({ ...k, key: `k${i}` }))
  assert.equal(mergeTolerations(many, [all]).length, 50_001)
})
