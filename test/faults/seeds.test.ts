/**
 * Tests that the table of seeded bugs matches the sources and the tests. `npm run test:seeds` checks that the tests
 * detect each bug.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/server.ts'
import { seeds } from './seeds.ts'

test('every seeded bug matches exactly one location in the sources and names an existing test', () => {
  assert.ok(seeds.length >= 12)
  for (const { bug, file, changes, test: expected } of seeds) {
    assert.ok(existsSync(join(root, expected)), `${bug}: there is no ${expected}`)
    const text = readFileSync(join(root, file), 'utf8')
    for (const { find, replace } of changes) {
      assert.equal(text.split(find).length - 1, 1, `${bug}: ${JSON.stringify(find)} is not once in ${file}`)
      assert.notEqual(find, replace, bug)
    }
  }
})
