/**
 * Tests cached encodings of objects: there is one encoding per state, memory is limited, and recently requested
 * encodings stay in the cache.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type EncodedObject,
  EncodedObjectBudget,
  EncodedObjectCache,
} from '../../../src/storage/cache/encoded-objects.ts'

const formOf = (size: number): EncodedObject => ({ document: Buffer.alloc(size), start: 0, end: size })
const state = (key: string, revision = 1, loads = 1) => ({ key, revision, loads })

test('a cached encoding is returned only for the state of the object from which it was created', () => {
  const forms = new EncodedObjectCache(new EncodedObjectBudget(1000))
  const older = formOf(10)
  const newer = formOf(10)
  forms.keep(state('a', 2), older)
  assert.equal(forms.find(state('a', 2), 1), older)
  assert.equal(forms.find(state('a', 3), 1), undefined)
  assert.equal(forms.find(state('b', 2), 1), undefined)
  forms.keep(state('a', 3), newer)
  forms.keep(state('a', 2), older)
  assert.equal(forms.find(state('a', 3), 1), newer)
  // After a reload, the cache may contain other objects at the same revisions.
  assert.equal(forms.find(state('a', 3), 2), undefined)
  forms.keep(state('a', 1, 2), older)
  assert.equal(forms.find(state('a', 1), 2), older)
})

test('the total size of the caches of all kinds stays within the memory limit', () => {
  const room = new EncodedObjectBudget(1000)
  const kinds = [new EncodedObjectCache(room), new EncodedObjectCache(room)]
  for (let i = 0; i < 5000; i++) {
    kinds[i % 2]!.keep(state(`key ${i % 700}`, i), formOf(1 + (i % 50)))
    assert.ok(room.bytes <= 1000)
  }
  kinds[0]!.keep(state('huge'), formOf(1001))
  assert.equal(kinds[0]!.find(state('huge'), 1), undefined)
  assert.ok(room.bytes > 900)
})

test('an object that changes often occupies the memory of only one cached encoding', () => {
  const room = new EncodedObjectBudget(100_000)
  const forms = new EncodedObjectCache(room)
  for (let i = 0; i < 100_000; i++) forms.keep(state('a', i), formOf(10))
  assert.equal(room.bytes, 10)
})

test('repeated lists with more objects than fit into the cache still reuse some cached encodings', () => {
  const forms = new EncodedObjectCache(new EncodedObjectBudget(1000))
  const hits: number[] = []
  for (let reading = 0; reading < 6; reading++) {
    let found = 0
    for (let i = 0; i < 200; i++) {
      if (forms.find(state(`key ${i}`), 1) !== undefined) found++
      else forms.keep(state(`key ${i}`), formOf(10))
    }
    hits.push(found)
  }
  assert.deepEqual(hits.slice(0, 1), [0])
  for (const found of hits.slice(1)) assert.ok(found >= 50, `${hits}`)
})

test('recently used encodings replace unused encodings in the cache', () => {
  const forms = new EncodedObjectCache(new EncodedObjectBudget(1000))
  for (let i = 0; i < 100; i++) forms.keep(state(`old ${i}`), formOf(10))
  for (let round = 0; round < 5; round++)
    for (let i = 0; i < 100; i++)
      if (forms.find(state(`new ${i}`), 1) === undefined) forms.keep(state(`new ${i}`), formOf(10))
  const kept = Array.from({ length: 100 }, (_, i) => forms.find(state(`new ${i}`), 1)).filter((form) => form)
  assert.ok(kept.length > 90, `${kept.length}`)
})
