/** Tests the default roles and bindings of all versions, compared with recorded facts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { emulatedVersions } from '../../../src/api/versions/emulated-version.ts'
import { defaultGatesOf, type FeatureGate } from '../../../src/api/versions/feature-gates.ts'
import { defaultPolicy } from '../../../src/apiserver/authz/rbac/defaults/all.ts'
import { type LevelObject, recordedRoles } from '../../support/levels.ts'

const recorded = recordedRoles()

/** Whether the role or binding does not exist in Kubernetes. */
const isOwn = (name: string) => name.startsWith('system:ops-')

/** Returns the objects by namespace and name, without type and empty members. */
function byName(objects: readonly (ApiObject | LevelObject)[]): { readonly [name: string]: unknown } {
  const entries = objects.map(({ kind: _kind, apiVersion: _version, ...rest }) => {
    const { namespace = '', name = '' } = rest.metadata
    const members = Object.entries(rest).filter(([, value]) => value !== null)
    return [`${namespace}/${name}`, Object.fromEntries(members)] as const
  })
  return Object.fromEntries(entries.filter(([name]) => !isOwn(name.slice(1))))
}

for (const version of emulatedVersions)
  test(`the default roles and bindings at version ${version} are the same as in Kubernetes`, () => {
    const policy = defaultPolicy(vendorOf('orch'), { version, gates: defaultGatesOf(version) })
    const facts = recorded.get(version)!
    assert.deepEqual(byName(policy.clusterroles), byName(facts.clusterRoles))
    assert.deepEqual(byName(policy.clusterrolebindings), byName(facts.clusterRoleBindings))
    assert.deepEqual(byName(policy.roles), byName(facts.roles))
    assert.deepEqual(byName(policy.rolebindings), byName(facts.roleBindings))
  })

test('a role that needs a feature gate exists only if the gate is enabled', () => {
  const name = 'system:controller:storage-version-migrator-controller'
  const gates = defaultGatesOf('1.36')
  const namesWith = (more: readonly FeatureGate[]) => {
    const policy = defaultPolicy(vendorOf('orch'), { version: '1.36', gates: new Set([...gates, ...more]) })
    return [policy.clusterroles, policy.clusterrolebindings].map((objects) =>
      objects.some(({ metadata }) => metadata.name === name),
    )
  }
  assert.deepEqual(namesWith([]), [false, false])
  assert.deepEqual(namesWith(['StorageVersionMigrator']), [true, true])
})
