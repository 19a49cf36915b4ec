/**
 * Tests many informers whose connections break at random, with a restart of the server in between. Half of the
 * informers are disconnected until their resourceVersions have expired. In the end, each copy must equal a list, and no
 * informer may have repeated its list unnecessarily. With `ORCH_LONG=1`, the test runs a hundred informers for a
 * minute.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Informer } from '../../src/client/informers/informer.ts'
import { Client } from '../../src/client/requests/client.ts'
import { type Transport, TransportError } from '../../src/client/requests/transport.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { long } from '../support/long.ts'
import { type ConfigMap, configMap, configMaps } from '../support/resource-types.ts'
import { type ServerHandle, startServer } from '../support/server.ts'
import { waitForCompaction } from '../support/wait-for-compaction.ts'

const count = long ? 100 : 24
const rounds = long ? 40 : 6
const backoff = { firstMs: 50, longestMs: 500 }
const inDefault = (name: string) => ({ namespace: 'default', name })

/** An informer with a connection that the test can break. */
class Follower {
  lists = 0
  watches = 0
  readonly informer: Informer<ConfigMap>
  #cut = new AbortController()
  #away = false

  constructor(t: TestContext, server: ServerHandle, i: number) {
    const send = server.transport()
    const breakable: Transport = async (request) => {
      if (this.#away) throw new TransportError('away')
      if (request.path.includes('watch=true')) this.watches++
      else this.lists++
      return await send({ ...request, signal: AbortSignal.any([request.signal, this.#cut.signal]) })
    }
    const selection = i % 3 === 0 ? { labelSelector: 'even=yes' } : {}
    this.informer = new Informer(new Client(breakable), configMaps, { selection, onError: () => {}, backoff })
    const stop = new AbortController()
    const running = this.informer.run(stop.signal)
    t.after(async () => {
      stop.abort()
      await running
    })
  }

  /** Breaks the open connections. If `away` is true, also blocks new connections until the next call. */
  cut(away: boolean): void {
    this.#away = away
    this.#cut.abort(new TransportError('cut'))
    this.#cut = new AbortController()
  }

  async seen(name: string): Promise<void> {
    if (this.informer.get(inDefault(name)) !== undefined) return
    await new Promise<void>((resolve) => {
      const end = this.informer.onChange(() => {
        if (this.informer.get(inDefault(name)) === undefined) return
        end()
        resolve()
      })
    })
  }
}

function labelled(name: string, i: number): ConfigMap {
  const made = configMap(name, { k: `${i}` })
  return { ...made, metadata: { ...made.metadata, labels: { even: i % 2 === 0 ? 'yes' : 'no' } } }
}

/** Changes that create and delete objects, and changes after which an object starts or stops matching the selector. */
async function write(client: Client, random: RandomSource, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const name = `object-${random.below(40)}`
    const there = (await client.list(configMaps)).items.some((item) => item.metadata.name === name)
    if (!there) await client.create(configMaps, labelled(name, i))
    else if (random.chance(0.3)) await client.delete(configMaps, inDefault(name))
    else {
      const merge = { data: { k: `${i}` }, metadata: { labels: { even: i % 2 === 0 ? 'yes' : 'no' } } }
      await client.patch(configMaps, inDefault(name), { patch: { merge } })
    }
  }
}

async function assertAllSame(client: Client, followers: readonly Follower[], marker: string): Promise<void> {
  await client.create(configMaps, labelled(marker, 0))
  await Promise.all(followers.map((follower) => follower.seen(marker)))
  const texts = (objects: Iterable<ConfigMap>) => [...objects].map((object) => JSON.stringify(object)).sort()
  const all = texts((await client.list(configMaps)).items)
  const even = texts((await client.list(configMaps, { labelSelector: 'even=yes' })).items)
  for (const [i, { informer }] of followers.entries())
    assert.deepEqual(texts(informer.objects()), i % 3 === 0 ? even : all, `informer ${i} at ${marker}`)
}

test('the caches of many informers contain the same objects as a list', { timeout: 540_000 }, async (t) => {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  t.diagnostic(`seed ${seed}`)
  const random = seeded(seed)
  const server = await startServer(t, ['--history-duration=1s'])
  const client = new Client(server.transport())
  const followers = Array.from({ length: count }, (_, i) => new Follower(t, server, i))
  await Promise.all(followers.map(({ informer }) => informer.synced))
  const began = performance.now()

  await t.test('many informers converge after connections break at random', async () => {
    for (let i = 0; i < rounds; i++) {
      for (const follower of followers) if (random.chance(0.4)) follower.cut(false)
      await write(client, random, 10)
    }
    await assertAllSame(client, followers, 'after-breaks')
    assert.deepEqual([...new Set(followers.map(({ lists }) => lists))], [1], 'a watch that broke is resumed')
    const watches = followers.reduce((sum, follower) => sum + follower.watches, 0)
    assert.ok(watches > 2 * count, `${watches} watches of ${count} informers`)
  })

  await t.test(
    'informers converge after a restart while half of them are disconnected until their versions expire',
    async () => {
      const away = followers.filter((_, i) => i % 2 === 0)
      const { resourceVersion } = await client.list(configMaps)
      for (const follower of away) follower.cut(true)
      await write(client, random, 20)
      await server.kill()
      await server.restart()
      const again = new Client(server.transport())
      await write(again, random, 20)
      await waitForCompaction(again, resourceVersion)
      for (const follower of away) follower.cut(false)
      await assertAllSame(again, followers, 'after-restart')
      assert.ok(
        away.every(({ lists }) => lists >= 2),
        'who was away for too long lists again',
      )
      const lists = followers.map((follower) => follower.lists)
      await write(again, random, 10)
      await assertAllSame(again, followers, 'after-all')
      // An informer whose watch started only after its resourceVersion had expired may have listed once more.
      for (const [i, follower] of followers.entries())
        assert.ok(follower.lists <= lists[i]! + 1, 'it goes on with its watch')
    },
  )

  const seconds = (performance.now() - began) / 1000
  const most = Math.max(...followers.map(({ lists }) => lists))
  const lists = followers.reduce((sum, follower) => sum + follower.lists, 0)
  t.diagnostic(`${count} informers, ${lists} lists in ${seconds.toFixed(0)} s, at most ${most} by one`)
  assert.ok(most <= 4, `one listed ${most} times in ${seconds.toFixed(0)} s`)
})
