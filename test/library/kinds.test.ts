/** The kinds that `orch/client` names are those that a server has, under the same names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceType } from '../../src/client/resource-type.ts'
import { allKinds } from '../../src/kinds/all.ts'
import * as kinds from '../../src/library/kinds.ts'
import { groupName, profileNames, vendorOf } from '../../src/model/vendor.ts'

for (const profile of profileNames)
  test(`every built-in kind has a name in the library, as the profile ${profile} serves it`, () => {
    const vendor = vendorOf(profile)
    const served = allKinds.map(({ group, version, kind, plural, scope }) => ({
      ...{ group: groupName(vendor, group), version, plural, namespaced: scope === 'Namespaced', kind },
    }))
    const named = Object.values<ResourceType>(kinds).map(({ group, inServerDomain, ...type }) => ({
      ...{ ...type, group: inServerDomain ? `${group}.${vendor.groupDomain}` : group },
    }))
    assert.deepEqual(new Set(named), new Set(served))
  })

test('a kind has its own name, and a version that is not stored has its version after it', () => {
  for (const [name, { kind = '', version }] of Object.entries<ResourceType>(kinds)) {
    const suffix = `V${version.slice(1)}`
    assert.ok(name === kind || name === `${kind}${suffix}`, name)
  }
})
