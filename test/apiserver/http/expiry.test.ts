/**
 * Tests that Events expire. For clients, an expiry is an ordinary deletion. Watches report each deletion with the last
 * state of the object and a separate resourceVersion, so a watch can be resumed between any two deletions. Both stores
 * behave in the same way.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import type { WatchEvent } from '../../support/http-client.ts'
import { embedded, type InProcess, startInProcess } from '../../support/in-process.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const pathOf = (namespace: string, plural = 'events') => `/api/v1/namespaces/${namespace}/${plural}`
const versionOf = ({ metadata }: { metadata: { resourceVersion: string } }) => Number(metadata.resourceVersion)

function suite(name: string, flags: () => readonly string[]): void {
  describe(`Events that expire, with ${name}`, { timeout: 300_000 }, () => {
    let server: InProcess
    before(async () => {
      server = await startInProcess(allKinds, ['--event-ttl=2s', ...flags()], embedded)
    })
    after(() => server.stop())

    const create = async (path: string, object: object) => {
      const { status, body, text } = await server.client.post(path, object)
      assert.equal(status, 201, text)
      return body
    }

    /** Returns up to `count` events of a watch that starts at the given version. */
    const events = async (path: string, version: number, count: number): Promise<WatchEvent[]> => {
      const seenEvents: WatchEvent[] = []
      const signal = AbortSignal.timeout(120_000)
      for await (const event of server.client.watch(`${path}?watch=1&resourceVersion=${version}`, signal)) {
        seenEvents.push(event)
        if (seenEvents.length === count) return seenEvents
      }
      return assert.fail(`only ${seenEvents.length} of ${count} events came`)
    }

    it('an expired Event disappears from all reads, and watches report its last state with a new resourceVersion', async () => {
      await create('/api/v1/namespaces', { metadata: { name: 'one' } })
      const path = pathOf('one')
      const kept = await create(pathOf('one', 'configmaps'), { metadata: { name: 'kept' } })
      const made = await create(path, {
        metadata: { name: 'one' },
        involvedObject: { namespace: 'one' },
        message: 'first',
      })
      const changed = await server.client.put(`${path}/one`, { ...made, message: 'second' })
      assert.equal(changed.status, 200, changed.text)
      const [event] = await events(path, versionOf(changed.body), 1)
      assert.equal(event!.type, 'DELETED')
      assert.ok(versionOf(event!.object) > versionOf(changed.body))
      const { resourceVersion } = event!.object.metadata
      assert.deepEqual(event!.object, { ...changed.body, metadata: { ...changed.body.metadata, resourceVersion } })
      assert.equal((await server.client.get(`${path}/one`)).status, 404)
      // A late update does not recreate the Event, even though a PUT can create Events.
      assert.equal((await server.client.put(`${path}/one`, changed.body)).status, 409)
      assert.deepEqual((await server.client.get(path)).body.items, [])
      const stays = await server.client.get(`${pathOf('one', 'configmaps')}/kept`)
      assert.equal(stays.body.metadata.resourceVersion, kept.metadata.resourceVersion)
    })

    it('a client that reconnects after every event sees each expiry once', async () => {
      await create('/api/v1/namespaces', { metadata: { name: 'many' } })
      const path = pathOf('many')
      const names = Array.from({ length: 12 }, (_, i) => `s-${String(i).padStart(2, '0')}`)
      const start = versionOf((await server.client.get(path)).body)
      await Promise.all(
        names.map((name) => create(path, { metadata: { name }, involvedObject: { namespace: 'many' } })),
      )
      let version = start
      const gone: string[] = []
      for (let i = 0; i < 2 * names.length; i++) {
        const [event] = await events(path, version, 1)
        assert.ok(versionOf(event!.object) > version)
        version = versionOf(event!.object)
        if (event!.type === 'DELETED') gone.push(event!.object.metadata.name)
      }
      assert.deepEqual(gone.sort(), names)
      const replayed = await events(path, start, 2 * names.length)
      assert.equal(versionOf(replayed.at(-1)!.object), version)
    })
  })
}

// Run the two suites concurrently, because both wait for time to pass.
describe('Event expiry with each store', { concurrency: true }, () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())
  suite('the embedded store', () => [])
  suite('etcd', () => [`--etcd-servers=${cluster.endpoints}`])
})
