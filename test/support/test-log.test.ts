/**
 * Tests that the log of a server in a test process is kept for failure reports, and that only the last lines are kept.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestLog, takeLogLines } from './test-log.ts'

test('the captured log of a test server keeps its last 100 lines until a test reads them', () => {
  takeLogLines()
  const log = openTestLog()
  for (let i = 0; i < 150; i++) log.error('cannot write', { attempt: i })
  const lines = takeLogLines()
  assert.equal(lines.length, 100)
  assert.match(lines[0]!, /attempt=50$/m)
  assert.match(lines.at(-1)!, /attempt=149$/m)
  assert.deepEqual(takeLogLines(), [])
})
