/**
 * Measures durable creates and updates by 64 clients, over HTTP/1.1 and HTTP/2. Compares both with a bare loop of lmdb
 * transactions of 64 records on the same disk. Also compares the creates of a single client with transactions of one
 * record.
 */
import { join } from 'node:path'
import { openTables, write } from '../../src/storage/store/lmdb/tables.ts'
import { cpuPair, type Drive, http1, http2Each, latencies, limitOf, measure } from '../load.ts'
import { collection, nameOf, objectJson } from '../objects.ts'
import type { Bench, Side } from '../servers.ts'
import { perSecond, type Row } from '../table.ts'

const clients = 64
/** Number of objects from which the updates choose. */
const objectCount = 2000
const script = join(import.meta.dirname, '../writes.lua')

export function updates(count: number, salt: string, connections = clients): Drive {
  const scriptArgs = ['update', 'object-', objectJson('NAME', 'TEXT'), String(count), salt]
  return http1(collection, { connections, script, scriptArgs })
}

export function creates(prefix: string, connections = clients): Drive {
  return http1(collection, { connections, script, scriptArgs: ['create', prefix, objectJson('NAME', 'TEXT')] })
}

/** Uses 64 clients of one program, which share four connections. */
const shared = { connections: 4, streams: clients / 4 }

export function http2Creates(prefix: string): Drive {
  return http2Each((index) => {
    const body = objectJson(`${prefix}${index}`, String(index))
    return { method: 'POST', path: collection, body }
  }, shared)
}

/** Updates the first `count` objects one after another. `salt` distinguishes the runs. */
export function http2Updates(count: number, salt: string): Drive {
  return http2Each((index) => {
    const name = nameOf(index % count)
    return { method: 'PUT', path: `${collection}/${name}`, body: objectJson(name, `${salt}${index}`) }
  }, shared)
}

export const writeRows = {
  name: 'writes',
  async run(bench: Bench): Promise<Row[]> {
    const ours = await bench.startOrch(await bench.fill(objectCount))
    const bare = {
      create: bareLoop(bench.newDirectory(), (i) => i),
      update: bareLoop(bench.newDirectory(), (i) => i % objectCount),
      alone: bareLoop(bench.newDirectory(), (i) => i, 1),
    }
    let runs = 0
    const row = async (name: string, drive: (run: string) => Drive, bareRate: number) => {
      await measure(ours, drive(`run-${runs++}-`), 1)
      return await writeRow(name, ours, drive(`run-${runs++}-`), { bare: bareRate })
    }
    const rows = [
      await row('create, 64 clients', creates, bare.create),
      await row('update, 64 clients', (run) => updates(objectCount, run), bare.update),
      await row('create over HTTP/2, 64 clients', http2Creates, bare.create),
      await row('update over HTTP/2, 64 clients', (run) => http2Updates(objectCount, run), bare.update),
      await row('create, one client', (run) => creates(run, 1), bare.alone),
    ]
    await ours.stop()
    return rows
  },
}

async function writeRow(name: string, side: Side, drive: Drive, { bare }: { bare: number }): Promise<Row> {
  const ours = await measure(side, drive, 4)
  return {
    name,
    ours: perSecond(ours.perSecond),
    bare: perSecond(bare),
    ratio: ours.perSecond / bare,
    cpu: cpuPair(ours),
    note: `${latencies(ours)}limit: ${limitOf(ours)}`,
    figures: { ours: ours.perSecond, bare, oursCpu: ours.cpu, p50: ours.p50 ?? 0, p99: ours.p99 ?? 0, loop: ours.loop },
  }
}

const bareSeconds = 2
const value = Buffer.alloc(1024, 'value ')

/** Writes `size` records per transaction and syncs each transaction. This is the minimum cost of durability. */
function bareLoop(directory: string, keyOf: (index: number) => number, size = clients): number {
  const tables = openTables(directory)
  const start = performance.now()
  let written = 0
  while (performance.now() - start < bareSeconds * 1000) {
    tables.root.transactionSync(() => {
      for (let i = 0; i < size; i++) write(tables.current, Buffer.from(`bench/${keyOf(written++)}`), value)
    })
  }
  const rate = written / ((performance.now() - start) / 1000)
  void tables.root.close()
  return rate
}
