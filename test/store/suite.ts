/**
 * The proof of the store contract, the same for every backend: `storeSuite` turns each promise of src/store/store.ts
 * into tests against a real store, and compares seeded random operations with the model (MemoryStore) step by step.
 * Revisions are compared by order and identity, never by number: a backend may leave gaps.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Bytes,
  type Change,
  type Entry,
  type Guard,
  type Key,
  maxClaims,
  maxKeyBytes,
  maxLifetimeSeconds,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
  type Store,
  StoreError,
  type Write,
} from '../../src/store/store.ts'
import { compareAcrossRestarts, compareWithModel } from './model.ts'

export interface Opened {
  readonly store: Store
  /** Closes the store and opens another on the same data, where data outlives the store. */
  reopen?(): Promise<Store>
  /** Closes and removes everything, whatever the test has closed already. */
  cleanup(): Promise<void>
}

export type Open = () => Promise<Opened>
export type OpenDurable = () => Promise<Opened & { reopen(): Promise<Store> }>

type Proof = (store: Store) => Promise<void>
type RestartProof = (store: Store, reopen: () => Promise<Store>) => Promise<void>

/** No proof takes seconds; one that waits for what never comes fails instead. */
const timeout = 30_000

export function storeSuite(name: string, open: Open): void {
  const prove = (promise: string, proof: Proof) =>
    test(promise, { timeout }, async () => {
      const opened = await open()
      try {
        await proof(opened.store)
      } finally {
        await opened.cleanup()
      }
    })

  describe(`${name}: commits`, () => {
    prove('a fresh store is empty and at a revision of at least 1', freshStore)
    prove('create, update and delete get rising revisions', lifecycle)
    prove('a commit that expects another revision changes nothing and is told what is there', conflicts)
    prove('a commit that rests on other keys happens only while they are as they were', guards)
    prove('what rests on a key comes before its next change, or not at all', guardsUnderWay)
    prove('a commit takes keys that nobody holds and releases others, all of it or nothing', claims)
    prove('of commits that take the same key one wins, and nothing is left of the others', oneHolder)
    prove('thousands of keys are taken and released like a few', manyClaims)
    prove('claims that cannot be are refused', claimRefusals)
    prove('keys and deletions that cannot be are refused', refusals)
    prove('revision() is at least that of every acknowledged commit', linearizableRevision)
    prove('of commits that replace the same revision one wins', oneWinner)
    prove('counting by compare-and-set loses nothing', countingTogether)
    prove('values of 1.2 MiB and of no bytes come back as they were', sizesOfValues)
  })

  describe(`${name}: lists`, () => {
    prove('entries come in the order of their UTF-8 bytes', byteOrder)
    prove('a prefix never takes siblings', siblings)
    prove('limit, after and remaining cut a range', cuts)
    prove('a list at any kept revision is the state at that revision', oldStates)
    prove('pages read at one revision are one state, whatever is written meanwhile', pagesUnderWrites)
    prove('a key with many versions is one entry at each revision', manyVersions)
    prove('a long list is exact while its keys are rewritten and deleted', longListUnderWrites)
    prove('a revision not reached yet is refused', ahead)
    prove('compaction forgets what is older and keeps the rest', compaction)
  })

  describe(`${name}: watches`, () => {
    prove('a watch replays every change with what was there before', replay)
    prove('a watch yields live changes with what was there before', live)
    prove('a watch from any revision passes from replay to live without gap or repeat', replayIntoLive)
    prove('a watch of a prefix yields only its keys', watchPrefix)
    prove('a watch tells how far it has come where nothing of it changed', progress)
    prove('an aborted watch just ends', abort)
    prove('a watch from before the kept history is told so', watchGone)
    prove('compaction under a watch leaves no gap', compactionUnderWatch)
    prove('close ends watches and refuses all calls', closing)
  })

  // They wait for time to pass, and do so together.
  describe(`${name}: lifetimes`, { concurrency: true }, () => {
    prove('a key goes by itself when its lifetime is over, and is told as deleted', expiry)
    prove('a commit that names what has gone by itself is a conflict', expiryConflicts)
    prove('a commit without a lifetime takes away that of an earlier one', lifetimeTakenAway)
    prove('a commit with a lifetime replaces that of an earlier one', lifetimeReplaced)
    prove('keys that go together are told one by one, also to a watch that is resumed anywhere', expiryOfMany)
    prove('lifetimes that cannot be are refused', lifetimeRefusals)
  })

  describe(`${name}: the model`, () => {
    for (const seed of [1, 2, 3]) {
      prove(`random operations give what the model gives (seed ${seed})`, (store) => compareWithModel(store, seed, 400))
    }
  })
}

