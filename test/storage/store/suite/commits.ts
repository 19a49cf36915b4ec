/** Tests commits: a compare-and-set on one key, with guards on other keys. Each commit gets the next revision. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import {
  type Guard,
  type Key,
  maxKeyBytes,
  type Revision,
  type Store,
  StoreError,
} from '../../../../src/storage/store/store.ts'
import {
  assertRising,
  bytes,
  commit,
  entryOf,
  plainChange,
  plainList,
  plainOutcome,
  put,
  readChanges,
  remove,
  text,
} from '../operations.ts'
import { type Open, provesOn } from './prove.ts'

export function commitSuite(name: string, open: Open): void {
  const prove = provesOn(open)
  describe(`${name}: commits`, () => {
    prove('a new store is empty and at a revision of at least 1', freshStore)
    prove('create, update and delete get increasing revisions', lifecycle)
    prove('a commit that expects another revision changes nothing and returns the current entry', conflicts)
    prove('a commit with guards happens only if the guarded keys are unchanged', guards)
    prove('a guarded commit happens before the next change to the guarded key or not at all', guardsUnderWay)
    prove('invalid keys and deletions are rejected', refusals)
    prove('revision() is never below the revision of an acknowledged commit', linearizableRevision)
    prove('of several commits that replace the same revision, only one succeeds', oneWinner)
    prove('a counter with compare-and-set loses no increment', countingTogether)
    prove('values of 1.2 MiB and empty values are returned unchanged', sizesOfValues)
  })
}

async function freshStore(store: Store): Promise<void> {
  const revision = await store.revision()
  assert.ok(revision >= 1)
  assert.equal(await store.get('a'), undefined)
  const snapshot = await store.list({ prefix: '' })
  assert.deepEqual(snapshot.entries, [])
  assert.equal(snapshot.remaining, 0)
  assert.ok(snapshot.revision >= revision)
}

async function lifecycle(store: Store): Promise<void> {
  const start = await store.revision()
  const created = await put(store, 'a', 'one', 0)
  const updated = await put(store, 'a', 'two', created)
  assert.deepEqual(await entryOf(store, 'a'), ['a', updated, 'two'])
  const deleted = await remove(store, 'a', updated)
  assert.equal(await store.get('a'), undefined)
  const again = await put(store, 'a', 'three', 0)
  assert.deepEqual(await entryOf(store, 'a'), ['a', again, 'three'])
  assertRising([start, created, updated, deleted, again])
}

async function guards(store: Store): Promise<void> {
  const first = await put(store, 'place', 'one', 0)
  const rest = (key: Key, expected: Revision, ...guards: Guard[]) =>
    store.commit({ key, expected, value: bytes(key), guards })
  const a = await rest('a', 0, { key: 'place', revision: first }, { key: 'nowhere', revision: 0 })
  assert.equal(a.outcome, 'committed')
  const second = await put(store, 'place', 'two', first)
  const free = { outcome: 'conflict', current: undefined }
  for (const revision of [0, first, second + 1000])
    assert.deepEqual(await rest('b', 0, { key: 'place', revision }), free)
  const there = { key: 'place', revision: second }
  assert.deepEqual(await rest('b', 0, there, { key: 'nowhere', revision: second }), free)
  const changed = await rest('a', a.revision, { key: 'place', revision: first })
  assert.deepEqual(plainOutcome(changed), { outcome: 'conflict', current: ['a', a.revision, 'a'] })
  const taken = await rest('a', 0, there)
  assert.deepEqual(plainOutcome(taken), { outcome: 'conflict', current: ['a', a.revision, 'a'] })
  await remove(store, 'place', second)
  assert.deepEqual(await rest('b', 0, there), free)
  assert.equal(await store.get('b'), undefined)
  const b = await rest('b', 0, { key: 'place', revision: 0 })
  assert.equal(b.outcome, 'committed')
  const changes = await readChanges(store, { after: second, count: 2 })
  assert.deepEqual(
    changes.map(({ key }) => key),
    ['place', 'b'],
  )
}

async function guardsUnderWay(store: Store): Promise<void> {
  let place = await put(store, 'place', 'at first', 0)
  for (let round = 0; round < 5; round++) {
    const guard = { key: 'place', revision: place }
    const add = (i: number) => store.commit({ key: `${round}/${i}`, expected: 0, value: bytes('x'), guards: [guard] })
    const before = Array.from({ length: 20 }, (_, i) => add(i))
    const move = put(store, 'place', `round ${round}`, place)
    const after = Array.from({ length: 20 }, (_, i) => add(20 + i))
    place = await move
    for (const outcome of await Promise.all([...before, ...after]))
      if (outcome.outcome === 'committed') assert.ok(outcome.revision < place)
    assert.deepEqual(await add(40), { outcome: 'conflict', current: undefined })
  }
}

async function conflicts(store: Store): Promise<void> {
  const first = await put(store, 'a', 'one', 0)
  const second = await put(store, 'a', 'two', first)
  for (const expected of [0, first, second + 1000]) {
    const outcome = await store.commit({ key: 'a', expected, value: bytes('no') })
    assert.deepEqual(plainOutcome(outcome), { outcome: 'conflict', current: ['a', second, 'two'] })
  }
  const deletion = await store.commit({ key: 'a', expected: first, value: undefined })
  assert.deepEqual(plainOutcome(deletion), { outcome: 'conflict', current: ['a', second, 'two'] })
  const absent = await store.commit({ key: 'b', expected: first, value: bytes('no') })
  assert.deepEqual(plainOutcome(absent), { outcome: 'conflict', current: undefined })
  const absentDeletion = await store.commit({ key: 'b', expected: first, value: undefined })
  assert.deepEqual(plainOutcome(absentDeletion), { outcome: 'conflict', current: undefined })
  const last = await put(store, 'c', 'mark', 0)
  const changes = await readChanges(store, { after: second, count: 1 })
  assert.deepEqual(changes.map(plainChange), [['c', last, 'mark', undefined]])
}

async function refusals(store: Store): Promise<void> {
  const write = (key: Key) => store.commit({ key, expected: 0, value: bytes('x') })
  for (const key of ['', 'a\0b', '\ud800', 'x'.repeat(maxKeyBytes + 1), 'é'.repeat(maxKeyBytes / 2 + 1)]) {
    await assert.rejects(write(key), StoreError)
  }
  await assert.rejects(store.commit({ key: 'a', expected: 0, value: undefined }), StoreError)
  await assert.rejects(store.commit({ key: 'a', expected: -1, value: bytes('x') }), StoreError)
  const longest = 'é'.repeat(maxKeyBytes / 2)
  const revision = await put(store, longest, 'fits', 0)
  const next = await put(store, longest, 'fits still', revision)
  assert.deepEqual(plainList(await store.list({ prefix: '', revision })), [[longest, revision, 'fits']])
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [[longest, next, 'fits still']])
}

async function linearizableRevision(store: Store): Promise<void> {
  const writer = async (name: string) => {
    for (let i = 0; i < 20; i++) {
      const committed = await put(store, `${name}/${i}`, 'x', 0)
      assert.ok((await store.revision()) >= committed)
      assert.equal((await store.get(`${name}/${i}`))?.revision, committed)
      const { revision, entries } = await store.list({ prefix: `${name}/` })
      assert.ok(revision >= committed)
      assert.equal(entries.length, i + 1)
    }
  }
  await Promise.all(['a', 'b', 'c', 'd'].map(writer))
}

async function oneWinner(store: Store): Promise<void> {
  let expected = 0
  for (let round = 0; round < 5; round++) {
    const racers = Array.from({ length: 20 }, (_, i) =>
      store.commit({ key: 'a', expected, value: bytes(`${round}.${i}`) }),
    )
    const outcomes = await Promise.all(racers)
    const winners = outcomes.filter((outcome) => outcome.outcome === 'committed')
    assert.equal(winners.length, 1)
    const winner = outcomes.findIndex((outcome) => outcome.outcome === 'committed')
    assert.deepEqual(await entryOf(store, 'a'), ['a', winners[0]!.revision, `${round}.${winner}`])
    expected = winners[0]!.revision
  }
}

async function countingTogether(store: Store): Promise<void> {
  const increment = async () => {
    for (let tries = 0; tries < 10_000; tries++) {
      const entry = await store.get('n')
      const value = bytes(String(Number(entry ? text(entry.value) : 0) + 1))
      const outcome = await store.commit({ key: 'n', expected: entry?.revision ?? 0, value })
      if (outcome.outcome === 'committed') return
    }
    assert.fail('an increment lost every race')
  }
  const counter = async () => {
    for (let i = 0; i < 10; i++) await increment()
  }
  await Promise.all(Array.from({ length: 5 }, counter))
  assert.equal(text((await store.get('n'))!.value), '50')
}

async function sizesOfValues(store: Store): Promise<void> {
  const large = Buffer.alloc(1_258_291, 'large value ')
  const none = Buffer.alloc(0)
  const first = await commit(store, 'large', large, 0)
  const second = await commit(store, 'none', none, 0)
  const third = await commit(store, 'large', none, first)
  const fourth = await commit(store, 'none', large, second)
  assert.deepEqual((await store.get('none'))!.value.length, large.length)
  assert.ok(large.equals((await store.get('none'))!.value))
  assert.equal((await store.get('large'))!.value.length, 0)
  const old = await store.list({ prefix: '', revision: second })
  assert.deepEqual(
    old.entries.map((entry) => [entry.key, entry.revision, entry.value.length]),
    [
      ['large', first, large.length],
      ['none', second, 0],
    ],
  )
  assert.ok(large.equals(old.entries[0]!.value))
  const changes = await readChanges(store, { after: second, count: 2 })
  assert.deepEqual(
    changes.map(({ key, revision, value, previous }) => [key, revision, value!.length, previous!.value.length]),
    [
      ['large', third, 0, large.length],
      ['none', fourth, large.length, 0],
    ],
  )
}
