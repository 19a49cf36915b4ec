/**
 * Measures the cost of object history: the CPU time of creating and updating 1 kB objects, compared with a server
 * without history. Also measures the size of the data file after many more updates than the history retains, which
 * shows that the size is bounded.
 */
import { join } from 'node:path'
import { dataFileSize } from '../../src/storage/store/lmdb/directory.ts'
import { measure } from '../load.ts'
import type { Bench, Side } from '../servers.ts'
import { megabytes, type Row, short } from '../table.ts'
import { allowed, costRow, creates } from './overload.ts'
import { http2Updates } from './writes.ts'

const objectCount = 500
const retention = '--history-retention=24h,16Mi'
const none = '--history-retention=0'
/** Retain watch history only briefly, so that it does not enlarge the data file. */
const briefly = '--history-duration=5s'
const updateSeconds = 20

export const historyRows = {
  name: 'history',
  async run(bench: Bench): Promise<Row[]> {
    return [...(await costRows(bench)), await diskRow(bench)]
  },
}

async function costRows(bench: Bench): Promise<Row[]> {
  const start = async (...flags: string[]) => bench.startOrch(await bench.fill(objectCount), [...allowed, ...flags])
  const sides = { on: await start(), off: await start(none) }
  const rows = [
    await costRow('create 1 kB, history kept', creates(), sides, `beside ${none}`),
    await costRow('update 1 kB, history kept', http2Updates(objectCount, 'new '), sides, `beside ${none}`),
  ]
  await Promise.all([sides.on.stop(), sides.off.stop()])
  return rows
}

async function diskRow(bench: Bench): Promise<Row> {
  const on = await updated(bench, retention)
  const off = await updated(bench, none)
  return {
    name: `data file after updates of 1 kB, 16 MiB of history`,
    ours: megabytes(on.bytes),
    bare: megabytes(off.bytes),
    note: `${short(on.updates)} updates, beside ${none} after ${short(off.updates)}`,
    figures: { ours: on.bytes, bare: off.bytes, updates: on.updates },
  }
}

async function updated(bench: Bench, flag: string): Promise<{ bytes: number; updates: number }> {
  const directory = await bench.fill(objectCount)
  const side: Side = await bench.startOrch(directory, [...allowed, briefly, flag])
  const { requests } = await measure(side, http2Updates(objectCount, 'again '), updateSeconds)
  await side.stop()
  return { bytes: dataFileSize(join(directory, 'data')), updates: requests }
}