/** What a restart must not change; for every backend that outlives its process. */
export function restartSuite(name: string, open: OpenDurable): void {
  const prove = (promise: string, proof: RestartProof) =>
    test(promise, { timeout }, async () => {
      const opened = await open()
      try {
        await proof(opened.store, () => opened.reopen())
      } finally {
        await opened.cleanup()
      }
    })

  describe(`${name}: restarts`, () => {
    prove('revisions go on and nothing is lost', restart)
    prove('every change is replayed from the log, to many readers, into live ones', replayAfterRestart)
    prove('what was compacted stays gone', compactionAcrossRestart)
    prove('lifetimes go on', lifetimesAcrossRestart)
    for (const seed of [11, 12]) {
      const plan = { seed, restarts: 5, steps: 80 }
      prove(`random operations give what the model gives (seed ${seed})`, (store, reopen) =>
        compareAcrossRestarts(store, reopen, plan),
      )
    }
  })
}

async function restart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const start = await store.revision()
  const expected = await writeHistory(store)
  const before = await store.list({ prefix: '' })
  const next = await reopen()
  assert.ok((await next.revision()) >= before.revision)
  assert.deepEqual(plainList(await next.list({ prefix: '' })), plainList(before))
  for (const [, revision] of expected) {
    const state = await next.list({ prefix: '', revision })
    assert.deepEqual(plainList(state), stateAfter(expected, revision))
  }
  assert.deepEqual((await readChanges(next, { after: start, count: expected.length })).map(plainChange), expected)
  assert.ok((await put(next, 'c', '1', 0)) > before.revision)
}

/** The state that changes from an empty store lead to. */
function stateAfter(changes: readonly PlainChange[], last: Revision): Plain[] {
  const state = new Map<Key, Plain>()
  for (const [key, revision, value] of changes) {
    if (revision > last) break
    if (value === undefined) state.delete(key)
    else state.set(key, [key, revision, value])
  }
  return [...state.values()].sort(byKey)
}

async function replayAfterRestart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const start = await store.revision()
  const created = await writeMany(store, 1200, 'x'.repeat(2000))
  const next = await reopen()
  const order = created.toSorted((a, b) => a - b)
  const watches = [0, 599, 1198].map((i) => readChanges(next, { after: order[i]!, count: 1199 - i + 100 }))
  const updated = await Promise.all(manyKeys(100).map((key, i) => put(next, key, 'y', created[i]!)))
  const all = [...created, ...updated].sort((a, b) => a - b)
  for (const [i, watch] of watches.entries()) {
    const seen = await watch
    assert.deepEqual(
      seen.map((change) => change.revision),
      all.slice([1, 600, 1199][i]),
    )
    assert.equal(text(seen.at(-1)!.previous!.value), 'x'.repeat(2000))
  }
  assert.equal((await readChanges(next, { after: start, count: 1300 })).length, 1300)
}

