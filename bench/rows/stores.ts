/**
 * Applies the same load to every store: durable creates and updates by 64 clients, and reads of one object. The stores
 * are lmdb, a single etcd member and an etcd cluster of three members. Compares the results on etcd with raw etcd puts
 * and reads by 64 clients over one connection in the same run, and the results on lmdb with those on a single etcd
 * member. Requires `etcd` on the PATH.
 */
import { type Cluster, startEtcd } from '../../test/support/etcd.ts'
import { measureRawPuts, measureRawReads } from '../etcd.ts'
import { cpuPair, type Drive, http1, latencies, limitOf, type Measured, measure } from '../load.ts'
import { pathOf } from '../objects.ts'
import type { Bench, Side } from '../servers.ts'
import { atLeast, perSecond, type Row } from '../table.ts'
import { creates, http2Creates, http2Updates, updates } from './writes.ts'

/** Rates of raw etcd, per second. */
interface Raw {
  readonly puts: number
  readonly reads: number
}

export const storeRows = {
  name: 'stores',
  async run(bench: Bench): Promise<Row[]> {
    const one = await withEtcd(1, async (cluster) => [
      ...(await rowsOf('lmdb', cluster, await bench.startOrch(bench.newDirectory()))),
      ...(await rowsOf('etcd x1', cluster, await startOn(bench, cluster))),
    ])
    const three = await withEtcd(3, async (cluster) => rowsOf('etcd x3', cluster, await startOn(bench, cluster)))
    return [...one, ...three]
  },
}

async function withEtcd<T>(members: number, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = await startEtcd({ members })
  try {
    return await work(cluster)
  } finally {
    await cluster.stop()
  }
}

function startOn(bench: Bench, { endpoints }: Cluster): Promise<Side> {
  return bench.startOrch(bench.newDirectory(), [`--etcd-servers=${endpoints.join(',')}`])
}

async function rawRates({ endpoints }: Cluster): Promise<Raw> {
  await measureRawPuts({ endpoints, total: 2000 })
  return { puts: await measureRawPuts({ endpoints }), reads: await measureRawReads({ endpoints }) }
}

/** Number of objects that may be missing at the end of a run, because each client leaves one request unfinished. */
const leftBehind = 2 * 64

async function rowsOf(store: string, cluster: Cluster, side: Side): Promise<Row[]> {
  const createdCount = (await measure(side, creates('object-'), 4)).requests - leftBehind
  await measure(side, http2Creates('warm-'), 2)
  const { puts, reads } = await rawRates(cluster)
  const row = async (name: string, drive: Drive, bare: number) =>
    storeRow(`${name}, 64 clients, ${store}`, await measure(side, drive, 3), bare)
  const rows = [
    await row('create', creates('made-'), puts),
    await row('update', updates(createdCount, 'again'), puts),
    await row('create over HTTP/2', http2Creates('more-'), puts),
    await row('update over HTTP/2', http2Updates(createdCount, 'once more'), puts),
    await row('GET', http1(pathOf(1), { connections: 64 }), reads),
  ]
  await side.stop()
  return rows
}

function storeRow(name: string, ours: Measured, bare: number): Row {
  const ratio = ours.perSecond / bare
  return {
    name,
    ours: perSecond(ours.perSecond),
    bare: perSecond(bare),
    ...(name.endsWith('lmdb') ? atLeast(1, ratio) : { ratio }),
    cpu: cpuPair(ours),
    note: `bare: raw etcd; ${latencies(ours)}limit: ${limitOf(ours)}`,
    figures: { ours: ours.perSecond, bare, oursCpu: ours.cpu, loop: ours.loop },
  }
}
