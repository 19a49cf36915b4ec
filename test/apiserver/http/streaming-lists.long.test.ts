/**
 * Tests streaming lists in Kubernetes 1.24 to 1.35. The feature is unknown in the earliest versions, disabled by its
 * gate in later ones, and enabled by default in the latest.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type EmulatedVersion, emulatedVersions, isAtLeast } from '../../../src/api/versions/emulated-version.ts'
import { serve } from '../../support/in-process.ts'

const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

async function answer(version: EmulatedVersion, flags: readonly string[] = []) {
  const server = await serve({ after }, [`--emulated-version=${version}`, ...flags])
  const { status, text, body } = await server.client('admin-token').get(`/api/v1/nodes?${query}&timeoutSeconds=1`)
  await server.stop()
  const fields = status === 422 ? body.details.causes.map(({ field }: { field: string }) => field) : []
  return { status, fields, marksEnd: text.includes('"orch.io/initial-events-end":"true"') }
}

for (const version of emulatedVersions)
  test(`the feature gate of Kubernetes ${version} determines whether the server supports streaming lists`, async () => {
    const { status, fields, marksEnd } = await answer(version)
    const isEnabled = isAtLeast(version, '1.32')
    assert.equal(status, isEnabled ? 200 : 422)
    assert.equal(marksEnd, isEnabled)
    if (!isEnabled && isAtLeast(version, '1.27')) assert.deepEqual(fields, ['sendInitialEvents'])
  })

test('the feature gate enables streaming lists while the feature is alpha', async () => {
  const { status, marksEnd } = await answer('1.29', ['--feature-gates=WatchList=true'])
  assert.deepEqual({ status, marksEnd }, { status: 200, marksEnd: true })
})
