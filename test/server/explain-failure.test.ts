/** Tests the explanations that the program prints for failures. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainFailure } from '../../src/server/assembly/explain-failure.ts'
import { JoinError } from '../../src/tools/joining/join-error.ts'

test('an error message from an untrusted server cannot control the terminal', () => {
  assert.equal(explainFailure(new JoinError('denied: \u001b[2J\u009b31m\nagain')), 'denied: ^[[2J\\u009b31m\nagain')
})

test('a stack trace is printed only for unexpected errors', () => {
  assert.equal(explainFailure(new JoinError('denied')), 'denied')
  assert.match(explainFailure(new TypeError('broken')), /^TypeError: broken\n +at /)
})
