/** Tests that a new server creates the FlowSchemas and priority levels that were recorded from Kubernetes. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { serve } from '../../support/in-process.ts'
import { type LevelObject, recordedFlow } from '../../support/levels.ts'

const recorded = recordedFlow()

const specsByName = (objects: readonly LevelObject[]) =>
  Object.fromEntries(objects.map(({ metadata, spec }) => [metadata.name, spec]))

function testFlowObjects(version: EmulatedVersion): void {
  test(`the flow control objects at version ${version} are the same as in Kubernetes`, async () => {
    const client = (await serve({ after }, [`--emulated-version=${version}`])).client('admin-token')
    const { version: apiVersion, flowSchemas, priorityLevels } = recorded.get(version)!
    const stored = async (plural: string) => specsByName((await client.get(`/apis/${apiVersion}/${plural}`)).body.items)
    assert.deepEqual(await stored('flowschemas'), specsByName(flowSchemas))
    assert.deepEqual(await stored('prioritylevelconfigurations'), specsByName(priorityLevels))
  })
}

for (const version of recorded.keys()) testFlowObjects(version)
