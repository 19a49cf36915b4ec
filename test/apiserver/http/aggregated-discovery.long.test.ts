/** Tests which formats of aggregated discovery each Kubernetes version serves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emulatedVersions } from '../../../src/api/versions/emulated-version.ts'
import { serve } from '../../support/in-process.ts'

const accept = (version: string) => `application/json;g=apidiscovery.orch.io;v=${version};as=APIGroupDiscoveryList`
const beta = ['1.27', '1.28', '1.29', '1.30', '1.31', '1.32']
const stable = ['1.30', '1.31', '1.32', '1.33', '1.34', '1.35', '1.36']

for (const emulated of emulatedVersions)
  test(`version ${emulated} serves the discovery formats of its Kubernetes release`, async (t) => {
    const client = (await serve(t, [`--emulated-version=${emulated}`])).client()
    for (const [format, versions] of [
      ['v2beta1', beta],
      ['v2', stable],
    ] as const) {
      const { status, body } = await client.get('/api', { accept: accept(format) })
      assert.equal(status, versions.includes(emulated) ? 200 : 406, format)
      if (status !== 200) continue
      const hasNullTime = 'creationTimestamp' in body.items[0].metadata
      assert.equal(hasNullTime, Number(emulated.slice(2)) < 34)
    }
  })

test('feature gates change the discovery formats in versions 1.26 and 1.33', async (t) => {
  const alpha = await serve(t, ['--emulated-version=1.26', '--feature-gates=AggregatedDiscoveryEndpoint=true'])
  assert.equal((await alpha.client().get('/apis', { accept: accept('v2beta1') })).status, 200)
  const kept = await serve(t, ['--emulated-version=1.33', '--feature-gates=AggregatedDiscoveryRemoveBetaType=false'])
  assert.equal((await kept.client().get('/apis', { accept: accept('v2beta1') })).status, 200)
})
