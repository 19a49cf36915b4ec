/** Tests groups of joined objects. A group always contains the items of the given objects, and memory is limited. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Header } from '../../../src/api/codec/stored.ts'
import { CachedObject } from '../../../src/storage/cache/cached-object.ts'
import { JoinedObjects, type WriteItem } from '../../../src/storage/cache/joined-objects.ts'

let revisions = 0

function objectOf(key: string, bytes = 500): CachedObject {
  const json = Buffer.from(`{"kind":"K","name":"${key}","revision":${++revisions},"text":"${'x'.repeat(bytes)}"}\n`)
  return new CachedObject(key, 0, revisions, {} as Header, { json, versionAt: 0 })
}

/** List items have no kind, so the kind is removed. */
const cut = '{"kind":"K",'.length
const writeItem: WriteItem<CachedObject> = ({ json }, into, at) =>
  into.write(`{${json.toString('utf8', cut, json.length - 1)}`, at) + at

/** Returns the items of the slice, and the number of items that came from groups. */
function itemsOf(joined: JoinedObjects, slice: readonly CachedObject[]) {
  const texts: string[] = []
  let grouped = 0
  for (let i = 0; i < slice.length; ) {
    const group = joined.at(slice, i, writeItem)
    const single = Buffer.alloc(slice[i]!.json.length)
    texts.push(group === undefined ? single.toString('utf8', 0, writeItem(slice[i]!, single, 0)) : String(group.bytes))
    grouped += group?.objects.length ?? 0
    i += group?.objects.length ?? 1
  }
  return { items: JSON.parse(`[${texts.join()}]`) as { name: string; revision: number }[], grouped }
}

const shown = (slice: readonly CachedObject[]) => slice.map(({ key, revision }) => ({ name: key, revision }))
const named = (items: readonly { name: string; revision: number }[]) =>
  items.map(({ name, revision }) => ({ name, revision }))

/** Returns a generator of pseudo-random numbers below `limit`. */
function numbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >>> 8) % limit
  }
}

test('a list joins the bytes of objects when the same objects are listed for the second time', () => {
  const joined = new JoinedObjects()
  const slice = Array.from({ length: 100 }, (_, i) => objectOf(`a${i}`))
  assert.deepEqual(
    [1, 2, 3].map(() => itemsOf(joined, slice).grouped),
    [0, 100, 100],
  )
})

test('lists that start at random keys during random writes contain the current objects', () => {
  const random = numbers(7)
  const joined = new JoinedObjects(200_000)
  const objects = Array.from({ length: 400 }, (_, i) => objectOf(`a${i}`))
  let grouped = 0
  for (let round = 0; round < 300; round++) {
    const at = random(objects.length)
    const action = random(3)
    if (action === 0) objects[at] = objectOf(objects[at]!.key, random(900))
    else if (action === 1) objects.splice(at, 1)
    else objects.splice(at, 0, objectOf(`b${round}`, random(9) === 0 ? 40_000 : 300))
    const start = random(2) * random(objects.length)
    const slice = objects.slice(start, start + 1 + random(objects.length))
    const list = itemsOf(joined, slice)
    assert.deepEqual(named(list.items), shown(slice), `round ${round}`)
    assert.ok(joined.bytes <= 200_000)
    grouped += list.grouped
  }
  assert.ok(grouped > 10_000, `only ${grouped} objects came from groups`)
})

test('groups of joined objects within the memory limit survive lists with more objects than fit', () => {
  const joined = new JoinedObjects(100_000)
  const many = Array.from({ length: 2000 }, (_, i) => objectOf(`m${i}`))
  itemsOf(joined, many)
  itemsOf(joined, many)
  for (let i = 0; i < 3; i++) assert.ok(itemsOf(joined, many).grouped > 100)
  assert.ok(joined.bytes > 50_000 && joined.bytes <= 100_000)
})

test('groups of joined objects that lists no longer use are evicted to make room for other groups', () => {
  const joined = new JoinedObjects(100_000)
  const [former, later] = ['f', 'l'].map((name) => Array.from({ length: 180 }, (_, i) => objectOf(`${name}${i}`)))
  for (let i = 0; i < 3; i++) itemsOf(joined, former!)
  for (let i = 0; i < 8; i++) itemsOf(joined, later!)
  assert.ok(itemsOf(joined, later!).grouped > 100)
  assert.deepEqual(named(itemsOf(joined, former!).items), shown(former!))
})
