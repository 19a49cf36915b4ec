/** Measures a GET of a 1 kB object, compared with a bare Node server that sends the same bytes. */
import { compare, compared, type Drive, http1, http2, limits } from '../load.ts'
import { pathOf } from '../objects.ts'
import { type Bench, fetchBytes, type Side } from '../servers.ts'
import type { Row } from '../table.ts'

export const getRows = {
  name: 'get',
  async run(bench: Bench): Promise<Row[]> {
    const directory = await bench.filled(10_000)
    const ours = await bench.startOrch(directory)
    const path = pathOf(5000)
    const bare = await bench.startBare(directory, { get: await fetchBytes(ours, path) })
    const rows = [
      await getRow('GET 1 kB, HTTP/1.1', http1(path, { connections: 32 }), { ours, bare }),
      await getRow('GET 1 kB, HTTP/2', http2(path, { connections: 4, streams: 16 }), { ours, bare }),
    ]
    await Promise.all([ours.stop(), bare.stop()])
    return rows
  },
}

async function getRow(name: string, drive: Drive, sides: { ours: Side; bare: Side }): Promise<Row> {
  const { ours, bare } = await compare({ side: sides.ours, drive }, { side: sides.bare, drive })
  return {
    name,
    ...compared(0.6, ours, bare),
    note: limits(ours, bare),
  }
}