async function compactionAcrossRestart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const first = await put(store, 'a', '1', 0)
  const second = await put(store, 'a', '2', first)
  const third = await put(store, 'a', '3', second)
  await store.compact(second)
  const next = await reopen()
  await assert.rejects(next.list({ prefix: '', revision: first }), RevisionGone)
  await assert.rejects(readChanges(next, { after: first, count: 1 }), RevisionGone)
  assert.deepEqual(plainList(await next.list({ prefix: '', revision: second })), [['a', second, '2']])
  assert.deepEqual((await readChanges(next, { after: second, count: 1 })).map(plainChange), [
    ['a', third, '3', ['a', second, '2']],
  ])
}

async function lifetimesAcrossRestart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const long = await putFor(store, 3600, 'long', '1', 0)
  const short = await putFor(store, 1, 'short', '1', 0)
  const next = await reopen()
  const [gone] = await readChanges(next, { after: short, count: 1 })
  assert.deepEqual(plainChange(gone!), ['short', gone!.revision, undefined, ['short', short, '1']])
  const again = await reopen()
  assert.deepEqual(plainList(await again.list({ prefix: '' })), [['long', long, '1']])
  const replayed = await readChanges(again, { after: short, count: 1 })
  assert.deepEqual(replayed.map(plainChange), [plainChange(gone!)])
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

