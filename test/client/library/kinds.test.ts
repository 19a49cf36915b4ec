/** The kinds that `orch/client` names are those that a server has, under the same names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allKinds } from '../../../src/api/kinds/all.ts'
import { groupName, profileNames, vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/library/kinds.ts'
import type { ResourceType } from '../../../src/client/requests/resource-type.ts'

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
