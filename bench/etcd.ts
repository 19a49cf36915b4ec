/**
 * What etcd and the way to it can do: raw puts and reads through the store's own connection, next to which commits and
 * reads of ours are judged. Needs a running etcd; prints nothing itself.
 */
import { Connection } from '../src/storage/store/etcd/connection.ts'
import { encodePut, encodeRange, methods } from '../src/storage/store/etcd/messages.ts'
import type { Tls } from '../src/storage/store/etcd/session.ts'

export interface RawLoad {
  readonly endpoints: readonly string[]
  readonly tls?: Tls
  readonly clients?: number
  readonly total?: number
  readonly valueBytes?: number
}

/** Puts per second by `clients` at once, each on a key of its own. */
export async function measureRawPuts(options: RawLoad): Promise<number> {
  const value = new Uint8Array(options.valueBytes ?? 1_000).fill(120)
  return await rate(options, (connection, id) =>
    connection.call(methods.put, encodePut(keyOf(id), value), { effect: 'write' }),
  )
}

/** Reads per second by `clients` at once, each as recent as a read of ours: no older than the call. */
export async function measureRawReads(options: RawLoad): Promise<number> {
  return await rate(options, (connection, id) =>
    connection.call(methods.range, encodeRange({ key: keyOf(id) }), { effect: 'read' }),
  )
}

function keyOf(id: number): Buffer {
  return Buffer.from(`/bench/${id}`)
}

type Call = (connection: Connection, id: number) => Promise<unknown>

async function rate({ endpoints, tls, clients = 64, total = 10_000 }: RawLoad, call: Call): Promise<number> {
  const connection = new Connection({ endpoints, tls, deadlineMs: 10_000 })
  let left = total
  const client = async (_: unknown, id: number) => {
    while (left-- > 0) await call(connection, id)
  }
  try {
    const start = performance.now()
    await Promise.all(Array.from({ length: clients }, client))
    return (total * 1000) / (performance.now() - start)
  } finally {
    connection.close()
  }
}
