/** Tests that truncated text is still valid Unicode. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shorten } from '../../src/base/text/shorten.ts'

test('a string is truncated before the first character that does not fit', () => {
  assert.equal(shorten('abc', 3), 'abc')
  assert.equal(shorten('abc', 2), 'ab')
  assert.equal(shorten('a😀', 3), 'a😀')
  assert.equal(shorten('a😀', 2), 'a')
  assert.equal(shorten('a😀b', 3), 'a😀')
  assert.equal(shorten('😀', 1), '')
  assert.equal(shorten('é'.repeat(5), 3), 'ééé')
  for (let length = 0; length < 40; length++) assert.ok(shorten('x😀😀y'.repeat(9), length).isWellFormed())
})
