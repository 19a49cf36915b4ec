/** Tests that a test run removes what killed runs left behind, and nothing else. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { makeRunDirectories } from './run-directories.ts'

test('a test run removes the directories of test runs that were killed, and no other directories', (t) => {
  const place = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(() => rmSync(place, { recursive: true }))
  const { pid: deadPid } = spawnSync('true')
  const abandoned = `orch-tests-${deadPid}-a1b2c3`
  const others = [`orch-tests-${process.pid}-a1b2c3`, `other-${deadPid}-a1b2c3`, 'orch-tests-mine']
  for (const name of [abandoned, ...others]) {
    mkdirSync(join(place, name, 'orch-store-x'), { recursive: true })
    writeFileSync(join(place, name, 'orch-store-x/data.mdb'), 'data')
  }
  const { ORCH_TEST_DISK, ORCH_TEST_MEMORY } = makeRunDirectories(place)
  assert.deepEqual(readdirSync(place).sort(), [...others, basename(ORCH_TEST_DISK)].sort())
  assert.equal(ORCH_TEST_MEMORY, undefined)
})
