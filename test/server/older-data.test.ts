/**
 * Tests data written by an earlier commit: `test/data/stored-f1543a2.jsonl.gz` contains the exact bytes that the
 * earlier commit stored for every kind, and the responses of that commit. The current program must read all of them,
 * return the same responses and be able to change the objects.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { startInProcess } from '../support/in-process.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

interface StoredObject {
  readonly key: string
  /** Stored value in base64. */
  readonly value: string
  readonly path: string
  // biome-ignore lint/suspicious/noExplicitAny: objects of all kinds
  readonly object: any
}

const file = join(import.meta.dirname, '../data/stored-f1543a2.jsonl.gz')
const objects: StoredObject[] = gunzipSync(readFileSync(file))
  .toString('utf8')
  .split('\n')
  .map((line) => JSON.parse(line))

const { client, stop } = await startInProcess(allKinds, [], async (directory) => {
  const store = await LmdbStore.open({ directory })
  for (const { key, value } of objects) await store.commit({ key, expected: 0, value: Buffer.from(value, 'base64') })
  await store.close()
})
after(stop)

// biome-ignore lint/suspicious/noExplicitAny: objects of all kinds
function withoutVersion({ metadata: { resourceVersion: _, ...metadata }, ...object }: any): unknown {
  // The server checks again whether the aggregated server is available.
  const { status, ...lasting } = object
  return { ...(object.kind === 'APIService' ? lasting : { ...lasting, status }), metadata }
}

test('every object stored by an older version is returned unchanged', async () => {
  assert.ok(objects.length > 50)
  for (const { path, object } of objects) {
    const answer = await client.get(path)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    assert.deepEqual(withoutVersion(answer.body), withoutVersion(object), path)
  }
})

test('every object stored by an older version can be updated without other changes', async () => {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const raw = JSON.stringify({ metadata: { annotations: { 'example.com/touched': 'yes' } } })
  for (const { path, object } of objects) {
    const answer = await client.send(path, { method: 'PATCH', headers, raw })
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    const { spec, data, rules } = answer.body
    assert.deepEqual({ spec, data, rules }, { spec: object.spec, data: object.data, rules: object.rules }, path)
  }
})