async function claims(store: Store): Promise<void> {
  const start = await store.revision()
  const claim = (key: Key, expected: Revision, more: Partial<Write>) =>
    store.commit({ key, expected, value: bytes(key), ...more })
  const a = await claim('a', 0, { takes: ['claims/1', 'claims/2'], releases: ['claims/never'] })
  assert.equal(a.outcome, 'committed')
  assert.ok((await store.revision()) >= a.revision)
  assert.equal(text((await store.get('claims/1'))!.value), 'a')

  assert.deepEqual(await claim('b', 0, { takes: ['claims/3', 'claims/2'] }), {
    outcome: 'conflict',
    current: undefined,
  })
  const other = await claim('a', 0, { takes: ['claims/3'] })
  assert.deepEqual(plainOutcome(other), { outcome: 'conflict', current: ['a', a.revision, 'a'] })
  const unguarded = { takes: ['claims/3'], releases: ['claims/1'], guards: [{ key: 'nowhere', revision: a.revision }] }
  assert.equal((await claim('a', a.revision, unguarded)).outcome, 'conflict')
  assert.equal(await store.get('claims/3'), undefined)
  assert.equal(await store.get('b'), undefined)

  const next = await claim('a', a.revision, { takes: ['claims/3'], releases: ['claims/1'] })
  assert.equal(next.outcome, 'committed')
  const b = await claim('b', 0, { takes: ['claims/1'] })
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

const keysOf = ({ entries }: Snapshot) => entries.map(({ key }) => key)

/** `+key holder` for each that was taken, `-key holder` for each that was released. */
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
          takes: i % 2 ? takes : takes.slice(0, 1),
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

async function claimRefusals(store: Store): Promise<void> {
  const write = { key: 'a', expected: 0, value: bytes('x') }
  const many = Array.from({ length: maxClaims + 1 }, (_, i) => `claims/${i}`)
  for (const claims of [
    { takes: ['a'] },
    { takes: ['b', 'b'] },
    { takes: ['b'], releases: ['b'] },
    { takes: [''] },
    { releases: ['a\0'] },
    { takes: many },
    { takes: many.slice(1), releases: many.slice(0, 1) },
    { takes: ['b'], lifetimeSeconds: 60 },
  ])
    await assert.rejects(store.commit({ ...write, ...claims }), StoreError)
  assert.deepEqual(await store.list({ prefix: '' }).then(keysOf), [])
  assert.deepEqual(await store.list({ prefix: '' }).then(keysOf), [])
}

async function manyClaims(store: Store): Promise<void> {
  const half = maxClaims / 2
  const claims = (from: number) =>
    Array.from({ length: half }, (_, i) => `claims/${i % 2 ? 'odd' : 'even'}/${from + i}`)
  const first = claims(0)
  const a = await store.commit({ key: 'a', expected: 0, value: bytes('a'), takes: first })
  assert.equal(a.outcome, 'committed')
  assert.equal((await store.list({ prefix: 'claims/' })).entries.length, half)

  const overlaps = await store.commit({ key: 'b', expected: 0, value: bytes('b'), takes: claims(half - 2) })
  assert.deepEqual(overlaps, { outcome: 'conflict', current: undefined })
  const stale = await store.commit({ key: 'a', expected: a.revision + 1000, value: bytes('x'), takes: claims(half) })
  assert.deepEqual(plainOutcome(stale), { outcome: 'conflict', current: ['a', a.revision, 'a'] })
  assert.equal((await store.list({ prefix: 'claims/' })).entries.length, half)

  const moved = await store.commit({
    key: 'a',
    expected: a.revision,
    value: bytes('a2'),
    takes: claims(half),
    releases: first,
  })
  assert.equal(moved.outcome, 'committed')
  assert.equal((await store.list({ prefix: 'claims/' })).entries.length, half)
  assert.equal((await store.list({ prefix: 'claims/', revision: a.revision })).entries.length, half)
  const b = store.commit({ key: 'b', expected: 0, value: bytes('b'), takes: first })
  const c = store.commit({ key: 'c', expected: 0, value: bytes('c'), takes: first.toReversed() })
  const won = (await Promise.all([b, c])).filter(({ outcome }) => outcome === 'committed')
  assert.ok(won.length <= 1)
  const gone = await store.commit({ key: 'a', expected: moved.revision, value: undefined, releases: claims(half) })
  assert.equal(gone.outcome, 'committed')
  const { entries } = await store.list({ prefix: 'claims/' })
  assert.equal(entries.length, won.length * half)
  assert.equal(new Set(entries.map(({ value }) => text(value))).size, won.length)
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

const awkwardKeys = [
  'a',
  'a/',
  'a/b',
  'a/b/c',
  'a/\u0001',
  'a-',
  'a.',
  'a0',
  'aa',
  'ab',
  'A',
  'b',
  '~',
  '\u007f',
  '\u0001',
  'é',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
  'a\u{1f600}',
  'a\uffff',
]

async function byteOrder(store: Store): Promise<void> {
  for (const key of awkwardKeys) await put(store, key, key, 0)
  const sorted = awkwardKeys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const { entries, revision } = await store.list({ prefix: '' })
  assert.deepEqual(
    entries.map((entry) => entry.key),
    sorted,
  )
  for (const [i, after] of sorted.entries()) {
    const rest = await store.list({ prefix: '', after, limit: 2, revision })
    assert.deepEqual(
      rest.entries.map((entry) => entry.key),
      sorted.slice(i + 1, i + 3),
    )
    assert.equal(rest.remaining, Math.max(0, sorted.length - i - 3))
  }
  for (const { key, revision: held } of entries) await remove(store, key, held)
  const before = await store.list({ prefix: '', revision })
  assert.deepEqual(
    before.entries.map((entry) => entry.key),
    sorted,
  )
}

async function siblings(store: Store): Promise<void> {
  for (const key of awkwardKeys) await put(store, key, key, 0)
  const { revision } = await store.list({ prefix: '' })
  for (const [i, key] of awkwardKeys.entries()) {
    if (i % 2 === 0) await remove(store, key, (await store.get(key))!.revision)
  }
  for (const prefix of ['a', 'a/', 'a/b', 'ab', 'é', '\u{1f600}', 'a\u{1f600}', 'nothing', '\uffff']) {
    const then = await store.list({ prefix, revision })
    assert.deepEqual(
      then.entries.map((entry) => entry.key).sort(),
      awkwardKeys.filter((key) => key.startsWith(prefix)).sort(),
    )
    const now = await store.list({ prefix })
    const left = awkwardKeys.filter((key, i) => i % 2 === 1 && key.startsWith(prefix))
    assert.deepEqual(now.entries.map((entry) => entry.key).sort(), left.sort())
  }
}

async function cuts(store: Store): Promise<void> {
  const keys = ['p/1', 'p/2', 'p/3', 'p/4', 'p/5']
  for (const key of ['o', 'p', ...keys, 'q']) await put(store, key, 'x', 0)
  const cut = async (range: { after?: Key; limit?: number }) => {
    const { entries, remaining } = await store.list({ prefix: 'p/', ...range })
    return [entries.map((entry) => entry.key), remaining]
  }
  assert.deepEqual(await cut({}), [keys, 0])
  assert.deepEqual(await cut({ limit: 5 }), [keys, 0])
  assert.deepEqual(await cut({ limit: 4 }), [keys.slice(0, 4), 1])
  assert.deepEqual(await cut({ limit: 0 }), [[], 5])
  assert.deepEqual(await cut({ limit: 2, after: 'p/2' }), [['p/3', 'p/4'], 1])
  assert.deepEqual(await cut({ after: 'p/2' }), [keys.slice(2), 0])
  assert.deepEqual(await cut({ after: 'p/25', limit: 1 }), [['p/3'], 2])
  assert.deepEqual(await cut({ after: 'a', limit: 1 }), [['p/1'], 4])
  assert.deepEqual(await cut({ after: 'p/5' }), [[], 0])
  assert.deepEqual(await cut({ after: 'z', limit: 1 }), [[], 0])
}

async function oldStates(store: Store): Promise<void> {
  const states: [Revision, Plain[]][] = []
  const note = async (revision: Revision) => {
    states.push([revision, plainList(await store.list({ prefix: '', revision }))])
  }
  const a = await put(store, 'a', '1', 0)
  await note(a)
  const b = await put(store, 'b', '1', 0)
  await note(b)
  const a2 = await put(store, 'a', '2', a)
  await note(a2)
  await note(await remove(store, 'b', b))
  const c = await put(store, 'c', '1', 0)
  await note(c)
  await note(await remove(store, 'a', a2))
  const b2 = await put(store, 'b', '2', 0)
  await note(b2)
  assert.deepEqual(
    states.map(([, state]) => state),
    [
      [['a', a, '1']],
      [
        ['a', a, '1'],
        ['b', b, '1'],
      ],
      [
        ['a', a2, '2'],
        ['b', b, '1'],
      ],
      [['a', a2, '2']],
      [
        ['a', a2, '2'],
        ['c', c, '1'],
      ],
      [['c', c, '1']],
      [
        ['b', b2, '2'],
        ['c', c, '1'],
      ],
    ],
  )
  for (const [revision, state] of states) {
    const again = await store.list({ prefix: '', revision })
    assert.equal(again.revision, revision)
    assert.deepEqual(plainList(again), state)
  }
}

async function pagesUnderWrites(store: Store): Promise<void> {
  await writeMany(store, 30, 'before')
  const first = await store.list({ prefix: 'k/', limit: 7 })
  const pages = [...first.entries]
  for (let page = first; page.remaining > 0 && pages.length < 100; ) {
    const key = pages.at(-1)!.key
    await put(store, key, 'after', pages.at(-1)!.revision)
    await put(store, `${key}/new`, 'after', 0)
    page = await store.list({ prefix: 'k/', limit: 7, after: key, revision: first.revision })
    assert.equal(page.revision, first.revision)
    pages.push(...page.entries)
    assert.equal(pages.length + page.remaining, 30)
  }
  assert.deepEqual(
    pages.map((entry) => [entry.key, text(entry.value)]),
    manyKeys(30).map((key) => [key, 'before']),
  )
}

async function manyVersions(store: Store): Promise<void> {
  const first = await put(store, 'a', '0', 0)
  await put(store, 'b', 'b', 0)
  const revisions = [first]
  for (let i = 1; i <= 100; i++) revisions.push(await put(store, 'a', String(i), revisions.at(-1)!))
  for (const i of [1, 37, 99, 100]) {
    const { entries } = await store.list({ prefix: '', revision: revisions[i]! })
    assert.deepEqual(
      entries.map((entry) => [entry.key, text(entry.value)]),
      [
        ['a', String(i)],
        ['b', 'b'],
      ],
    )
  }
}

// More than one slice of everything, and more changes than are undone to count.
const longList = 2100

async function longListUnderWrites(store: Store): Promise<void> {
  const revisions = await writeMany(store, longList, 'before')
  const at = await store.revision()
  const list = store.list({ prefix: 'k/', revision: at })
  const rewrite = (key: string, i: number) =>
    i % 3 === 0 ? remove(store, key, revisions[i]!) : put(store, key, 'after', revisions[i]!)
  const rewriting = inTurns(manyKeys(longList), rewrite)
  const during = await list
  await rewriting
  const expected = manyKeys(longList).map((key, i) => [key, revisions[i]!, 'before'])
  assert.equal(during.revision, at)
  assert.deepEqual(plainList(during), expected)
  assert.deepEqual(plainList(await store.list({ prefix: 'k/', revision: at })), expected)
  const cut = await store.list({ prefix: 'k/', revision: at, limit: 601 })
  assert.deepEqual(plainList(cut), expected.slice(0, 601))
  assert.equal(cut.remaining, longList - 601)
  const now = await store.list({ prefix: 'k/' })
  assert.deepEqual(
    now.entries.map((entry) => [entry.key, text(entry.value)]),
    manyKeys(longList)
      .filter((_, i) => i % 3 !== 0)
      .map((key) => [key, 'after']),
  )
}

async function ahead(store: Store): Promise<void> {
  const revision = await put(store, 'a', '1', 0)
  const far = revision + 1_000_000
  await assert.rejects(store.list({ prefix: '', revision: far }), (error) => {
    assert.ok(error instanceof RevisionAhead)
    assert.equal(error.revision, far)
    assert.ok(error.current >= revision && error.current < far)
    return true
  })
  await assert.rejects(store.compact(far), RevisionAhead)
}

async function compaction(store: Store): Promise<void> {
  const first = await put(store, 'a', '1', 0)
  const second = await put(store, 'a', '2', first)
  const gone = await put(store, 'b', '1', 0)
  const third = await remove(store, 'b', gone)
  const fourth = await put(store, 'a', '4', second)
  await store.compact(third)
  await assert.rejects(store.list({ prefix: '', revision: gone }), (error) => {
    assert.ok(error instanceof RevisionGone)
    assert.equal(error.revision, gone)
    assert.equal(error.oldest, third)
    return true
  })
  assert.deepEqual(plainList(await store.list({ prefix: '', revision: third })), [['a', second, '2']])
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [['a', fourth, '4']])
  await store.compact(first)
  assert.deepEqual(plainList(await store.list({ prefix: '', revision: third })), [['a', second, '2']])
  await store.compact(fourth)
  assert.deepEqual(plainList(await store.list({ prefix: '', revision: fourth })), [['a', fourth, '4']])
  await assert.rejects(store.list({ prefix: '', revision: third }), RevisionGone)
  const fifth = await put(store, 'a', '5', fourth)
  assert.deepEqual(plainList(await store.list({ prefix: '', revision: fourth })), [['a', fourth, '4']])
  assert.deepEqual(plainList(await store.list({ prefix: '', revision: fifth })), [['a', fifth, '5']])
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

/** Five changes: create, update, another key, delete, create again. */
async function writeHistory(store: Store): Promise<PlainChange[]> {
  const first = await put(store, 'a', '1', 0)
  const second = await put(store, 'a', '2', first)
  const other = await put(store, 'b', '1', 0)
  const deleted = await remove(store, 'a', second)
  const again = await put(store, 'a', '3', 0)
  return [
    ['a', first, '1', undefined],
    ['a', second, '2', ['a', first, '1']],
    ['b', other, '1', undefined],
    ['a', deleted, undefined, ['a', second, '2']],
    ['a', again, '3', undefined],
  ]
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

async function expiry(store: Store): Promise<void> {
  const start = await store.revision()
  const stays = await put(store, 'a', '1', 0)
  const first = await putFor(store, 3600, 'b', '1', 0)
  const second = await putFor(store, 1, 'b', '2', first)
  const watching = readChanges(store, { after: start, count: 4 })
  const gone = (await watching).at(-1)!
  assert.deepEqual(plainChange(gone), ['b', gone.revision, undefined, ['b', second, '2']])
  assert.equal(await store.get('b'), undefined)
  assert.ok((await store.revision()) >= gone.revision)
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [['a', stays, '1']])
  assert.deepEqual(plainList(await store.list({ prefix: 'b', revision: second })), [['b', second, '2']])
  assert.deepEqual(plainList(await store.list({ prefix: 'b', revision: gone.revision })), [])
  assert.ok((await put(store, 'b', '3', 0)) > gone.revision)
}

async function expiryConflicts(store: Store): Promise<void> {
  const made = await putFor(store, 1, 'a', '1', 0)
  await readChanges(store, { after: made, count: 1 })
  for (const value of [bytes('2'), undefined]) {
    const outcome = await store.commit({ key: 'a', expected: made, value })
    assert.deepEqual(outcome, { outcome: 'conflict', current: undefined })
  }
}

async function lifetimeTakenAway(store: Store): Promise<void> {
  const rewritten = await put(store, 'a', '2', await putFor(store, 2, 'a', '1', 0))
  await remove(store, 'b', await putFor(store, 2, 'b', '1', 0))
  const remade = await put(store, 'b', '2', 0)
  // Due a second after the lifetimes that count no more.
  const last = await putFor(store, 3, 'c', '1', 0)
  const seen = await readChanges(store, { after: last, count: 1 })
  assert.equal(seen[0]!.key, 'c')
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [
    ['a', rewritten, '2'],
    ['b', remade, '2'],
  ])
}

async function lifetimeReplaced(store: Store): Promise<void> {
  const longer = await putFor(store, 3600, 'longer', '2', await putFor(store, 2, 'longer', '1', 0))
  const shorter = await putFor(store, 3, 'shorter', '2', await putFor(store, 3600, 'shorter', '1', 0))
  const given = await putFor(store, 3, 'given', '2', await put(store, 'given', '1', 0))
  const seen = await readChanges(store, { after: given, count: 2 })
  assert.deepEqual(seen.map(({ previous }) => plain(previous!)).sort(), [
    ['given', given, '2'],
    ['shorter', shorter, '2'],
  ])
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [['longer', longer, '2']])
}

