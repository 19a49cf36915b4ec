/**
 * Tests caches, lists and watches on a store that delays, fails, disconnects and compacts, in runs generated from
 * seeds. In the end, the state of each reader that lists and watches must equal the content of the store. All pages of
 * a list must show one exact state. Reads must not be older than the writes acknowledged before them. Watches must
 * report everything once, with correct bookmarks. ORCH_LONG=1 uses more seeds, and ORCH_TEST_SEED=N uses only the given
 * seed.
 */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { encodeStored } from '../../src/api/codec/stored.ts'
import { configMap } from '../../src/api/kinds/core/config-map.ts'
import { ApiError } from '../../src/api/model/api-error.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { defaultGates } from '../../src/api/versions/feature-gates.ts'
import { type Resource, serveKinds } from '../../src/apiserver/registry/catalogue/resource.ts'
import { ContinueTokens } from '../../src/apiserver/registry/reads/continue-token.ts'
import { HistoryReaders } from '../../src/apiserver/registry/reads/history-readers.ts'
import { type ParsedSelection, parseSelection } from '../../src/apiserver/registry/reads/selection.ts'
import { get } from '../../src/apiserver/registry/verbs/get.ts'
import { type ListPage, type ListQuery, list, slicesOf } from '../../src/apiserver/registry/verbs/list.ts'
import { deliveredRevision, type Watching, watch } from '../../src/apiserver/registry/verbs/watch.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { Caches } from '../../src/storage/cache/caches.ts'
import { jsonEvents } from '../../src/storage/cache/event.ts'
import { KindCache } from '../../src/storage/cache/kind-cache.ts'
import { type Change, type Entry, StoreError } from '../../src/storage/store/store.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { long } from '../support/long.ts'
import { FaultyStore, Scheduler } from './simulation.ts'

const only = process.env.ORCH_TEST_SEED
const seeds = only !== undefined ? 1 : long ? 2000 : 50
const firstSeed = Number(only ?? 1)

test(`${seeds} simulated runs with different seeds have consistent histories`, { timeout: 300_000 }, async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const sum: Counts = { commits: 0, events: 0, pages: 0, gets: 0, bookmarks: 0, reloads: 0, refusals: 0 }
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const { counts } = await course(seed)
    for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name]
  }
  t.diagnostic(
    Object.entries(sum)
      .map(([name, count]) => `${count} ${name}`)
      .join(', '),
  )
  for (const [name, count] of Object.entries(sum))
    assert.ok(only !== undefined || count > seeds / 4, `hardly any ${name}`)
})

test('the same seed always reproduces the same simulated run', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const first = await course(7)
  const second = await course(7)
  const other = await course(8)
  assert.deepEqual(first.trace, second.trace)
  assert.notDeepEqual(first.trace, other.trace)
})

interface Counts {
  commits: number
  events: number
  pages: number
  gets: number
  bookmarks: number
  /** Number of reloads of the caches. */
  reloads: number
  /** Number of reads that had to be retried or restarted. */
  refusals: number
}

/** The parameters generated from a seed, and all participants. */
interface World {
  readonly random: RandomSource
  readonly scheduler: Scheduler
  readonly store: FaultyStore
  readonly resource: Resource
  readonly counts: Counts
  /** The revision of the final change, at which readers stop. Infinity while more changes follow. */
  last: number
}

async function course(seed: number): Promise<{ counts: Counts; trace: readonly string[] }> {
  const world = makeWorld(seed)
  try {
    await world.scheduler.run(play(world))
  } catch (error) {
    throw new Error(`repeat with ORCH_TEST_SEED=${seed}: ${(error as Error).message}`, { cause: error })
  }
  return { counts: world.counts, trace: world.scheduler.trace }
}

