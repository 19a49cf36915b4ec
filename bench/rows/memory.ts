/** Measures the memory of an idle server compared with a bare Node server, and the memory per 1 kB object. */
import { setTimeout } from 'node:timers/promises'
import { type Bench, fetchBytes, type Side } from '../servers.ts'
import { atMost, megabytes, type Row, short } from '../table.ts'
import { type Memory, memoryOf } from '../usage.ts'

const count = 100_000
const mega = 1024 ** 2

export const memoryRows = {
  name: 'memory',
  async run(bench: Bench): Promise<Row[]> {
    const directory = bench.newDirectory()
    const ours = await bench.startOrch(directory)
    const bare = await bench.startBare(directory)
    const rest = { ours: await atRest(ours), bare: await atRest(bare) }
    await Promise.all([ours.stop(), bare.stop()])
    const full = await bench.startOrch(await bench.filled(count))
    const many = await atRest(full)
    await full.stop()
    return [restRow(rest.ours, rest.bare), objectRow(rest.ours, many)]
  },
}

async function atRest(side: Side): Promise<Memory> {
  await fetchBytes(side, '/readyz')
  await setTimeout(1500)
  return memoryOf(side.pid)
}

function restRow(ours: Memory, bare: Memory): Row {
  return {
    name: 'memory at rest',
    ours: megabytes(ours.resident),
    bare: megabytes(bare.resident),
    ratio: bare.resident / ours.resident,
    ...atMost(100, ours.resident / mega, 'MB'),
    figures: { ours: ours.resident, bare: bare.resident },
  }
}

/**
 * Measures the memory per object. Excludes mapped pages of the data file, because they are part of the page cache,
 * which the system can reclaim.
 */
function objectRow(empty: Memory, many: Memory): Row {
  const each = (many.own - empty.own) / count
  return {
    name: 'memory per 1 kB object',
    ours: `${short(each / 1024)} kB`,
    bare: '1 kB',
    ratio: 1024 / each,
    ...atMost(2.5, each / 1024, 'kB'),
    note: `with ${short(count)}: ${megabytes(many.own)} own, ${megabytes(many.resident)} resident`,
    figures: { each, own: many.own, resident: many.resident },
  }
}
