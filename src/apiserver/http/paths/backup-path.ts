/**
 * `/backup` streams the whole store to users with permission to read this path. The response is as large as the store
 * and has no time limit, but the client must keep reading. If the stream fails, the server closes the connection
 * without sending the end marker of the backup.
 */

import { tooManyRequests } from '../../../api/model/api-error.ts'
import type { SharedCount } from '../../../base/limits/shared-count.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import type { Exchange } from '../request/exchange.ts'

/** Path of the backup endpoint. */
export const backupPath = '/backup'

/** Maximum number of concurrent backups. Each backup reads the whole store. */
export const maxBackups = 2
/** Time in milliseconds after which a client that reads nothing is disconnected. */
const patienceMs = 60_000

/**
 * Serves `/backup`. `make` starts a backup of the store. `underWay` counts the backups that are in progress in all
 * workers.
 */
export function backupPaths(make: () => AsyncIterable<Buffer>, underWay: SharedCount): PathHandler {
  return (exchange, { path, verb }) => {
    if (path !== backupPath) return false
    if (verb !== 'get') throw notAllowed()
    if (!underWay.enter()) throw tooManyRequests('too many backups are in progress; try again later', 10)
    return send(exchange, make()).finally(() => underWay.leave())
  }
}

async function send(exchange: Exchange, chunks: AsyncIterable<Buffer>): Promise<void> {
  const { transport } = exchange
  for await (const chunk of chunks) {
    // Send the headers only with the first chunk, so that an earlier error can still become an error response.
    if (!exchange.answered) exchange.open(200, 'application/octet-stream')
    if (exchange.disconnected) return
    exchange.sentBytes += chunk.length
    if (!(await finishesInTime(transport.pass(chunk)))) return transport.cut()
  }
  transport.end()
}

async function finishesInTime(passing: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), patienceMs)
  return await Promise.race([passing.then(() => true), late]).finally(() => clearTimeout(timer))
}
