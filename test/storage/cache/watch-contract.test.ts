/**
 * Tests the guarantees of watches under load, through a real server. Each watch must report every selected change once
 * and in order, regardless of where it starts and how often it resumes. A bookmark must never precede the events that
 * it covers. A watch whose client does not read must be closed without affecting others. The expected events are
 * computed from the log. ORCH_LONG=1 runs forty times as many operations.
 */
import assert from 'node:assert/strict'
import { connect, constants } from 'node:http2'
import { test } from 'node:test'
import type { HttpClient, WatchEvent } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { type ServerHandle, startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { type RandomSource, seeded } from '../store/random-source.ts'

const namespaces = ['n-0', 'n-1', 'n-2', 'n-3']
const writers = 60
const writesPerWriter = long ? 200 : 5
const wantedEvents = long ? 200_000 : 4_000
const all = '/api/v1/configmaps'
const pathOf = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`

interface Told {
  readonly type: string
  readonly key: string
  readonly version: number
  readonly value: string
  readonly on: boolean
}

interface Selection {
  readonly namespace?: string
  readonly name?: string
  /**
   * Selects only objects whose label `on` is `yes`, or only objects without this value. Undefined selects all objects.
   */
  readonly on?: boolean
}

test('watches under load report every event once and in order', { timeout: 300_000 }, async (t) => {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const server = await startServer(t)
  const client = server.client()
  for (const name of namespaces) await client.post('/api/v1/namespaces', { metadata: { name } })
  const start = Number((await client.get(all)).body.metadata.resourceVersion)
  const selections: Selection[] = [
    ...Array.from({ length: 12 }, () => ({})),
    ...namespaces.flatMap((namespace) => [{ namespace }, { namespace, name: 'm-0' }, { namespace, on: true }]),
    ...[true, true, true, false, false].map((on) => ({ on })),
  ]
  const whole = selections.map((selection) => new Reader(server.client(), selection, { start }))
  const resumed = [{}, {}, {}, { on: true }, { on: false }, { namespace: 'n-1' }].map(
    (selection, i) => new Reader(server.client(), selection, { start, seconds: 1 + (i % 3) }),
  )
  const made = (await Promise.all(Array.from({ length: writers }, (_, i) => write(client, i, seeded(seed + i))))).flat()
  const count = () => ({
    bookmarks: resumed.reduce((sum, reader) => sum + reader.bookmarks.length, 0),
    connections: resumed.reduce((sum, reader) => sum + reader.connections, 0),
  })
  // A fast server may have sent all events before the first watch ended.
  const { bookmarks, connections } = await until(
    async () => count(),
    (counts) => counts.bookmarks >= resumed.length && counts.connections > resumed.length,
  )
  // The last changes match every selector, so that every watch can end.
  for (const on of [true, false])
    for (const namespace of namespaces) made.push(await put(client, `${namespace}/m-0`, `last ${on}`, on))

  const log = await readLog(server.client(), start, made.length)
  assertLog(log, made, start)
  const readers = [...whole, ...resumed]
  let events = 0
  for (const reader of readers) {
    const expected = select(log, reader.selection)
    await reader.reach(expected.at(-1)!.version)
    assertTold(reader, expected, seed)
    events += expected.length
  }
  t.diagnostic(`${events} events, ${log.length} changes, ${bookmarks} bookmarks, ${connections} resumed watches`)
  assert.ok(events >= wantedEvents, `only ${events} events`)

  await t.test('a watch from a future resourceVersion reports no earlier events', async () => {
    const { version } = await put(client, 'n-0/ahead', '0', true)
    const path = `${pathOf('n-0')}?watch=1&resourceVersion=${version + 3}`
    const seen = readVersions(server.client(), path, 2)
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.push(String((await put(client, 'n-0/ahead', `next ${i}`, true, false)).version))
    assert.deepEqual(await seen, made.slice(3))
  })

  await t.test('a watch whose client does not read is closed without affecting other watches', async () => {
    const reset = stopReadingHttp2(server)
    await stopReading(server.client(), client)
    // The server ends the stream with an error, so that the incomplete stream cannot be mistaken for a complete one.
    assert.equal(await reset, constants.NGHTTP2_INTERNAL_ERROR)
  })
})

test('aborting a watch while it connects is not an error', async (t) => {
  const client = (await serve(t)).client()
  const stop = new AbortController()
  const first = client.watch(`${all}?watch=1`, stop.signal).next()
  stop.abort()
  assert.deepEqual(await first, { value: undefined, done: true })
})

/** Makes one writer's changes. No other writer uses the same names, so every write succeeds. Returns the changes. */
async function write(client: HttpClient, writer: number, random: RandomSource): Promise<Told[]> {
  const made: Told[] = []
  const live = new Map<string, Told>()
  for (let i = 0; i < writesPerWriter; i++) {
    const key = `${random.pick(namespaces)}/m-${writer}`
    const before = live.get(key)
    if (before !== undefined && random.chance(0.15)) {
      assert.equal((await client.delete(objectPath(key))).status, 200)
      live.delete(key)
      made.push({ ...before, type: 'DELETED', version: 0 })
    } else {
      const told = await put(client, key, `${writer} ${i}`, random.chance(0.5), before === undefined)
      live.set(key, told)
      made.push(told)
    }
  }
  return made
}

function objectPath(key: string): string {
  const [namespace, name] = key.split('/')
  return `${pathOf(namespace!)}/${name}`
}

async function put(client: HttpClient, key: string, value: string, on: boolean, absent?: boolean): Promise<Told> {
  const [namespace, name] = key.split('/')
  const body = { metadata: { name, labels: { on: on ? 'yes' : 'no' } }, data: { value } }
  const create = absent ?? (await client.get(objectPath(key))).status === 404
  const answer = await (create ? client.post(pathOf(namespace!), body) : client.put(objectPath(key), body))
  assert.ok(answer.status < 300, answer.text)
  const version = Number(answer.body.metadata.resourceVersion)
  return { type: create ? 'ADDED' : 'MODIFIED', key, version, value, on }
}

/** A watch that resumes whenever it ends, from the last version in an event or bookmark. */
class Reader {
  readonly selection: Selection
  readonly told: Told[] = []
  /** The version of each bookmark, and the number of events before it. */
  readonly bookmarks: { readonly version: number; readonly at: number }[] = []
  connections = 0
  #until = Number.POSITIVE_INFINITY
  readonly #stop = new AbortController()
  readonly #done: Promise<void>

  constructor(client: HttpClient, selection: Selection, { start, seconds = 0 }: { start: number; seconds?: number }) {
    this.selection = selection
    this.#done = this.#follow(client, start, seconds)
  }

  async reach(version: number): Promise<void> {
    this.#until = version
    if ((this.told.at(-1)?.version ?? 0) >= version) this.#stop.abort()
    await this.#done
  }

  async #follow(client: HttpClient, start: number, seconds: number): Promise<void> {
    let version = start
    const { signal } = this.#stop
    while (!signal.aborted) {
      this.connections++
      for await (const event of client.watch(watchPath(this.selection, version, seconds), signal)) {
        version = Number(event.object.metadata.resourceVersion)
        if (event.type === 'BOOKMARK') this.bookmarks.push({ version, at: this.told.length })
        else this.told.push(toldOf(event))
        if (event.type !== 'BOOKMARK' && version >= this.#until) return
      }
    }
  }
}

function watchPath({ namespace, name, on }: Selection, version: number, seconds: number): string {
  const query = new URLSearchParams({ watch: '1', resourceVersion: String(version) })
  if (name !== undefined) query.set('fieldSelector', `metadata.name=${name}`)
  if (on !== undefined) query.set('labelSelector', on ? 'on=yes' : 'on!=yes')
  if (seconds > 0) query.set('timeoutSeconds', String(seconds))
  if (seconds > 0) query.set('allowWatchBookmarks', 'true')
  return `${namespace === undefined ? all : pathOf(namespace)}?${query}`
}

function toldOf({ type, object }: WatchEvent): Told {
  assert.notEqual(type, 'ERROR', JSON.stringify(object))
  const { namespace, name, resourceVersion, labels } = object.metadata
  const { value } = object.data
  return { type, key: `${namespace}/${name}`, version: Number(resourceVersion), value, on: labels.on === 'yes' }
}

/** Reads all changes from the log with a watch that starts after all writes. */
async function readLog(client: HttpClient, start: number, count: number): Promise<Told[]> {
  const log: Told[] = []
  for await (const event of client.watch(`${all}?watch=1&resourceVersion=${start}`, AbortSignal.timeout(120_000))) {
    log.push(toldOf(event))
    if (log.length === count) return log
  }
  return assert.fail(`the log has ${log.length} of ${count} changes`)
}

/**
 * Asserts that the log consists of the acknowledged changes, each at the returned version. The response to a deletion
 * has no version.
 */
function assertLog(log: readonly Told[], made: readonly Told[], start: number): void {
  for (const [i, { version }] of log.entries()) assert.ok(version > (log[i - 1]?.version ?? start))
  const line = (told: Told) => JSON.stringify({ ...told, version: told.type === 'DELETED' ? 0 : told.version })
  assert.deepEqual(log.map(line).sort(), made.map(line).sort())
}

/**
 * Returns the events of a log for a selector: an object is ADDED when it starts to match and DELETED when it stops
 * matching.
 */
function select(log: readonly Told[], { namespace, name, on }: Selection): Told[] {
  const live = new Map<string, Told>()
  return log.flatMap((change) => {
    const before = live.get(change.key)
    const after = change.type === 'DELETED' ? undefined : change
    if (after) live.set(change.key, after)
    else live.delete(change.key)
    const [inNamespace, called] = change.key.split('/')
    if ((namespace ?? inNamespace) !== inNamespace || (name ?? called) !== called) return []
    const matched = before !== undefined && (on ?? before.on) === before.on
    const matches = after !== undefined && (on ?? after.on) === after.on
    if (matches) return [{ ...change, type: matched ? 'MODIFIED' : 'ADDED' }]
    return matched ? [{ ...before, type: 'DELETED', version: change.version }] : []
  })
}

function assertTold({ told, bookmarks, selection }: Reader, expected: readonly Told[], seed: number): void {
  const at = expected.findIndex((event, i) => JSON.stringify(told[i]) !== JSON.stringify(event))
  const where = `${JSON.stringify(selection)} at ${at}; repeat with ORCH_TEST_SEED=${seed}`
  if (at >= 0) assert.deepEqual(told[at], expected[at], where)
  assert.equal(told.length, expected.length, where)
  for (const { version, at } of bookmarks) {
    assert.ok(at === 0 || told[at - 1]!.version <= version, 'a bookmark goes back')
    assert.ok(at === told.length || told[at]!.version > version, 'a bookmark came before an event that it stands for')
  }
}

const bulk = '/api/v1/namespaces/default/configmaps'
const bulkWrites = 70
const large = 'x'.repeat(500_000)

/** Writes far more data than all the buffers between the server and a client that does not read can hold. */
async function stopReading(slow: HttpClient, client: HttpClient): Promise<void> {
  const body = (i: number) => ({ metadata: { name: 'bulk', labels: {} }, data: { value: `${i}`, large } })
  const made = await client.post(bulk, body(0))
  const path = (version: string) => `${bulk}?watch=1&resourceVersion=${version}`
  const versions: string[] = []
  const stalled = slow.watch(path(made.body.metadata.resourceVersion), new AbortController().signal)
  await client.put(`${bulk}/bulk`, body(1))
  const seen = [versionOf((await stalled.next()).value)]
  const beside = readVersions(client, path(seen[0]!), bulkWrites)
  for (let i = 0; i < bulkWrites; i++)
    versions.push((await client.put(`${bulk}/bulk`, body(i + 2))).body.metadata.resourceVersion)
  assert.deepEqual(await beside, versions)

  // Only buffered events arrive now, followed by the end of the stream, or by a reset if the client reads too late.
  try {
    for await (const event of stalled) seen.push(versionOf(event))
  } catch (error) {
    assert.match((error as NodeJS.ErrnoException).code ?? '', /ECONNRESET|ERR_STREAM_PREMATURE_CLOSE/)
  }
  assert.ok(seen.length < bulkWrites, `${seen.length} events were kept for a client that did not read`)
  assert.deepEqual(seen.slice(1), versions.slice(0, seen.length - 1))
  const rest = await readVersions(client, path(seen.at(-1)!), versions.length - seen.length + 1)
  assert.deepEqual(rest, versions.slice(seen.length - 1))
}

/** Opens a watch over HTTP/2 without reading it. Resolves to the error code in the server's reset. */
async function stopReadingHttp2({ url, credentials }: ServerHandle): Promise<number> {
  const { authority = '' } = credentials()
  const session = connect(url, { ca: authority })
  const stream = session.request({ ':path': `${bulk}?watch=1`, authorization: 'Bearer admin-token' })
  stream.on('error', () => {})
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  stream.on('close', resolve)
  const timer = setTimeout(resolve, 120_000)
  try {
    await closed
    return stream.closed ? stream.rstCode : constants.NGHTTP2_NO_ERROR
  } finally {
    clearTimeout(timer)
    session.destroy()
  }
}

const versionOf = (event: WatchEvent): string => event.object.metadata.resourceVersion

async function readVersions(client: HttpClient, path: string, count: number): Promise<string[]> {
  const versions: string[] = []
  for await (const event of client.watch(path, AbortSignal.timeout(120_000))) {
    versions.push(versionOf(event))
    if (versions.length === count) return versions
  }
  return assert.fail(`only ${versions.length} of ${count} events`)
}
