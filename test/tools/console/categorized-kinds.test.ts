/** Tests the categories in the console's sidebar. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allKinds } from '../../../src/api/kinds/all.ts'
import { plurals } from '../../../src/tools/console/page/core/categorized-kinds.ts'

test("every stored kind has exactly one category in the console's sidebar", () => {
  const stored = allKinds.filter(({ lifecycle }) => !lifecycle.virtual).map(({ plural }) => plural)
  assert.deepEqual(Object.values(plurals).flat().sort(), [...new Set(stored)].sort())
})
