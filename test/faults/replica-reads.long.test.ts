/**
 * Tests two servers on one etcd, with 20,000 repetitions. A write that one server has acknowledged must be readable
 * from the other server immediately, both as the most recent state and as a state that is not older than the write's
 * version. A watch on the other server must report the write within a second.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd, steadyMs } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { startServer } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'
import { report } from './load.ts'

const pairs = 20_000
const clientsPerServer = 8
const maxLagMs = 1_000
const collection = '/api/v1/namespaces/default/configmaps'

test('a write to one server can immediately be read from another server', { timeout: 900_000 }, async (t) => {
  const cluster = await startEtcd({ electionMs: steadyMs })
  t.after(() => cluster.stop())
  const flags = [`--etcd-servers=${cluster.endpoints}`]
  const clients = [await startServer(t, flags), await startServer(t, flags)].map((server) => server.client())
  const start = (await clients[0]!.get(collection)).body.metadata.resourceVersion
  const lags = new Lags()
  const stop = new AbortController()
  t.after(() => stop.abort())
  const watching = clients.map((client) =>
    lags.follow(client.watch(`${collection}?watch=1&resourceVersion=${start}`, stop.signal)),
  )
  let remaining = pairs
  const work = async (writer: HttpClient, reader: HttpClient, name: string) => {
    await writer.post(collection, { metadata: { name } })
    while (remaining-- > 0) await writeAndRead(writer, reader, { name, turn: remaining, lags })
  }
  await Promise.all(
    Array.from({ length: 2 * clientsPerServer }, (_, i) => work(clients[i % 2]!, clients[1 - (i % 2)]!, `pair-${i}`)),
  )
  await untilTrue(async () => lags.told.length >= 2 * pairs)
  stop.abort()
  await Promise.all(watching)
  const sorted = lags.told.toSorted((a, b) => a - b)
  const p99 = Math.round(sorted[Math.floor(sorted.length * 0.99)]!)
  report(t, { pairs, events: sorted.length, 'ms p99 of lag': p99, 'ms longest lag': Math.round(sorted.at(-1)!) })
  assert.ok(p99 <= maxLagMs, `one in a hundred events came ${p99} ms after its write was acknowledged`)
})

interface Pair {
  readonly name: string
  readonly turn: number
  readonly lags: Lags
}

async function writeAndRead(writer: HttpClient, reader: HttpClient, { name, turn, lags }: Pair): Promise<void> {
  const path = `${collection}/${name}`
  const written = await writer.put(path, { metadata: { name }, data: { turn: `${turn}` } })
  assert.equal(written.status, 200, written.text)
  const version = written.body.metadata.resourceVersion
  lags.acknowledge(version)
  const read = await reader.get(turn % 2 === 0 ? path : `${path}?resourceVersion=${version}`)
  assert.equal(read.status, 200, read.text)
  // This client is the only writer of the object.
  assert.equal(read.body.metadata.resourceVersion, version, turn % 2 === 0 ? 'most recent' : 'not older than')
}

/**
 * Measures how long after the acknowledgement of a write its event arrives in each watch. An event that arrives before
 * the acknowledgement counts as 0.
 */
class Lags {
  readonly told: number[] = []
  readonly #acknowledged = new Map<string, number>()
  readonly #early = new Map<string, number>()

  acknowledge(version: string): void {
    this.#acknowledged.set(version, performance.now())
    for (let i = this.#early.get(version) ?? 0; i > 0; i--) this.told.push(0)
  }

  async follow(events: AsyncIterable<{ readonly type: string; readonly object: { metadata: Meta } }>): Promise<void> {
    for await (const { type, object } of events) if (type === 'MODIFIED') this.#tell(object.metadata.resourceVersion)
  }

  #tell(version: string): void {
    const at = this.#acknowledged.get(version)
    if (at === undefined) this.#early.set(version, (this.#early.get(version) ?? 0) + 1)
    else this.told.push(performance.now() - at)
  }
}

interface Meta {
  readonly resourceVersion: string
}