async function expiryOfMany(store: Store): Promise<void> {
  const count = 250
  const start = await store.revision()
  const made = await Promise.all(manyKeys(count).map((key) => putFor(store, 1, key, key, 0)))
  const all = await readChanges(store, { after: start, count: 2 * count })
  assertRising(all.map(({ revision }) => revision))
  const gone = all.filter(({ value }) => value === undefined)
  const expected = manyKeys(count).map((key, i) => [key, made[i]!, key])
  assert.deepEqual(gone.map(({ previous }) => plain(previous!)).sort(byKey), expected)
  for (const i of [0, 1, 100, count - 2]) {
    const later = all.filter(({ revision }) => revision > gone[i]!.revision)
    const rest = await readChanges(store, { after: gone[i]!.revision, count: later.length })
    assert.deepEqual(rest.map(plainChange), later.map(plainChange))
  }
}

async function lifetimeRefusals(store: Store): Promise<void> {
  for (const seconds of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, maxLifetimeSeconds + 1]) {
    await assert.rejects(putFor(store, seconds, 'a', '1', 0), StoreError)
  }
  const made = await putFor(store, maxLifetimeSeconds, 'a', '1', 0)
  const deletion = { key: 'a', expected: made, value: undefined, lifetimeSeconds: 1 }
  await assert.rejects(store.commit(deletion), StoreError)
  assert.deepEqual(await entryOf(store, 'a'), ['a', made, '1'])
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

