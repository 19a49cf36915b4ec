/**
 * What etcd and the way to it can do: raw puts through the store's own connection, next to which commits are judged.
 * Needs a running etcd; prints nothing itself.
 */
import { Connection } from '../src/store/etcd/connection.ts'
import { encodePut, methods } from '../src/store/etcd/messages.ts'
import type { Tls } from '../src/store/etcd/session.ts'

export interface RawPuts {
  readonly endpoints: readonly string[]
  readonly tls?: Tls
  readonly clients?: number
  readonly total?: number
  readonly valueBytes?: number
}

/** Puts per second by `clients` at once, each on a key of its own. */
export async function measureRawPuts(options: RawPuts): Promise<number> {
  const { endpoints, tls, clients = 64, total = 10_000, valueBytes = 1_000 } = options
  const connection = new Connection({ endpoints, tls, deadlineMs: 10_000 })
  const value = new Uint8Array(valueBytes).fill(120)
  let left = total
  const client = async (_: unknown, id: number) => {
    while (left-- > 0) {
      await connection.call(methods.put, encodePut(Buffer.from(`/bench/${id}`), value), { effect: 'write' })
    }
  }
  try {
    const start = performance.now()
    await Promise.all(Array.from({ length: clients }, client))
    return (total * 1000) / (performance.now() - start)
  } finally {
    connection.close()
  }
}
