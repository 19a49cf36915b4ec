/**
 * Measures the time from the start of the process to the first 200 response from /readyz, compared with the start of
 * Node.js alone.
 */
import { type Bench, fetchBytes, timeOf } from '../servers.ts'
import { atMost, quantile, type Row, short } from '../table.ts'

export const startRows = {
  name: 'start',
  async run(bench: Bench): Promise<Row[]> {
    const bare = await median(5, () => timeOf(['-e', '0']))
    const used = bench.newDirectory()
    const first = await median(5, () => timeToReady(bench, bench.newDirectory()))
    await timeToReady(bench, used)
    const again = await median(5, () => timeToReady(bench, used))
    const full = await bench.filled(100_000)
    const many = await median(3, () => timeToReady(bench, full))
    return [
      startRow('start, first ever (makes keys)', { ours: first, bare, bound: 0.4 }),
      startRow('start, empty store', { ours: again, bare, bound: 0.4 }),
      startRow('start, 100,000 objects', { ours: many, bare, bound: 1.5 }),
    ]
  },
}

async function timeToReady(bench: Bench, directory: string): Promise<number> {
  const start = performance.now()
  const server = await bench.startOrch(directory)
  await fetchBytes(server, '/readyz')
  const took = (performance.now() - start) / 1000
  await server.stop()
  return took
}

const enough = 5

/** Returns the median duration of a few runs. If they are slow, uses only the runs that finish within a few seconds. */
async function median(times: number, run: () => Promise<number>): Promise<number> {
  const values: number[] = []
  let spent = 0
  for (let i = 0; i < times && spent < enough; i++) {
    values.push(await run())
    spent += values[i]!
  }
  return quantile(values, 0.5)
}

function startRow(name: string, { ours, bare, bound }: { ours: number; bare: number; bound: number }): Row {
  return {
    name,
    ours: `${short(ours)} s`,
    bare: `${short(bare)} s`,
    ratio: bare / ours,
    ...atMost(bound, ours, 's'),
    note: 'bare: node -e 0',
    figures: { ours, bare },
  }
}
