/**
 * A server that must survive what a test sends: the same process, answering, with no promise rejected unseen and no
 * fault of its own in the log.
 */
import assert from 'node:assert/strict'
import type { ServerHandle } from './server.ts'

/** Gives a check to call after each input. */
export function watchOver(server: ServerHandle): () => Promise<void> {
  const client = server.client()
  const { pid } = server.process
  let read = 0
  return async () => {
    assert.deepEqual(
      [server.process.pid, server.process.exitCode, server.process.signalCode],
      [pid, null, null],
      server.output(),
    )
    assert.equal((await client.get('/livez')).status, 200)
    const written = server.output().slice(read)
    read += written.length
    assert.doesNotMatch(written, / error /)
  }
}
