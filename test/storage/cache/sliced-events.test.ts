/** Tests that watchers encode events about large objects in time slices, once for all watchers and in order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { CachedObject } from '../../../src/storage/cache/cached-object.ts'
import { CacheEvent, type EventForm } from '../../../src/storage/cache/event.ts'
import { Watcher } from '../../../src/storage/cache/watcher.ts'

const large = 100_000
const small = 100

function eventOf(revision: number, size: number): CacheEvent {
  return new CacheEvent({ revision, json: Buffer.alloc(size) } as unknown as CachedObject, undefined, false)
}

/**
 * Returns a form that encodes an object as its revision. The form counts encodings, and waits for `held` before
 * encoding a large object.
 */
function countingForm(name: string, held: Promise<void>) {
  const counts = { atOnce: 0, sliced: 0 }
  const form: EventForm = {
    name,
    encode: (_, { revision }) => {
      counts.atOnce++
      return Buffer.from(`${name}${revision} `)
    },
    *encodeSliced(_, { revision }) {
      counts.sliced++
      yield held
      return Buffer.from(`${name}${revision} `)
    },
    encodeBookmarkOrError: (type) => Buffer.from(`${type} `),
  }
  return { form, counts }
}

const everything = { namespace: undefined, name: undefined, matches: undefined }

function watcherOf(form: EventForm): Watcher {
  const watcher = new Watcher(everything, form, () => {})
  watcher.begin(0)
  return watcher
}

const received = (watcher: Watcher) => Buffer.concat(watcher.take(large)).toString()

test('watchers share the sliced encoding of a large object, and receive later events only after the object', async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>()
  const { form, counts } = countingForm('a', held)
  const watchers = [watcherOf(form), watcherOf(form), watcherOf(form)]
  for (const event of [eventOf(1, small), eventOf(2, large), eventOf(3, small), eventOf(4, large)])
    for (const watcher of watchers) watcher.push(event)
  assert.deepEqual(watchers.map(received), ['a1 ', 'a1 ', 'a1 '])
  // A bookmark that is sent while events are waiting would claim that the client has received them.
  for (const watcher of watchers) watcher.bookmark(Buffer.from('BOOKMARK'))
  resolve()
  await setImmediate()
  assert.deepEqual(watchers.map(received), ['a2 a3 a4 ', 'a2 a3 a4 ', 'a2 a3 a4 '])
  assert.deepEqual(counts, { atOnce: 2, sliced: 2 })
})

test('a special encoding for the first event of a watcher is used even if the object is large', async () => {
  const rest = countingForm('rest', Promise.resolve())
  const first = { ...countingForm('first', Promise.resolve()).form, rest: rest.form }
  const watcher = watcherOf(first)
  for (const event of [eventOf(1, large), eventOf(2, large)]) watcher.push(event)
  await setImmediate()
  assert.equal(received(watcher), 'first1 rest2 ')
})

test('a watcher ends if the encoding of a large object fails', async () => {
  const failed = Promise.reject(new Error('cannot encode'))
  const watcher = watcherOf(countingForm('a', failed).form)
  watcher.push(eventOf(1, large))
  await setImmediate()
  assert.equal(watcher.closed, true)
})
