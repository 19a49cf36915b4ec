/**
 * Runs the slower checks of the recipes: the types and layers of a copy of the repository to which `support/recipes.ts`
 * has applied every recipe, and the new loop's row in `each-loop.test.ts`.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { endOfFile } from './support/end-of-file.ts'
import { carryOut, copyRepository, runIn } from './support/recipes.ts'

const owner = endOfFile()
let copy: string
before(() => {
  copy = copyRepository(owner)
  carryOut(copy)
})

const checks: { readonly [name: string]: readonly string[] } = {
  types: ['node_modules/typescript/bin/tsc', '-p', '.', '--singleThreaded'],
  'types of the console': ['node_modules/typescript/bin/tsc', '-p', 'src/tools/console/page', '--singleThreaded'],
  layers: ['scripts/check-layers.ts'],
  functions: ['scripts/check-functions.ts'],
  'row of a loop': [
    '--test-name-pattern=the table in this test has a row for every control loop|^greeting: ',
    'test/cluster/controllers/each-loop.test.ts',
  ],
}

for (const [name, args] of Object.entries(checks))
  test(`a copy of the sources with the recipes applied passes the check: ${name}`, { timeout: 300_000 }, async () => {
    const { code, output } = await runIn(copy, args)
    assert.equal(code, 0, output)
  })