function makeWorld(seed: number): World {
  const random = seeded(seed)
  const scheduler = new Scheduler(random)
  const store = new FaultyStore(scheduler, random)
  const counts: Counts = { commits: 0, events: 0, pages: 0, gets: 0, bookmarks: 0, reloads: 0, refusals: 0 }
  const caches = new Caches(store, {
    onError: (error) => {
      if ((error as Error).name === 'RevisionGone') counts.reloads++
    },
    onUnreadable: ({ key, why }) => assert.fail(`${key}: ${why}`),
  })
  const continueTokens = new ContinueTokens(Buffer.alloc(32))
  const vendor = vendorOf('orch')
  const parts = {
    vendor,
    store,
    caches,
    clock: systemClock,
    continueTokens,
    historyReaders: new HistoryReaders(),
    gates: defaultGates(),
    lifetimeSeconds: 3600,
    pools: [],
  }
  const resource = serveKinds([configMap], parts)[0] as Resource
  return { random, scheduler, store, resource, counts, last: Number.POSITIVE_INFINITY }
}

const writers = 3
const writesPerWriter = 25
const selections = [
  { namespace: undefined, labelSelector: '' },
  { namespace: 'a', labelSelector: '' },
  { namespace: undefined, labelSelector: 'on=yes' },
  { namespace: 'a', labelSelector: 'on!=yes' },
]

async function play(world: World): Promise<void> {
  const { resource, store } = world
  await persistently(() => resource.caches.start())
  const informers = selections.map((selection) => new Informer(world, new Selected(resource, selection)).run())
  const writing = Promise.all(Array.from({ length: writers }, () => write(world)))
  const reading = Promise.all([
    ...[pageThrough(world), pageThrough(world)],
    ...[glanceOften(world), getOften(world), compactOften(world)],
  ])
  await Promise.all([writing.then(() => reading).then(() => finish(world)), ...informers])
  await assertWhole(world)
  await resource.caches.stop()
  await store.close()
}

/** Makes the final changes, which every selection receives. */
async function finish(world: World): Promise<void> {
  world.store.faults = 0
  await commit(world, 'a/last', true)
  await commit(world, 'a/last', false)
  world.last = world.store.log.at(-1)!.revision + 1
  assert.equal(await commit(world, 'a/last', true), world.last)
}

async function persistently(run: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof StoreError) || tries > 20) throw error
    }
  }
}

/** Asserts that the recorded changes are consistent and match the contents of the store. */
async function assertWhole({ store, resource }: World): Promise<void> {
  for (const [i, { revision }] of store.log.entries()) assert.ok(revision > (store.log[i - 1]?.revision ?? 1), 'reused')
  const { entries } = await store.list({ prefix: resource.cache.prefix })
  assert.deepEqual(entries, stateAt(store.log, Number.POSITIVE_INFINITY), 'the store')
}

const places = ['a/0', 'a/1', 'a/2', 'a/3', 'b/0', 'b/1', 'b/2', 'c/0', 'c/1']

async function write(world: World): Promise<void> {
  const { random, scheduler } = world
  for (let i = 0; i < writesPerWriter; i++) {
    const place = random.pick(places)
    try {
      await commit(world, place, random.chance(0.3) ? undefined : random.chance(0.5))
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
    }
    while (random.chance(0.3)) await scheduler.turn()
  }
}

/** Writes an object with the label `on`, or deletes it. Returns the revision, or 0 if another write came first. */
async function commit({ store, resource, counts }: World, place: string, on: boolean | undefined): Promise<number> {
  const key = `${resource.cache.prefix}${place}`
  const expected = stateAt(store.log, Number.POSITIVE_INFINITY).find((entry) => entry.key === key)?.revision ?? 0
  if (on === undefined && expected === 0) return 0
  const result = await store.commit({
    key,
    expected,
    value: on === undefined ? undefined : encode(key, on, ++counts.commits),
  })
  return result.outcome === 'committed' ? result.revision : 0
}

function encode(key: string, on: boolean, serial: number): Buffer {
  const [namespace, name] = key.split('/').slice(-2) as [string, string]
  const labels = { on: on ? 'yes' : 'no' }
  const uid = `uid-${serial}`
  const metadata = { name, namespace, uid, creationTimestamp: '2026-01-01T00:00:00Z', labels }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: `${serial}` } }
  return encodeStored(key, { object, order: configMap.schema, header: { labels } })
}

