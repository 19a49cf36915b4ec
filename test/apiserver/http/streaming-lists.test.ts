/**
 * Tests streaming lists. A watch with `sendInitialEvents=true` sends the current objects, a bookmark that marks
 * their end, and then the changes. One server emulates 1.36, which has the feature, and another emulates 1.23, which
 * does not.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { HttpClient, WatchEvent } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

const path = '/api/v1/namespaces/streams/configmaps'
const streaming = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
const marked = `${path}?${streaming}&allowWatchBookmarks=true`
const endKey = 'k8s.io/initial-events-end'

const flags = ['--profile=kubernetes']
const [client, older] = await Promise.all([begin('--emulated-version=1.36'), begin('--emulated-version=1.23')])

async function begin(flag: string): Promise<HttpClient> {
  const client = (await serve({ after }, [...flags, flag])).client('admin-token')
  await client.post('/api/v1/namespaces', { metadata: { name: 'streams' } })
  for (const name of ['a', 'b']) await client.post(path, { metadata: { name, labels: { name } }, data: { k: '1' } })
  return client
}

/** Returns the first events of a watch. */
async function firstEvents(from: HttpClient, watchPath: string, count: number): Promise<WatchEvent[]> {
  const end = new AbortController()
  const events: WatchEvent[] = []
  for await (const event of from.watch(watchPath, end.signal)) {
    events.push(event)
    if (events.length === count) end.abort()
  }
  return events
}

const isEnd = ({ type, object }: WatchEvent) => type === 'BOOKMARK' && object.metadata.annotations?.[endKey] === 'true'

/** Formats events as text, for example as `ADDED a`, or as `END` for the bookmark that marks the end of the list. */
const described = (events: readonly WatchEvent[]) =>
  events.map((event) => (isEnd(event) ? 'END' : `${event.type} ${event.object.metadata?.name ?? ''}`.trim()))

test('a streaming list sends the objects, then an annotated bookmark, and then the changes', async () => {
  const end = new AbortController()
  const events: WatchEvent[] = []
  for await (const event of client.watch(marked, end.signal)) {
    events.push(event)
    if (isEnd(event)) await client.post(path, { metadata: { name: 'c' } })
    if (events.length === 4) end.abort()
  }
  assert.deepEqual(described(events), ['ADDED a', 'ADDED b', 'END', 'ADDED c'])
  const bookmark = events[2]!.object.metadata
  assert.ok(Number(bookmark.resourceVersion) >= Number(events[1]!.object.metadata.resourceVersion))
  assert.deepEqual(Object.keys(bookmark).toSorted(), ['annotations', 'resourceVersion'])
  await client.delete(`${path}/c`)
})

const starts: readonly (readonly [string, string, readonly string[]])[] = [
  ['of no objects', `${marked}&labelSelector=name%3Dnone`, ['END']],
  ['with a label selector', `${marked}&labelSelector=name%3Db`, ['ADDED b', 'END']],
  ['with a field selector', `${marked}&fieldSelector=metadata.name%3Da`, ['ADDED a', 'END']],
  ['from version 0', `${marked}&resourceVersion=0`, ['ADDED a', 'ADDED b', 'END']],
  ['not older than a version', `${marked}&resourceVersion=1`, ['ADDED a', 'ADDED b', 'END']],
  ['without bookmarks', `${path}?${streaming}`, ['ADDED a', 'ADDED b']],
  ['with a limit, which does not apply', `${marked}&limit=1`, ['ADDED a', 'ADDED b', 'END']],
  ['that a watch without a version is', `${path}?watch=1&allowWatchBookmarks=true`, ['ADDED a', 'ADDED b', 'END']],
]
for (const [selection, watchPath, expected] of starts)
  test(`a streaming list ${selection} starts with ${expected.join(', ')}`, async () => {
    assert.deepEqual(described(await firstEvents(client, watchPath, expected.length)), expected)
  })

test('a streaming list that ends early sends no second bookmark', async () => {
  assert.deepEqual(described(await firstEvents(client, `${marked}&timeoutSeconds=1`, 9)), ['ADDED a', 'ADDED b', 'END'])
})

test('a watch with sendInitialEvents=false sends only changes', async () => {
  const end = new AbortController()
  const watch = `${path}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`
  const { body } = await client.get(path)
  const since = client.watch(`${watch}&resourceVersion=${body.metadata.resourceVersion}`, end.signal)
  const fromNow = client.watch(`${watch}&timeoutSeconds=1`, end.signal)
  const nothing = Array.fromAsync(fromNow)
  assert.deepEqual(described(await nothing), [])
  await client.post(path, { metadata: { name: 'd' } })
  const { value } = await since.next()
  end.abort()
  assert.deepEqual(described([value as WatchEvent]), ['ADDED d'])
  await client.delete(`${path}/d`)
})

test('if the resourceVersion of a streaming list is not reached in time, the stream reports the error', async () => {
  const [event] = await firstEvents(client, `${marked}&resourceVersion=99999999999`, 1)
  assert.equal(event?.type, 'ERROR')
  assert.equal(event.object.code, 504)
  assert.equal(event.object.details.causes[0].reason, 'ResourceVersionTooLarge')
})

test('in a streaming list returned as a table, the last row marks the end of the initial events', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const { text } = await client.get(`${marked}&timeoutSeconds=1&labelSelector=name%3Da`, { accept })
  const [first, last] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(first.object.columnDefinitions[0].name, 'Name')
  assert.deepEqual(last.object.columnDefinitions, [])
  assert.deepEqual(last.object.rows[0].cells, ['', 0, '<unknown>'])
  assert.equal(last.object.rows[0].object.metadata.annotations[endKey], 'true')
})

const match = 'resourceVersionMatch'
const wrong: readonly (readonly [string, readonly string[]])[] = [
  ['?watch=1&sendInitialEvents=true', [match]],
  ['?watch=1&sendInitialEvents=false', [match]],
  [`?watch=1&sendInitialEvents=true&${match}=Exact&resourceVersion=1`, [match, match]],
  [`?watch=1&${match}=NotOlderThan`, [match]],
  [`?watch=1&sendInitialEvents=true&${match}=NotOlderThan&continue=x`, [match]],
  ['?watch=1&continue=x', [match]],
  ['?sendInitialEvents=true', ['sendInitialEvents']],
  ['?sendInitialEvents=false', ['sendInitialEvents']],
]
for (const [query, fields] of wrong)
  test(`a streaming list with ${query} is rejected`, async () => {
    const { status, body } = await client.get(`${path}${query}`)
    assert.equal(status, 422)
    assert.deepEqual(
      body.details.causes.map(({ field }: { field: string }) => field),
      fields,
    )
  })

test('a deletecollection with sendInitialEvents is rejected', async () => {
  assert.equal((await client.delete(`${path}?sendInitialEvents=true`)).status, 422)
})

test('version 1.23 ignores sendInitialEvents', async () => {
  assert.equal((await older.get(`${path}?sendInitialEvents=true`)).status, 200)
  const events = await firstEvents(older, `${path}?watch=1&sendInitialEvents=false&allowWatchBookmarks=true`, 2)
  assert.deepEqual(described(events), ['ADDED a', 'ADDED b'])
  assert.equal((await older.get(`${path}?watch=1&${match}=NotOlderThan&resourceVersion=0`)).status, 422)
})
