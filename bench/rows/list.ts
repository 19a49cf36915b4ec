/**
 * Measures LISTs of 10,000 and of 500 objects, compared with streaming the same bytes in chunks of 64 KiB. Also
 * measures the memory that one list uses.
 */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { connect } from 'node:tls'
import { compare, compared, type Drive, http1, http2, limits } from '../load.ts'
import { collection } from '../objects.ts'
import { type Bench, fetchBytes, type Side, token } from '../servers.ts'
import { atMost, megabytes, type Row } from '../table.ts'
import { memoryOf, resetPeak } from '../usage.ts'

const mega = 1024 ** 2
const page = `${collection}?limit=500`

export const listRows = {
  name: 'list',
  async run(bench: Bench): Promise<Row[]> {
    const directory = await bench.filled(10_000)
    const ours = await bench.startOrch(directory)
    const peak = await peakOf(ours, collection)
    const bare = await bench.startBare(directory, { list: await fetchBytes(ours, collection) })
    const short = await bench.startBare(directory, { list: await fetchBytes(ours, page) })
    const sides = { ours, bare }
    const rows = [
      peakRow(peak, await peakOf(bare, '/list')),
      await heldRow(sides),
      await listRow('LIST 10,000, HTTP/1.1', (path) => http1(path, { connections: 4 }), sides),
      await listRow('LIST 10,000, HTTP/2', (path) => http2(path, { connections: 4, streams: 1 }), sides),
      await listRow('LIST 500, HTTP/1.1', (path) => http1(path, { connections: 8 }), { ours, bare: short }, page),
    ]
    await Promise.all([ours.stop(), bare.stop(), short.stop()])
    return rows
  },
}

interface Sides {
  readonly ours: Side
  readonly bare: Side
}

async function listRow(name: string, drive: (path: string) => Drive, sides: Sides, path = collection): Promise<Row> {
  const { ours, bare } = await compare(
    { side: sides.ours, drive: drive(path) },
    { side: sides.bare, drive: drive('/list') },
  )
  return {
    name,
    ...compared(0.5, ours, bare),
    note: limits(ours, bare),
  }
}

/** Returns the increase in peak memory that the first list causes. Later lists reuse that memory. */
async function peakOf(side: Side, path: string): Promise<number> {
  await fetchBytes(side, '/readyz')
  await setTimeout(1000)
  resetPeak(side.pid)
  const before = memoryOf(side.pid).resident
  await fetchBytes(side, path)
  return memoryOf(side.pid).peak - before
}

function peakRow(ours: number, bare: number): Row {
  return {
    name: 'LIST 10,000: rise of the peak memory',
    ours: megabytes(ours),
    bare: megabytes(bare),
    ...atMost(5, ours / mega, 'MB'),
    note: 'the list is 9 MB',
    figures: { ours, bare },
  }
}

const stalled = 16

/** Measures the memory of a list whose client does not read the response. */
async function heldRow({ ours, bare }: Sides): Promise<Row> {
  const figures = { ours: await heldBy(ours, collection), bare: await heldBy(bare, '/list') }
  return {
    name: 'LIST 10,000: memory held by a reader that stalls',
    ours: megabytes(figures.ours),
    bare: megabytes(figures.bare),
    ...atMost(5, figures.ours / mega, 'MB'),
    note: `mean of ${stalled}`,
    figures,
  }
}

async function heldBy({ pid, port }: Side, path: string): Promise<number> {
  await setTimeout(500)
  const before = memoryOf(pid).resident
  const sockets = await Promise.all(Array.from({ length: stalled }, () => openStalled(port, path)))
  await setTimeout(500)
  const residentGrowth = memoryOf(pid).resident - before
  for (const socket of sockets) socket.destroy()
  return residentGrowth / stalled
}

async function openStalled(port: number, path: string) {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`)
  return socket
}
