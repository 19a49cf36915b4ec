/**
 * Checks that a server survives a test: the same process still responds, and the log contains no unhandled rejections
 * or internal errors. If the server runs in the test's own process, an unhandled rejection fails the test anyway.
 */
import assert from 'node:assert/strict'
import type { Served, ServerHandle } from './server.ts'

/** Returns a check that the test calls after each input. */
export function survivalCheck(server: Served | ServerHandle): () => Promise<void> {
  const client = server.client()
  const child = 'process' in server ? server.process : undefined
  let read = 0
  return async () => {
    if ('process' in server) {
      assert.equal(server.process, child)
      assert.deepEqual([child?.exitCode, child?.signalCode], [null, null], server.output())
    }
    assert.equal((await client.get('/livez')).status, 200)
    const written = server.output().slice(read)
    read += written.length
    assert.doesNotMatch(written, / error /)
  }
}