/** Key, revision and value as text: what an entry is, in a form that compares well. */
type Plain = [Key, Revision, string]
/** The same of a change: key, revision, value written (undefined: deleted), what was there before. */
type PlainChange = [Key, Revision, string | undefined, Plain | undefined]

function plain({ key, revision, value }: Entry): Plain {
  return [key, revision, text(value)]
}

function plainList(snapshot: Snapshot): Plain[] {
  return snapshot.entries.map(plain)
}

function plainChange({ key, revision, value, previous }: Change): PlainChange {
  return [key, revision, value && text(value), previous && plain(previous)]
}

function plainOutcome(outcome: Awaited<ReturnType<Store['commit']>>): object {
  return outcome.outcome === 'committed'
    ? outcome
    : { outcome: 'conflict', current: outcome.current && plain(outcome.current) }
}

async function entryOf(store: Store, key: Key): Promise<Plain> {
  return plain((await store.get(key))!)
}

export function bytes(value: string): Bytes {
  return Buffer.from(value)
}

export function text(value: Bytes): string {
  return Buffer.from(value).toString()
}

async function commit(store: Store, key: Key, value: Bytes | undefined, expected: Revision): Promise<Revision> {
  return revisionOf(await store.commit({ key, expected, value }))
}

function revisionOf(outcome: Awaited<ReturnType<Store['commit']>>): Revision {
  assert.equal(outcome.outcome, 'committed')
  return (outcome as { revision: Revision }).revision
}

