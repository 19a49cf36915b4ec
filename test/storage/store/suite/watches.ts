/** Tests watches: every change after a revision is reported once, in order and without gaps. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Revision, RevisionGone, type Store, StoreError } from '../../../../src/storage/store/store.ts'
import { bytes, manyKeys, plainChange, put, readChanges, writeHistory, writeMany } from '../operations.ts'
import { type Open, provesOn, timeout } from './prove.ts'

export function watchSuite(name: string, open: Open): void {
  const prove = provesOn(open)
  describe(`${name}: watches`, () => {
    prove('a watch replays every change with its previous value', replay)
    prove('a watch yields live changes with their previous values', live)
    prove('a watch from any revision switches from replay to live changes without gaps or duplicates', replayIntoLive)
    prove('a watch on a prefix yields only keys with that prefix', watchPrefix)
    prove('a watch reports progress even if none of its keys changed', progress)
    prove('an aborted watch ends without an error', abort)
    prove('a watch from a compacted revision throws RevisionGone', watchGone)
    prove('compaction during a watch causes no gap', compactionUnderWatch)
    prove('close ends watches and rejects all calls', closing)
  })
}

async function replay(store: Store): Promise<void> {
  const start = await store.revision()
  const expected = await writeHistory(store)
  const changes = await readChanges(store, { after: start, count: expected.length })
  assert.deepEqual(changes.map(plainChange), expected)
  for (const [i, [, revision]] of expected.entries()) {
    if (i === expected.length - 1) break
    const rest = await readChanges(store, { after: revision, count: expected.length - i - 1 })
    assert.deepEqual(rest.map(plainChange), expected.slice(i + 1))
  }
}

async function live(store: Store): Promise<void> {
  const start = await store.revision()
  const watching = readChanges(store, { after: start, count: 5 })
  const expected = await writeHistory(store)
  assert.deepEqual((await watching).map(plainChange), expected)
}

async function replayIntoLive(store: Store): Promise<void> {
  const start = await store.revision()
  const revisions = await writeMany(store, 250, 'x')
  const total = 500
  const starts = [start, ...revisions.toSorted((a, b) => a - b).filter((_, i) => i % 50 === 49)]
  const watches = starts.map((after, i) => readChanges(store, { after, count: total - i * 50 }))
  const updates = manyKeys(250).map((key, i) => put(store, key, 'y', revisions[i]!))
  const later = await Promise.all(updates)
  const all = [...revisions, ...later].sort((a, b) => a - b)
  for (const [i, watch] of watches.entries()) {
    const seen = (await watch).map((change) => change.revision)
    assert.deepEqual(seen, all.slice(i * 50))
  }
}

async function watchPrefix(store: Store): Promise<void> {
  const start = await store.revision()
  const watching = readChanges(store, { after: start, prefix: 'a/', count: 3 })
  for (const key of ['a', 'a/1', 'ab', 'b', 'a/2', 'a0', 'a/3']) await put(store, key, key, 0)
  assert.deepEqual(
    (await watching).map((change) => change.key),
    ['a/1', 'a/2', 'a/3'],
  )
  const replayed = await readChanges(store, { after: start, prefix: 'a/', count: 3 })
  assert.deepEqual(
    replayed.map((change) => change.key),
    ['a/1', 'a/2', 'a/3'],
  )
}

async function progress(store: Store): Promise<void> {
  const after = await store.revision()
  const signal = AbortSignal.timeout(timeout)
  const last = await put(store, 'b', '1', 0)
  for await (const { changes, through } of store.watch({ prefix: 'a/', after, signal })) {
    assert.deepEqual(changes, [])
    if (through >= last) break
  }
  assert.equal(signal.aborted, false)
  const steps: Revision[] = []
  for await (const { through } of store.watch({ prefix: 'a/', after, until: last, signal })) steps.push(through)
  assert.equal(steps.at(-1), last)
}

async function abort(store: Store): Promise<void> {
  const after = await store.revision()
  for await (const batch of store.watch({ prefix: '', after, signal: AbortSignal.abort() })) assert.fail(String(batch))
  const controller = new AbortController()
  const waiting = store.watch({ prefix: '', after, signal: controller.signal })[Symbol.asyncIterator]()
  const next = waiting.next()
  await put(store, 'a', '1', 0)
  assert.equal((await next).done, false)
  const silent = waiting.next()
  controller.abort()
  assert.equal((await silent).done, true)
}

async function watchGone(store: Store): Promise<void> {
  const start = await store.revision()
  const first = await put(store, 'a', '1', 0)
  const second = await put(store, 'a', '2', first)
  const third = await put(store, 'a', '3', second)
  await store.compact(second)
  await assert.rejects(readChanges(store, { after: start, count: 1 }), RevisionGone)
  await assert.rejects(readChanges(store, { after: first, count: 1 }), RevisionGone)
  const kept = await readChanges(store, { after: second, count: 1 })
  assert.deepEqual(kept.map(plainChange), [['a', third, '3', ['a', second, '2']]])
}

async function compactionUnderWatch(store: Store): Promise<void> {
  const start = await store.revision()
  const revisions: Revision[] = []
  const seen: Revision[] = []
  const controller = new AbortController()
  const watching = (async () => {
    for await (const { changes } of store.watch({ prefix: '', after: start, signal: controller.signal })) {
      seen.push(...changes.map((change) => change.revision))
      if (seen.length >= 200) return
    }
  })()
  for (let i = 0; i < 200; i++) {
    revisions.push(await put(store, 'a', String(i), revisions.at(-1) ?? 0))
    if (i % 20 === 19) await store.compact(revisions.at(-5)!)
  }
  const ended = await watching.then(
    () => undefined,
    (error: unknown) => error,
  )
  controller.abort()
  if (ended === undefined) assert.equal(seen.length, 200)
  else assert.ok(ended instanceof RevisionGone)
  assert.deepEqual(seen, revisions.slice(0, seen.length))
}

async function closing(store: Store): Promise<void> {
  const after = await store.revision()
  const watching = readChanges(store, { after, count: 1 })
  const ended = assert.rejects(watching, StoreError)
  await store.close()
  await ended
  await store.close()
  await assert.rejects(store.commit({ key: 'a', expected: 0, value: bytes('1') }), StoreError)
  await assert.rejects(store.get('a'), StoreError)
  await assert.rejects(store.list({ prefix: '' }), StoreError)
  await assert.rejects(async () => await store.revision(), StoreError)
  await assert.rejects(store.compact(after), StoreError)
  await assert.rejects(readChanges(store, { after, count: 1 }), StoreError)
}
