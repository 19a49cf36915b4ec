/** Tests lists: ranges of keys in byte order, at any revision in the history window. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import {
  type Key,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Store,
} from '../../../../src/storage/store/store.ts'
import { inTurns, manyKeys, type Plain, plainList, put, remove, text, writeMany } from '../operations.ts'
import { type Open, provesOn } from './prove.ts'

export function listSuite(name: string, open: Open): void {
  const prove = provesOn(open)
  describe(`${name}: lists`, () => {
    prove('entries are sorted by their UTF-8 bytes', byteOrder)
    prove('a prefix never includes siblings', siblings)
    prove('limit and after restrict the range, and remaining counts the rest', cuts)
    prove('a list at any revision that is not compacted returns the state at that revision', oldStates)
    prove('pages read at one revision are one state despite concurrent writes', pagesUnderWrites)
    prove('a key with many versions is one entry at each revision', manyVersions)
    prove('a long list is exact while its keys are rewritten and deleted', longListUnderWrites)
    prove('a future revision is rejected', ahead)
    prove('compaction deletes older revisions and keeps the rest', compaction)
  })
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

// Length of a list that takes more than one slice to read. Rewriting the list makes more changes than the store would
// undo to count its keys.
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
