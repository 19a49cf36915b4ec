/**
 * Tests that `endOfFile` runs cleanup functions in reverse order after the last test, and continues if one of them
 * fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runEndings } from './end-of-file.ts'

test('cleanup functions of a test run in reverse order, and all of them run even if one fails', async () => {
  const calls: string[] = []
  const failed = new Error('cannot stop')
  const endings = [
    async () => void calls.push('first'),
    async () => {
      calls.push('second')
      throw failed
    },
    () => void calls.push('third'),
  ]
  await assert.rejects(runEndings(endings), failed)
  assert.deepEqual(calls, ['third', 'second', 'first'])
})
