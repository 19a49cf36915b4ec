/** Tests that the client's table of kinds has one row per definition, with the same names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allKinds } from '../../src/api/kinds/all.ts'
import { groupName, profileNames, vendorOf } from '../../src/api/model/vendor.ts'
import type { Kind } from '../../src/api/schema/kind.ts'
import * as table from '../../src/client/requests/built-in-kinds.ts'
import { inDomainOf, type ResourceType } from '../../src/client/requests/resource-type.ts'

const rows: [string, ResourceType][] = Object.entries<ResourceType>(table)

test("every built-in kind has a row in the client's table", () => {
  const hasRow = (kind: Kind) => rows.some(([, row]) => isOf(row, kind))
  const missing = allKinds.filter((kind) => !hasRow(kind)).map(rowFor)
  assert.equal(missing.join(''), '', `add to src/client/requests/built-in-kinds.ts:\n${missing.join('')}`)
})

for (const profile of profileNames)
  test(`every row in the client's table matches the kind that the server serves under the profile ${profile}`, () => {
    const vendor = vendorOf(profile)
    const served = allKinds.map(({ group, version, kind, plural, scope }) => ({
      group: groupName(vendor, group),
      version,
      plural,
      namespaced: scope === 'Namespaced',
      kind,
    }))
    assert.deepEqual(new Set(rows.map(([, row]) => inDomainOf(vendor, row))), new Set(served))
    assert.equal(rows.length, served.length)
  })

test("the stored version of a kind has the plain name in the client's table, and other versions have a suffix", () => {
  for (const [name, { kind = '', version }] of rows) {
    const suffix = `V${version.slice(1)}`
    assert.ok(name === kind || name === `${kind}${suffix}`, name)
  }
})

function isOf(row: ResourceType, { group, version, kind }: Kind): boolean {
  return row.kind === kind && row.version === version && row.group === (group === 'core' ? '' : group)
}

/** Returns the row of a kind as it appears in the table. */
function rowFor({ group, version, kind, plural, scope }: Kind): string {
  const name = kind in table ? `${kind}V${version.slice(1)}` : kind
  const row = scope === 'Namespaced' ? 'namespaced' : 'clusterWide'
  const groupVersion = group === 'core' ? version : `${group}/${version}`
  const definition = `${kind[0]!.toLowerCase()}${name.slice(1)}`
  return `export type ${name} = ObjectsOf<typeof ${definition}>
export const ${name} = ${row}<${name}>('${groupVersion}', '${kind}', '${plural}')
`
}
