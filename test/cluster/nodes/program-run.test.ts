/** Tests that simulated containers run for as long as their command specifies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runOf } from '../../../src/cluster/nodes/containers/program-run.ts'

const ends = (ms: number, exitCode = 0) => ({ ms, exitCode })
const script = (text: string) => ({ command: ['sh', '-c', text] })

test('the duration of a simulated program depends on its command', () => {
  assert.deepEqual(runOf({ command: ['sleep', '30'] }), ends(30_000))
  assert.deepEqual(runOf({ command: ['/bin/sleep'], args: ['0.5'] }), ends(500))
  assert.deepEqual(runOf({ args: ['sleep', '2m'] }), ends(120_000))
  assert.deepEqual(runOf({ command: ['sleep', 'infinity'] }), ends(Number.POSITIVE_INFINITY))
  assert.deepEqual(runOf({ command: ['/bin/true'] }), ends(0))
  assert.deepEqual(runOf({ command: ['false'] }), ends(0, 1))
})

test('the duration of a simulated shell is the sum of the durations of its commands', () => {
  assert.deepEqual(runOf(script('echo started; sleep 30; exit 3')), ends(30_000, 3))
  assert.deepEqual(runOf(script('sleep 1 && sleep 2')), ends(3000))
  assert.deepEqual(runOf(script('false && sleep 5')), ends(0, 1))
  assert.deepEqual(runOf(script('false || sleep 5')), ends(5000))
  assert.deepEqual(runOf(script('exec sleep 5; exit 3')), ends(5000))
  assert.deepEqual(runOf(script('false; exit')), ends(0, 1))
  assert.deepEqual(runOf(script('exit 256')), ends(0, 0))
  assert.deepEqual(runOf(script('')), ends(0))
})

test('a command with an unknown program or unsupported shell syntax may run forever', () => {
  for (const container of [
    {},
    { command: ['nginx'] },
    { command: ['sleep'] },
    { command: ['sleep', 'soon'] },
    { command: ['sleep', '$(SECONDS)'] },
    { command: ['sh'] },
    { command: ['sh', 'script.sh'] },
    script('sleep 1 & wait'),
    script('while true; do sleep 1; done'),
    script('sleep $X'),
    script('"sleep" "$X"'),
    script(`${'a'.repeat(100_000)}`),
  ])
    assert.equal(runOf(container), undefined, JSON.stringify(container).slice(0, 80))
})
