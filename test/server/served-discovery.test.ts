/** Tests the discovery documents that a server serves, compared with documents recorded from Kubernetes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../support/in-process.ts'
import { type LevelDiscovery, recordedDiscovery } from '../support/levels.ts'
import { longTest } from '../support/long.ts'

/** The API group that does not exist in Kubernetes. */
const ownGroup = 'ops.orch.io'

type Resource = LevelDiscovery['resources'][string][number]

interface ServedGroup {
  readonly name: string
  readonly versions: readonly { readonly version: string }[]
  readonly preferredVersion: { readonly version: string }
}

/** Returns the resource without its hash, which varies. */
function comparable({ storageVersionHash: _, ...resource }: Resource): Resource {
  return resource
}

for (const [version, recorded] of recordedDiscovery())
  (version === '1.36' ? test : longTest)(`${version} serves the same discovery documents as Kubernetes`, async (t) => {
    const client = (await serve(t, [`--emulated-version=${version}`])).client()
    const groups = (await client.get('/apis')).body.groups as ServedGroup[]
    const shown = groups.map(({ name, versions, preferredVersion: preferred }) => ({
      name,
      versions: versions.map((each) => each.version),
      preferredVersion: preferred.version,
    }))
    assert.deepEqual(
      shown.filter(({ name }) => name !== ownGroup),
      recorded.groups,
    )
    for (const [groupVersion, resources] of Object.entries(recorded.resources)) {
      const { body } = await client.get(groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`)
      assert.deepEqual((body.resources as Resource[]).map(comparable), resources.map(comparable), groupVersion)
    }
  })
