/** Tests reservations: a commit reserves free keys and releases other keys, atomically. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import {
  type Key,
  maxReservedKeys,
  type Revision,
  type Store,
  StoreError,
  type Write,
} from '../../../../src/storage/store/store.ts'
import { bytes, heldBy, keysOf, plainOutcome, readChanges, text } from '../operations.ts'
import { type Open, provesOn } from './prove.ts'

export function claimSuite(name: string, open: Open): void {
  const prove = provesOn(open)
  describe(`${name}: reservations`, () => {
    prove('a commit reserves free keys and releases others atomically', claims)
    prove('of several commits that reserve the same key, only one succeeds and the others have no effect', oneHolder)
    prove('thousands of keys can be reserved and released at once', manyClaims)
    prove('invalid reservations are rejected', claimRefusals)
    prove('a key that is released with a guard on its presence is released only once', onceReleased)
  })
}

async function claims(store: Store): Promise<void> {
  const start = await store.revision()
  const claim = (key: Key, expected: Revision, more: Partial<Write>) =>
    store.commit({ key, expected, value: bytes(key), ...more })
  const a = await claim('a', 0, { reserves: heldBy('a', 'claims/1', 'claims/2'), releases: ['claims/never'] })
  assert.equal(a.outcome, 'committed')
  assert.ok((await store.revision()) >= a.revision)
  assert.equal(text((await store.get('claims/1'))!.value), 'a')

  assert.deepEqual(await claim('b', 0, { reserves: heldBy('b', 'claims/3', 'claims/2') }), {
    outcome: 'conflict',
    current: undefined,
  })
  const other = await claim('a', 0, { reserves: heldBy('a', 'claims/3') })
  assert.deepEqual(plainOutcome(other), { outcome: 'conflict', current: ['a', a.revision, 'a'] })
  const reserves = heldBy('a', 'claims/3')
  const unguarded = { reserves, releases: ['claims/1'], guards: [{ key: 'nowhere', revision: a.revision }] }
  assert.equal((await claim('a', a.revision, unguarded)).outcome, 'conflict')
  assert.equal(await store.get('claims/3'), undefined)
  assert.equal(await store.get('b'), undefined)

  const next = await claim('a', a.revision, { reserves, releases: ['claims/1'] })
  assert.equal(next.outcome, 'committed')
  const b = await claim('b', 0, { reserves: heldBy('b', 'claims/1') })
  assert.equal(b.outcome, 'committed')
  const gone = await claim('a', next.revision, { value: undefined, releases: ['claims/2', 'claims/3'] })
  assert.equal(gone.outcome, 'committed')
  assert.deepEqual(keysOf(await store.list({ prefix: '' })), ['b', 'claims/1'])
  assert.deepEqual(keysOf(await store.list({ prefix: '', revision: a.revision })), ['a', 'claims/1', 'claims/2'])
  assert.deepEqual(keysOf(await store.list({ prefix: '', revision: next.revision })), ['a', 'claims/2', 'claims/3'])
  assert.deepEqual((await claimChanges(store, start)).sort(), [
    '+claims/1 a',
    '+claims/1 b',
    '+claims/2 a',
    '+claims/3 a',
    '-claims/1 a',
    '-claims/2 a',
    '-claims/3 a',
  ])
}

/** Formats reserved keys as `+key holder` and released keys as `-key holder`. */
async function claimChanges(store: Store, after: Revision): Promise<string[]> {
  const changes = await readChanges(store, { after, count: 11 })
  return changes
    .filter(({ key }) => key.startsWith('claims/'))
    .map(({ key, value, previous }) => (value ? `+${key} ${text(value)}` : `-${key} ${text(previous!.value)}`))
}

async function oneHolder(store: Store): Promise<void> {
  for (let round = 0; round < 5; round++) {
    const takes = [`claims/${round}`, `claims/also-${round}`]
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.commit({
          key: `${round}/${i}`,
          expected: 0,
          value: bytes('x'),
          reserves: heldBy(`${round}/${i}`, ...takes.slice(0, 1 + (i % 2))),
        }),
      ),
    )
    const winner = outcomes.findIndex(({ outcome }) => outcome === 'committed')
    assert.equal(outcomes.filter(({ outcome }) => outcome === 'committed').length, 1)
    const { entries } = await store.list({ prefix: `${round}/` })
    assert.deepEqual(
      entries.map(({ key }) => key),
      [`${round}/${winner}`],
    )
    assert.equal(text((await store.get(takes[0]!))!.value), `${round}/${winner}`)
  }
}