/** Writes a key that is to go by itself after so many seconds. */
export async function putFor(
  store: Store,
  lifetimeSeconds: number,
  key: Key,
  value: string,
  expected: Revision,
): Promise<Revision> {
  return revisionOf(await store.commit({ key, expected, value: bytes(value), lifetimeSeconds }))
}

export function put(store: Store, key: Key, value: string, expected: Revision): Promise<Revision> {
  return commit(store, key, bytes(value), expected)
}

export function remove(store: Store, key: Key, expected: Revision): Promise<Revision> {
  return commit(store, key, undefined, expected)
}

function byKey([a]: Plain, [b]: Plain): number {
  return a < b ? -1 : 1
}

function manyKeys(count: number): Key[] {
  return Array.from({ length: count }, (_, i) => `k/${String(i).padStart(6, '0')}`)
}

/** A few hundred at a time: a cluster on a busy machine takes long for thousands at once, and is given up. */
async function inTurns<T>(keys: readonly Key[], write: (key: Key, i: number) => Promise<T>): Promise<T[]> {
  const atOnce = 300
  const results: T[] = []
  for (let first = 0; first < keys.length; first += atOnce)
    results.push(...(await Promise.all(keys.slice(first, first + atOnce).map((key, i) => write(key, first + i)))))
  return results
}

async function writeMany(store: Store, count: number, value: string): Promise<Revision[]> {
  return await inTurns(manyKeys(count), (key) => put(store, key, value, 0))
}

/** Reads `count` changes, then stops the watch. Fails when more come in the last batch than were asked for. */
export async function readChanges(
  store: Store,
  { after, count, prefix = '' }: { after: Revision; count: number; prefix?: string },
): Promise<Change[]> {
  const controller = new AbortController()
  const seen: Change[] = []
  let told = after
  for await (const { changes, through } of store.watch({ prefix, after, signal: controller.signal })) {
    assert.ok(through > told && changes.every(({ revision }) => revision > told && revision <= through))
    told = through
    seen.push(...changes)
    if (seen.length >= count) controller.abort()
  }
  assert.equal(seen.length, count)
  return seen
}

function assertRising(revisions: readonly Revision[]): void {
  for (const [i, revision] of revisions.entries()) assert.ok(i === 0 || revision > revisions[i - 1]!)
}
