/**
 * Measures the limits of etcd and of the connection to it: raw puts and reads over the store's own connection, for
 * comparison with the server's commits and reads. Requires a running etcd. Returns the rates without printing them.
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

/** Measures puts per second by `clients` concurrent clients, each of which writes its own key. */
export async function measureRawPuts(options: RawLoad): Promise<number> {
  const value = new Uint8Array(options.valueBytes ?? 1_000).fill(120)
  return await rate(options, (connection, id) =>
    connection.call(methods.put, encodePut(keyOf(id), value), { effect: 'write' }),
  )
}

/** Measures linearizable reads per second by `clients` concurrent clients. Reads by the store are also linearizable. */
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
  let remaining = total
  const client = async (_: unknown, id: number) => {
    while (remaining-- > 0) await call(connection, id)
  }
  try {
    const start = performance.now()
    await Promise.all(Array.from({ length: clients }, client))
    return (total * 1000) / (performance.now() - start)
  } finally {
    connection.close()
  }
}
