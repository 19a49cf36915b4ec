/** Tests that the history checker accepts a consistent history and detects every kind of inconsistency. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Change, checkHistory, type History, type Write } from './history.ts'

const log: Change[] = [
  { revision: 11, type: 'ADDED', key: 'a', uid: 'u1', value: 'v1' },
  { revision: 12, type: 'ADDED', key: 'b', uid: 'u2', value: 'v2' },
  { revision: 14, type: 'MODIFIED', key: 'a', uid: 'u1', value: 'v3' },
  { revision: 15, type: 'DELETED', key: 'a', uid: 'u1', value: 'v3' },
]

const acknowledged = { outcome: 'acknowledged' } as const
const writes: Write[] = [
  { does: 'create', key: 'a', value: 'v1', called: 0, returned: 2, revision: 11, uid: 'u1', ...acknowledged },
  { does: 'create', key: 'b', value: 'v2', called: 1, returned: 3, revision: 12, uid: 'u2', ...acknowledged },
  { does: 'create', key: 'b', value: 'v9', called: 4, returned: 5, revision: 0, uid: '', outcome: 'refused' },
  {
    does: 'update',
    key: 'a',
    value: 'v3',
    called: 6,
    returned: Number.POSITIVE_INFINITY,
    revision: 0,
    uid: '',
    outcome: 'ambiguous',
  },
  { does: 'delete', key: 'a', value: '', called: 10, returned: 12, revision: 0, uid: 'u1', ...acknowledged },
]

const sound: History = {
  log,
  start: 10,
  writes,
  gets: [
    { key: 'a', called: 7, returned: 8, seen: { revision: 11, value: 'v1' } },
    { key: 'a', called: 13, returned: 14, seen: undefined },
  ],
  lists: [
    {
      called: 7,
      returned: 9,
      revision: 14,
      seen: new Map([
        ['a', { revision: 14, value: 'v3' }],
        ['b', { revision: 12, value: 'v2' }],
      ]),
    },
  ],
  watches: [log],
}

function changed<T>(items: readonly T[], index: number, change: Partial<T>): T[] {
  return items.map((item, i) => (i === index ? { ...item, ...change } : item))
}

test('the checker of recorded histories accepts a consistent history', () => {
  assert.deepEqual(checkHistory(sound), [])
})

const faulty: { readonly [name: string]: { readonly history: Partial<History>; readonly expected: RegExp } } = {
  'an acknowledged write is lost': { history: { log: log.toSpliced(1, 1) }, expected: /"v2".* is lost/ },
  'an acknowledged delete is undone': {
    history: { log: log.slice(0, 3), watches: [] },
    expected: /"delete".* is lost/,
  },
  'a revision is used twice': { history: { log: changed(log, 1, { revision: 11 }) }, expected: /from 11 to 11/ },
  'a response contains another revision': {
    history: { writes: changed(writes, 0, { revision: 13 }) },
    expected: /is in the log at 11/,
  },
  'a write is executed twice': {
    history: { log: [...log, { revision: 16, type: 'ADDED', key: 'a', uid: 'u3', value: 'v3' }] },
    expected: /done 2 times/,
  },
  'a rejected write is executed': {
    history: { log: changed(log, 2, { value: 'v9' }) },
    expected: /was done all the same/,
  },
  'a write is executed partially': {
    history: { log: changed(log, 2, { value: 'half' }) },
    expected: /nobody asked for/,
  },
  'an object is deleted without a request': { history: { writes: writes.slice(0, 4) }, expected: /nobody asked for/ },
  'a later write has a lower revision': {
    history: { writes: changed(writes, 0, { called: 20, returned: 21 }) },
    expected: /had been acknowledged before it began/,
  },
  'a get is stale': {
    history: { gets: [{ key: 'a', called: 13, returned: 14, seen: { revision: 14, value: 'v3' } }] },
    expected: /a get of a saw/,
  },
  'a get misses an existing object': {
    history: { gets: [{ key: 'b', called: 13, returned: 14, seen: undefined }] },
    expected: /a get of b saw nothing/,
  },
  'a get sees the future': {
    history: { gets: [{ key: 'a', called: 7, returned: 8, seen: undefined }] },
    expected: /a get of a saw nothing/,
  },
  'a list is stale': {
    history: { lists: [{ ...sound.lists[0]!, called: 13, returned: 15 }] },
    expected: /older than 15/,
  },
  'a list has a gap': {
    history: { lists: [{ ...sound.lists[0]!, seen: new Map([['b', { revision: 12, value: 'v2' }]]) }] },
    expected: /has nothing for a/,
  },
  'a watch misses an event': { history: { watches: [log.toSpliced(1, 1)] }, expected: /where the log has/ },
  'a watch reports an event twice': { history: { watches: [[...log, log[3]!]] }, expected: /not in the log/ },
  'a watch swaps events': {
    history: { watches: [[log[1]!, log[0]!, ...log.slice(2)]] },
    expected: /where the log has/,
  },
}

for (const [name, { history, expected }] of Object.entries(faulty)) {
  test(`the checker of recorded histories detects a fault: ${name}`, () => {
    assert.match(checkHistory({ ...sound, ...history }).join('\n'), expected)
  })
}
