/**
 * `/backup`: the whole store as a stream, for those who may read that path. It is as large as the store, so it is sent at
 * the client's pace, and its time is bounded by that pace alone. An answer that fails half way is cut off, which the
 * client sees; so it does by the end that is missing.
 */

import { tooManyRequests } from '../../../api/model/api-error.ts'
import type { SharedCount } from '../../../base/limits/shared-count.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import type { Exchange } from '../request/exchange.ts'

/** Where a backup is asked for. */
export const backupPath = '/backup'

/** How many are sent at a time: each reads all of the store. */
export const maxBackups = 2
/** A client that takes nothing for so long is cut off. */
const patienceMs = 60_000

/** Serves `/backup`; `make` begins a backup of what is stored now, `underWay` counts those of the whole server. */
export function backupPaths(make: () => AsyncIterable<Buffer>, underWay: SharedCount): PathHandler {
  return (exchange, { path, verb }) => {
    if (path !== backupPath) return false
    if (verb !== 'get') throw notAllowed()
    if (!underWay.enter()) throw tooManyRequests('other backups are under way', 10)
    return send(exchange, make()).finally(() => underWay.leave())
  }
}

async function send(exchange: Exchange, chunks: AsyncIterable<Buffer>): Promise<void> {
  const { transport } = exchange
  for await (const chunk of chunks) {
    // Nothing is sent before the first chunk is there: until then a failure is an answer like any other.
    if (!exchange.answered) exchange.open(200, 'application/octet-stream')
    if (exchange.gone) return
    exchange.sentBytes += chunk.length
    if (!(await taken(transport.pass(chunk)))) return transport.cut()
  }
  transport.end()
}

async function taken(passing: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), patienceMs)
  return await Promise.race([passing.then(() => true), late]).finally(() => clearTimeout(timer))
}
