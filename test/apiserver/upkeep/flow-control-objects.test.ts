/** Tests that mandatory flow-control objects are repaired at startup and once a minute. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const key = 'apf.kubernetes.io/autoupdate-spec'
const group = '/apis/flowcontrol.apiserver.k8s.io/v1beta2'

test('a deleted or changed flow control object is restored', async (t) => {
  const server = await serve(t, ['--profile=kubernetes'])
  const client = server.client()
  const merge = (body: object) => ({
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body,
  })
  for (const plural of ['flowschemas', 'prioritylevelconfigurations']) {
    const changed = merge({ metadata: { annotations: { [key]: 'false' }, labels: { mine: 'yes' } } })
    assert.equal((await client.send(`${group}/${plural}/exempt`, changed)).status, 200)
    assert.equal((await client.delete(`${group}/${plural}/catch-all`)).status, 200)
  }
  await server.stop()
  await server.restart()
  for (const plural of ['flowschemas', 'prioritylevelconfigurations'])
    for (const name of ['exempt', 'catch-all']) {
      const { body } = await server.client().get(`${group}/${plural}/${name}`)
      assert.equal(body.metadata.annotations[key], 'true', `${plural} ${name}`)
      assert.equal(body.metadata.labels?.mine, name === 'exempt' ? 'yes' : undefined)
      const makers = body.metadata.managedFields.map(({ manager }: { manager: string }) => manager)
      assert.ok(makers.includes('api-priority-and-fairness-config-producer-v1'), String(makers))
    }
})

test('a server with a later version updates and deletes flow control objects', async (t) => {
  const server = await serve(t, [])
  await server.stop()
  await server.restart(['--emulated-version=1.36'])
  const flow = '/apis/flowcontrol.apiserver.orch.io/v1'
  const client = server.client('admin-token')
  assert.equal((await client.get(`${flow}/flowschemas/workload-leader-election`)).status, 404)
  const levels = await client.get(`${flow}/prioritylevelconfigurations/catch-all`)
  assert.equal(levels.body.spec.limited.lendablePercent, 0)
})