async function onceReleased(store: Store): Promise<void> {
  const note = { key: 'notes/1', value: bytes('what it is about') }
  const a = await store.commit({ key: 'a', expected: 0, value: bytes('a'), reserves: [note] })
  assert.equal(a.outcome, 'committed')
  assert.equal(text((await store.get(note.key))!.value), 'what it is about')
  const settling = (key: Key) =>
    store.commit({
      key,
      expected: 0,
      value: bytes(key),
      guards: [{ key: note.key, revision: 'present' }],
      releases: [note.key],
      lifetimeSeconds: 1000,
    })
  const outcomes = await Promise.all(['b', 'c', 'd'].map(settling))
  assert.equal(outcomes.filter(({ outcome }) => outcome === 'committed').length, 1)
  assert.equal(await store.get(note.key), undefined)
  assert.deepEqual(await settling('e'), { outcome: 'conflict', current: undefined })
}

async function claimRefusals(store: Store): Promise<void> {
  const write = { key: 'a', expected: 0, value: bytes('x') }
  const many = Array.from({ length: maxReservedKeys + 1 }, (_, i) => `claims/${i}`)
  for (const claims of [
    { reserves: heldBy('a', 'a') },
    { reserves: heldBy('a', 'b', 'b') },
    { reserves: heldBy('a', 'b'), releases: ['b'] },
    { reserves: heldBy('a', '') },
    { releases: ['a\0'] },
    { reserves: heldBy('a', ...many) },
    { reserves: heldBy('a', ...many.slice(1)), releases: many.slice(0, 1) },
    { reserves: heldBy('a', 'b'), lifetimeSeconds: 60 },
  ])
    await assert.rejects(store.commit({ ...write, ...claims }), StoreError)
  assert.deepEqual(await store.list({ prefix: '' }).then(keysOf), [])
  assert.deepEqual(await store.list({ prefix: '' }).then(keysOf), [])
}

async function manyClaims(store: Store): Promise<void> {
  const half = maxReservedKeys / 2
  const claims = (from: number) =>
    Array.from({ length: half }, (_, i) => `claims/${i % 2 ? 'odd' : 'even'}/${from + i}`)
  const first = claims(0)
  const a = await store.commit({ key: 'a', expected: 0, value: bytes('a'), reserves: heldBy('a', ...first) })
  assert.equal(a.outcome, 'committed')
  assert.equal((await store.list({ prefix: 'claims/' })).entries.length, half)

  const late = heldBy('b', ...claims(half - 2))
  const overlaps = await store.commit({ key: 'b', expected: 0, value: bytes('b'), reserves: late })
  assert.deepEqual(overlaps, { outcome: 'conflict', current: undefined })
  const others = heldBy('a', ...claims(half))
  const stale = await store.commit({ key: 'a', expected: a.revision + 1000, value: bytes('x'), reserves: others })
  assert.deepEqual(plainOutcome(stale), { outcome: 'conflict', current: ['a', a.revision, 'a'] })
  assert.equal((await store.list({ prefix: 'claims/' })).entries.length, half)

  const moved = await store.commit({
    key: 'a',
    expected: a.revision,
    value: bytes('a2'),
    reserves: others,
    releases: first,
  })
  assert.equal(moved.outcome, 'committed')
  assert.equal((await store.list({ prefix: 'claims/' })).entries.length, half)
  assert.equal((await store.list({ prefix: 'claims/', revision: a.revision })).entries.length, half)
  const b = store.commit({ key: 'b', expected: 0, value: bytes('b'), reserves: heldBy('b', ...first) })
  const backwards = heldBy('c', ...first.toReversed())
  const c = store.commit({ key: 'c', expected: 0, value: bytes('c'), reserves: backwards })
  const won = (await Promise.all([b, c])).filter(({ outcome }) => outcome === 'committed')
  assert.ok(won.length <= 1)
  const gone = await store.commit({ key: 'a', expected: moved.revision, value: undefined, releases: claims(half) })
  assert.equal(gone.outcome, 'committed')
  const { entries } = await store.list({ prefix: 'claims/' })
  assert.equal(entries.length, won.length * half)
  assert.equal(new Set(entries.map(({ value }) => text(value))).size, won.length)
}
