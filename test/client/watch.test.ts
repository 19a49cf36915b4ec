/** Tests watches as iterators, and how the response to a watch is split into lines. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../../src/client/requests/client.ts'
import { isExpired } from '../../src/client/requests/status-error.ts'
import { TransportError } from '../../src/client/requests/transport.ts'
import { lines, watch } from '../../src/client/requests/watch.ts'
import { serve } from '../support/in-process.ts'
import { configMap, configMaps } from '../support/resource-types.ts'
import { waitForCompaction } from '../support/wait-for-compaction.ts'

async function* chunks(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? new TextEncoder().encode(part) : part
}

test('a watch stream is split into lines regardless of chunk boundaries', async () => {
  const text = 'one\n{"é": "😀"}\n\nlast\n'
  const bytes = new TextEncoder().encode(text)
  for (let size = 1; size <= bytes.length; size++) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    )
    assert.deepEqual(await Array.fromAsync(lines(chunks(...parts), 100)), ['one', '{"é": "😀"}', '', 'last'])
  }
})

test('a watch drops a truncated line and rejects a line that is too long', async () => {
  assert.deepEqual(await Array.fromAsync(lines(chunks('a\nb'), 100)), ['a'])
  await assert.rejects(Array.fromAsync(lines(chunks('a\n', 'b'.repeat(60), 'c'.repeat(60)), 100)), TransportError)
})

test('a watch returns events in order, with bookmarks, and ends after its timeout', async (t) => {
  const client = new Client((await serve(t)).transport())
  await client.create(configMaps, configMap('old'))
  const { metadata } = await client.create(configMaps, configMap('a'))
  const events = watch(client, configMaps, { namespace: 'default', bookmarks: true, timeoutSeconds: 3 })
  const first = [await events.next(), await events.next()].map(({ value }) => value?.type)
  assert.deepEqual(first, ['ADDED', 'ADDED'])
  await client.patch(configMaps, { namespace: 'default', name: 'a' }, { patch: { merge: { data: { k: 'v' } } } })
  await client.delete(configMaps, { namespace: 'default', name: 'a' })
  const rest = await Array.fromAsync(events)
  assert.deepEqual(
    rest.map(({ type }) => type),
    ['MODIFIED', 'DELETED', 'BOOKMARK'],
  )
  const bookmark = rest.at(-1)
  assert.ok(bookmark?.type === 'BOOKMARK' && Number(bookmark.resourceVersion) > Number(metadata.resourceVersion))
})

test('a watch from a resourceVersion that is too old returns 410', async (t) => {
  const server = await serve(t, ['--history-duration=1s'])
  const client = new Client(server.transport())
  const { metadata } = await client.create(configMaps, configMap('a'))
  const resourceVersion = metadata.resourceVersion ?? ''
  const name = { namespace: 'default', name: 'a' }
  for (let i = 0; i < 3; i++) await client.patch(configMaps, name, { patch: { merge: { data: { i: `${i}` } } } })
  // The memory store loses its content when the server restarts, and compacts its history after a second.
  await server.stop()
  await server.restart()
  const again = new Client(server.transport())
  await waitForCompaction(again, resourceVersion)
  await assert.rejects(watch(again, configMaps, { resourceVersion }).next(), isExpired)
})
