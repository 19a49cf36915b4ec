/** Tests that errors from any JavaScript realm are recognized. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { codeOf, isError, messageOf } from '../../src/base/text/errors.ts'
import { root } from '../support/server.ts'

test('isError(), messageOf() and codeOf() recognize an error from another JavaScript realm', () => {
  const strange = runInNewContext(`Object.assign(new RangeError('too far'), { code: 'EFAR' })`)
  assert.ok(!(strange instanceof Error))
  assert.ok(isError(strange))
  assert.equal(messageOf(strange), 'too far')
  assert.equal(codeOf(strange), 'EFAR')
  assert.equal(messageOf('plain'), 'plain')
  assert.equal(codeOf({ code: 'ENONE' }), undefined)
})

test('no source file uses instanceof Error', () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter((file) => file !== 'src/base/text/errors.ts')
  assert.ok(files.length > 500)
  const asking = files.filter((file) => / instanceof Error\b/.test(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(asking, [])
})
