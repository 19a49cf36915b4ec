/**
 * A server that must survive what a test sends: the same process, answering, with no promise rejected unseen and no
 * fault of its own in the log. Inside the test's own process a promise that is rejected unseen fails the test by itself.
 */
import assert from 'node:assert/strict'
import type { Served, ServerHandle } from './server.ts'

/** Gives a check to call after each input. */
export function watchOver(server: Served | ServerHandle): () => Promise<void> {
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
