/**
 * Tests an embedded store on a full disk, with values of all sizes. Every delete must succeed, even if other writes are
 * rejected and free pages are fragmented. No acknowledged write may be lost. Lists must be exact or report that the
 * revision has expired. Deletes must immediately make space for new data, although history is otherwise kept for
 * minutes. ORCH_LONG=1 runs 15 seeds for each size.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RandomSource } from '../storage/store/random-source.ts'
import { long } from '../support/long.ts'
import { mountSmallDevice } from '../support/small-device.ts'
import { FullDiskWorkload } from './full-disk-workload.ts'
import { report } from './load.ts'

const seeds = Array.from({ length: long ? 15 : 1 }, (_, i) => i + 3)
const rounds = long ? 200 : 8

const sizes: Record<string, (random: RandomSource) => number> = {
  '1 kB': () => 1_000,
  '10 kB': () => 10_000,
  '100 kB': () => 100_000,
  '1 MB': () => 1_000_000,
  mixed: (random) => random.pick([200, 1_000, 10_000, 100_000, 400_000, 1_000_000]),
}

const tried = Object.entries(sizes).filter(([name]) => long || name === 'mixed' || name === '100 kB')
for (const [name, size] of tried)
  for (const seed of seeds)
    test(`deletes on a full disk succeed with ${name} values, seed ${seed}`, { timeout: 600_000 }, async (t) => {
      const device = mountSmallDevice(8 + 8 * (seed % 3))
      t.after(() => device.unmount())
      const workload = new FullDiskWorkload(join(device.directory, 'data'), seed, size)
      await workload.open()
      try {
        await workload.fill()
        for (let round = 0; round < rounds && workload.size > 0; round++) await workload.round()
        await workload.deleteShare(0.5)
        assert.ok(await workload.create(300), 'half of all was deleted, and a small write is refused')
        await workload.compare()
        await workload.deleteShare(1)
        await workload.compare()
        assert.equal(workload.failed, undefined)
        report(t, { ...workload.counts })
      } finally {
        await workload.close()
      }
    })
