/** Provides a small tmpfs device that can run out of space. Requires root. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDevice {
  readonly directory: string
  unmount(): void
}

export function mountSmallDevice(megabytes: number): SmallDevice {
  const directory = mkdtempSync(join(tmpdir(), 'orch-full-'))
  const args = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'orch-test', directory]
  const mounted = spawnSync('mount', args, { encoding: 'utf8' })
  assert.equal(mounted.status, 0, `this test needs to mount a small tmpfs (root): ${mounted.stderr}`)
  return {
    directory,
    unmount: () => {
      spawnSync('umount', [directory])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
