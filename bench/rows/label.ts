/**
 * Measures the rate of LISTs that select 10 of 100,000 objects by label, compared with the rate of GETs of one object.
 */
import { compare, compared, http1, limitOf } from '../load.ts'
import { collection, pathOf } from '../objects.ts'
import { type Bench, fetchBytes } from '../servers.ts'
import type { Row } from '../table.ts'

export const labelRows = {
  name: 'label',
  async run(bench: Bench): Promise<Row[]> {
    const side = await bench.startOrch(await bench.filled(100_000))
    const path = `${collection}?labelSelector=ten%3Dt5000`
    const matchCount = JSON.parse((await fetchBytes(side, path)).toString('utf8')).items.length
    if (matchCount !== 10) throw new Error(`${matchCount} objects have the label, not 10`)
    const listing = { side, drive: http1(path, { connections: 16 }) }
    const getting = { side, drive: http1(pathOf(5000), { connections: 16 }) }
    const { ours, bare } = await compare(listing, getting)
    await side.stop()
    return [
      {
        name: 'LIST 10 of 100,000 by label',
        ...compared(0.5, ours, bare),
        note: `bare: our GET; limit: ${limitOf(ours)}`,
      },
    ]
  },
}
