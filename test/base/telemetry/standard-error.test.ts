/**
 * Tests that a failed write to the log does not terminate the process. Logging on a full disk resumes once there is
 * space again. If no process reads the log, lines are dropped.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mountSmallDevice } from '../../support/small-device.ts'

const module = new URL('../../../src/base/telemetry/log.ts', import.meta.url).href

/**
 * A program that logs each line of its input, reports each line that it has logged, and exits at the end of its input.
 */
const program = `
  import { createInterface } from 'node:readline'
  const { openLog } = await import(${JSON.stringify(module)})
  const log = openLog()
  for await (const line of createInterface({ input: process.stdin })) {
    log.warn(line)
    console.log('done')
  }`

function start(stderr: number | 'pipe') {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: ['pipe', 'pipe', stderr],
  })
  const log = async (line: string) => {
    child.stdin!.write(`${line}\n`)
    await Promise.race([
      once(child.stdout!, 'data'),
      once(child, 'exit').then(([code]) => assert.fail(`ended: ${code}`)),
    ])
  }
  const end = async () => {
    child.stdin!.end()
    const [code] = await once(child, 'exit')
    return code
  }
  return { child, log, end }
}

test('while the disk is full, log lines are dropped and counted', async (t) => {
  const { directory, unmount } = mountSmallDevice(1)
  t.after(unmount)
  const file = openSync(join(directory, 'log'), 'a')
  fillDevice(directory)
  const { log, end } = start(file)
  for (const line of ['one', 'two', 'three']) await log(line)
  rmSync(join(directory, 'filler'))
  await log('four')
  assert.equal(await end(), 0)
  closeSync(file)
  const lines = readFileSync(join(directory, 'log'), 'utf8').split('\n')
  assert.equal(lines[0], '3 log lines could not be written')
  assert.match(lines[1]!, /four/)
})

test('a closed log output does not terminate the process', async () => {
  const { child, log, end } = start('pipe')
  await log('one')
  child.stderr!.destroy()
  for (const line of ['two', 'three']) await log(line)
  assert.equal(await end(), 0)
})

function fillDevice(directory: string): void {
  const file = openSync(join(directory, 'filler'), 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4096))
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
  } finally {
    closeSync(file)
  }
}