async function compactOften({ random, scheduler, store }: World): Promise<void> {
  for (let i = 0; i < 10; i++) {
    for (let turns = 20 + random.below(40); turns > 0; turns--) await scheduler.turn()
    const newest = store.log.at(-1)?.revision ?? 1
    await store.compact(Math.max(1, newest - random.below(random.pick([1, 4, 20]))))
  }
}

/** Returns the entries at a revision, ordered by key. */
function stateAt(log: readonly Change[], revision: number): Entry[] {
  const state = new Map<string, Entry>()
  for (const change of log) {
    if (change.revision > revision) break
    if (change.value === undefined) state.delete(change.key)
    else state.set(change.key, { key: change.key, revision: change.revision, value: change.value })
  }
  return [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** A selection of objects and its expected contents. */
class Selected {
  readonly parsed: ParsedSelection
  /** Used only to decode stored objects. */
  readonly #objects: KindCache

  constructor(resource: Resource, { namespace, labelSelector }: (typeof selections)[number]) {
    this.parsed = parseSelection(resource, { namespace, name: undefined, labelSelector, fieldSelector: '' })
    this.#objects = new KindCache(resource.cache.prefix, ({ key, why }) => assert.fail(`${key}: ${why}`))
  }

  /** Returns the objects of a state as a list request would return them. */
  listed(state: readonly Entry[]): string[] {
    return state.filter((entry) => this.#wants(entry)).map((entry) => this.#json(entry, entry.revision))
  }

  /** Returns the line that a watch writes for a change, or undefined if the watch writes no line. */
  told({ key, revision, value, previous }: Change): string | undefined {
    const next = value && { key, revision, value }
    const before = previous !== undefined && this.#wants(previous)
    if (next && this.#wants(next)) return line(before ? 'MODIFIED' : 'ADDED', this.#json(next, revision))
    return before ? line('DELETED', this.#json(previous, revision)) : undefined
  }

  #wants({ key, revision, value }: Entry): boolean {
    const { namespace, matches } = this.parsed
    const object = this.#objects.read(key, revision, value)
    return (namespace ?? object.namespace) === object.namespace && (matches?.(object) ?? true)
  }

  #json({ key, value }: Entry, revision: number): string {
    return this.#objects.read(key, revision, value).json.toString().trimEnd()
  }
}

function line(type: string, json: string): string {
  return `{"type":"${type}","object":${json}}\n`
}

/** Makes a call that may fail because the store fails or has compacted. Any other error fails the test. */
async function refusable<T>({ counts, scheduler }: World, ask: () => Promise<T>): Promise<T | number> {
  try {
    return await ask()
  } catch (error) {
    const code = error instanceof ApiError ? error.code : error instanceof StoreError ? 503 : 500
    if (code !== 410 && code !== 503 && code !== 504) throw error
    counts.refusals++
    scheduler.trace.push(`refused ${code}`)
    return code
  }
}

const nothing: Omit<ListQuery, 'selection'> = {
  limit: 0,
  continueToken: '',
  resourceVersion: '',
  match: '',
  user: 'someone',
  scope: 'list',
}

/** Lists objects in various ways, complete or in pages, and compares each result with the recorded changes. */
async function pageThrough(world: World): Promise<void> {
  const { random, store, resource } = world
  for (let i = 0; i < 12; i++) {
    const selected = new Selected(resource, random.pick(selections))
    const known = random.below(store.acknowledged) + 1
    const { notBefore, exactly, ...query } = random.pick([
      { notBefore: store.acknowledged },
      { notBefore: store.acknowledged },
      { resourceVersion: '0', notBefore: 1 },
      { resourceVersion: String(known), match: 'NotOlderThan' as const, notBefore: known },
      { resourceVersion: String(known), match: 'Exact' as const, notBefore: known, exactly: known },
    ] as (Partial<ListQuery> & { notBefore: number; exactly?: number })[])
    const limit = random.below(4)
    const pages = await readPages(world, { ...nothing, selection: selected.parsed, limit, ...query })
    if (pages === undefined) continue
    const { revision } = pages[0]!
    assert.ok(revision >= notBefore, `a list at ${revision} is older than ${notBefore}`)
    assert.equal(revision, exactly ?? revision)
    assertListed(world, selected, pages)
  }
}

/** Repeatedly checks that the caches contain a state that existed, even while they are being reloaded. */
async function glanceOften(world: World): Promise<void> {
  const { random, scheduler, resource } = world
  for (let i = 0; i < 150; i++) {
    await scheduler.turn()
    const selected = new Selected(resource, random.pick(selections))
    const pages = await readPages(world, { ...nothing, selection: selected.parsed, resourceVersion: '0' })
    assertListed(world, selected, pages!)
  }
}

async function readPages(world: World, query: ListQuery): Promise<ListPage[] | undefined> {
  const pages: ListPage[] = []
  let next = query
  for (let count = 0; count < 30; count++) {
    const page = await refusable(world, async () => await readWhole(world, await list(world.resource, next)))
    if (typeof page === 'number') return undefined
    pages.push(page)
    world.counts.pages++
    if (page.continueToken === '') return pages
    next = { ...nothing, selection: query.selection, limit: query.limit, continueToken: page.continueToken }
    while (world.random.chance(0.6)) await world.scheduler.turn()
  }
  return assert.fail('a list without an end')
}

/** Reads a page with all its objects, some of them only after concurrent writes. */
async function readWhole({ random, scheduler }: World, page: ListPage): Promise<ListPage> {
  try {
    const objects = []
    for await (const slice of slicesOf(page)) {
      objects.push(...slice)
      while (random.chance(0.3)) await scheduler.turn()
    }
    return { ...page, objects }
  } finally {
    page.close?.()
  }
}

function assertListed({ store }: World, selected: Selected, pages: readonly ListPage[]): void {
  const { revision } = pages[0]!
  assert.deepEqual(new Set(pages.map((page) => page.revision)), new Set([revision]))
  const seen = pages.flatMap((page) => page.objects.map((object) => object.json.toString().trimEnd()))
  assert.deepEqual(seen, selected.listed(stateAt(store.log, revision)), `the list at ${revision}`)
}

/** Repeatedly checks that a most-recent get returns a value that the key had at some moment during the call. */
async function getOften(world: World): Promise<void> {
  const { random, store, resource, counts } = world
  for (let i = 0; i < 20; i++) {
    const place = random.pick(places)
    const [namespace, name] = place.split('/') as [string, string]
    const since = store.acknowledged
    const found = await refusable(world, () => getOrNothing(resource, namespace, name))
    if (typeof found === 'number') continue
    counts.gets++
    const key = `${resource.cache.prefix}${place}`
    const then = stateAt(store.log, since).find((entry) => entry.key === key)?.revision ?? 0
    const later = store.log.filter((change) => change.key === key && change.revision > since)
    const possible = [then, ...later.map((change) => (change.value === undefined ? 0 : change.revision))]
    assert.ok(possible.includes(found.revision), `get ${place} saw ${found.revision}, possible are ${possible}`)
  }
}

async function getOrNothing(resource: Resource, namespace: string, name: string): Promise<{ revision: number }> {
  try {
    return await get(resource, { namespace, name, resourceVersion: '' })
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return { revision: 0 }
    throw error
  }
}

/**
 * Lists, watches from the version of the list, resumes watches that end, and lists again if necessary. Checks every
 * received line.
 */
class Informer {
  /** The version from which to resume. */
  #version = 0
  /** The index of the next change in the recorded list of all changes. */
  #next = 0
  #objects = new Map<string, string>()
  readonly #world: World
  readonly #selected: Selected

  constructor(world: World, selected: Selected) {
    this.#world = world
    this.#selected = selected
  }

  /** Runs until the final change. */
  async run(): Promise<void> {
    const { store, scheduler } = this.#world
    let listed = false
    while (!this.#atEnd()) {
      listed = listed ? await this.#watch() : await this.#list()
      await scheduler.turn()
    }
    const final = this.#selected.listed(stateAt(store.log, Number.POSITIVE_INFINITY))
    assert.deepEqual([...this.#objects.values()].sort(), final.sort(), 'a reader at its end')
  }

  #atEnd(): boolean {
    return this.#version >= this.#world.last
  }

  async #list(): Promise<boolean> {
    const { random, store } = this.#world
    const version = random.chance(0.3) ? '0' : ''
    const notBefore = version === '' ? store.acknowledged : 1
    const query = { ...nothing, selection: this.#selected.parsed, resourceVersion: version }
    const pages = await readPages(this.#world, query)
    if (pages === undefined) return false
    const [page] = pages
    assert.ok(page!.revision >= notBefore)
    assertListed(this.#world, this.#selected, pages)
    this.#version = page!.revision
    this.#next = store.log.findLastIndex((change) => change.revision <= page!.revision) + 1
    this.#objects = new Map(page!.objects.map((object) => [object.key, object.json.toString().trimEnd()]))
    return true
  }

  /** Runs one watch until it ends or is disconnected. Returns false if the version is too old. */
  async #watch(): Promise<boolean> {
    const { random, scheduler, resource } = this.#world
    const watching = await refusable(this.#world, () =>
      watch(resource, {
        selection: this.#selected.parsed,
        resourceVersion: String(this.#version),
        form: jsonEvents,
        user: 'someone',
        onSent: () => {},
      }),
    )
    if (typeof watching === 'number') return watching !== 410
    const read = async () => {
      for await (const bytes of this.#lines(watching)) {
        this.#take(bytes.toString())
        if (this.#atEnd() || random.chance(0.05)) break
        while (random.chance(0.2)) await scheduler.turn()
      }
    }
    const refused = await refusable(this.#world, read)
    watching.watcher.close()
    return refused !== 410
  }

  /** Reads the lines as the server sends them, including bookmarks. */
  async *#lines({ watcher, before }: Watching): AsyncGenerator<Buffer> {
    const { random, resource } = this.#world
    const mark = () => watcher.bookmark(Buffer.from(`BOOKMARK ${deliveredRevision(resource, watcher)}`))
    const memory = () => Buffer.allocUnsafe(64 * 1024)
    for await (const chunk of before(memory))
      for (const line of chunk.toString().split(/(?<=\n)/)) yield Buffer.from(line)
    if (random.chance(0.3)) mark()
    while (!watcher.closed) {
      await watcher.ready()
      yield* watcher.take(Number.POSITIVE_INFINITY)
      if (random.chance(0.3)) mark()
    }
  }

  #take(told: string): void {
    const { store, counts, scheduler } = this.#world
    scheduler.trace.push(told)
    const expected = this.#nextTold()
    if (told.startsWith('BOOKMARK ')) {
      const version = Number(told.slice('BOOKMARK '.length))
      counts.bookmarks++
      assert.ok(version >= this.#version, `a bookmark at ${version} after ${this.#version}`)
      const due = store.log[this.#next]
      assert.ok(due === undefined || due.revision > version, `a bookmark at ${version} before ${expected}`)
      this.#version = version
      return
    }
    counts.events++
    assert.equal(told, expected)
    const { type, object } = JSON.parse(told)
    const change = store.log[this.#next++]!
    this.#version = change.revision
    if (type === 'DELETED') this.#objects.delete(change.key)
    else this.#objects.set(change.key, JSON.stringify(object))
  }

  /** Returns the next expected line. Skips changes outside the selection of the reader. */
  #nextTold(): string | undefined {
    const { log } = this.#world.store
    for (; this.#next < log.length; this.#next++) {
      const told = this.#selected.told(log[this.#next]!)
      if (told !== undefined) return told
    }
    return undefined
  }
}
