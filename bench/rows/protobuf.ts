/**
 * Compares Protobuf with JSON for the same objects from the same server: GET, LIST and watch fan-out. Messages are
 * encoded on first use and then shared, so the rows measure the second read.
 */
import { vendorOf } from '../../src/api/model/vendor.ts'
import { compare, compared, type Drive, http1, http2, limits, noticed } from '../load.ts'
import { collection, pathOf } from '../objects.ts'
import { type Bench, fetchBytes, type Side } from '../servers.ts'
import { atLeast, perSecond, type Row, short } from '../table.ts'
import { figuresOf, startOurs } from './watch.ts'

const accept = vendorOf('orch').protobufMediaType
const count = 10_000
const aim = 0.9

export const protobufRows = {
  name: 'protobuf',
  async run(bench: Bench): Promise<Row[]> {
    const side = await bench.startOrch(await bench.filled(count))
    const path = pathOf(count / 2)
    const rows = [
      await readRow('GET 1 kB, HTTP/1.1', { side, path, drive: (form) => http1(path, { connections: 32, ...form }) }),
      await readRow('GET 1 kB, HTTP/2', {
        side,
        path,
        drive: (form) => http2(path, { connections: 4, streams: 16, ...form }),
      }),
      await readRow('LIST 10,000, HTTP/1.1', {
        side,
        path: collection,
        drive: (form) => http1(collection, { connections: 4, ...form }),
      }),
      await readRow('LIST 10,000, HTTP/2', {
        side,
        path: collection,
        drive: (form) => http2(collection, { connections: 4, streams: 1, ...form }),
      }),
    ]
    await side.stop()
    return [...rows, await fanOutRow(bench)]
  },
}

interface Reading {
  readonly side: Side
  readonly path: string
  readonly drive: (form: { readonly accept?: string }) => Drive
}

async function readRow(name: string, { side, path, drive }: Reading): Promise<Row> {
  const { ours, bare } = await compare({ side, drive: drive({ accept }) }, { side, drive: drive({}) })
  const bytes = { ours: (await fetchBytes(side, path, accept)).length, bare: (await fetchBytes(side, path)).length }
  return {
    name: `${name}, Protobuf`,
    ...compared(aim, ours, bare),
    note: `bare: JSON; ${short((bytes.ours / bytes.bare) * 100)}% of its bytes; ${limits(ours, bare)}`,
  }
}

async function fanOutRow(bench: Bench): Promise<Row> {
  const directory = await bench.filled(1000)
  const ours = await figuresOf({ ...(await startOurs(bench, directory)), accept })
  const bare = await figuresOf(await startOurs(bench, directory))
  const byRate = ours.delivered / bare.delivered
  const byCpu = bare.cpu / ours.cpu
  return {
    name: '1,000 watchers, Protobuf: events delivered',
    ours: perSecond(ours.delivered),
    bare: perSecond(bare.delivered),
    ...atLeast(aim, Math.max(ours.others, bare.others) >= noticed ? byCpu : byRate),
    ratio: byRate,
    byCpu,
    cpu: `${short(ours.cpu)} / ${short(bare.cpu)} µs`,
    note: `bare: JSON; received ${short(ours.received * 100)}% / ${short(bare.received * 100)}%`,
    figures: { ours: ours.delivered, bare: bare.delivered, oursCpu: ours.cpu, bareCpu: bare.cpu },
  }
}
