/**
 * Tests two servers that emulate different Kubernetes versions on one etcd, as during a rolling upgrade or downgrade.
 * Clients read, watch and write through both versions. Every object stays readable, no write is lost, the lower
 * version's fields are preserved, and watches continue. Before a release, set `ORCH_PREVIOUS_RELEASE` to the path of
 * the previous release's `orch`, which then runs the servers with the lower version.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Cluster, startEtcd, steadyMs } from '../support/etcd.ts'
import type { HttpClient, WatchEvent } from '../support/http-client.ts'
import { root, type ServerHandle, startRelease } from '../support/server.ts'
import { until } from '../support/until.ts'

type Body = { readonly [member: string]: unknown }

/** An object, and its path below the collection of its type. */
interface Row {
  readonly collection: string
  readonly name: string
  readonly body: Body
}

const template = (more: Body = {}) => ({
  metadata: { labels: { app: 'a' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], ...more },
})
const selector = { matchLabels: { app: 'a' } }
const served = { template: template({ restartPolicy: 'Always' }), selector }
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const cpu = { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } }
const failurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] }
const custom = {
  group: 'example.com',
  names: { kind: 'Widget', plural: 'widgets' },
  scope: 'Namespaced',
  versions: [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          'x-kubernetes-validations': [{ rule: 'has(self.spec)', messageExpression: "'no spec'" }],
        },
      },
    },
  ],
}

const inDefault = (base: string, plural: string) => `${base}/namespaces/default/${plural}`

/** Objects with fields that exist in both versions. Many of the fields were added after 1.23. */
const rows: readonly Row[] = [
  { collection: inDefault('/api/v1', 'configmaps'), name: 'c', body: { data: { a: 'b' }, immutable: false } },
  {
    collection: inDefault('/api/v1', 'pods'),
    name: 'p',
    body: { spec: { ...template().spec, schedulingGates: [{ name: 'example.com/gate' }], os: { name: 'linux' } } },
  },
  {
    collection: inDefault('/api/v1', 'services'),
    name: 's',
    body: { spec: { ports: [{ port: 80 }], selector: { app: 'a' }, internalTrafficPolicy: 'Local' } },
  },
  { collection: inDefault('/apis/apps/v1', 'deployments'), name: 'd', body: { spec: { ...served, replicas: 2 } } },
  {
    collection: inDefault('/apis/apps/v1', 'statefulsets'),
    name: 'd',
    body: {
      spec: {
        ...served,
        serviceName: 's',
        ordinals: { start: 3 },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
      },
    },
  },
  {
    collection: inDefault('/apis/batch/v1', 'jobs'),
    name: 'j',
    body: { spec: { template: template(), suspend: true, podFailurePolicy: failurePolicy } },
  },
  {
    collection: inDefault('/apis/batch/v1', 'cronjobs'),
    name: 'j',
    body: { spec: { schedule: '1 1 1 1 1', timeZone: 'Etc/UTC', jobTemplate: { spec: { template: template() } } } },
  },
  {
    collection: inDefault('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
    name: 'h',
    body: {
      spec: {
        scaleTargetRef: target,
        maxReplicas: 3,
        metrics: [{ type: 'ContainerResource', containerResource: cpu }],
      },
    },
  },
  {
    collection: inDefault('/apis/policy/v1', 'poddisruptionbudgets'),
    name: 'b',
    body: { spec: { selector, maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
  },
  {
    collection: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    name: 'widgets.example.com',
    body: { spec: custom },
  },
  {
    collection: '/apis/flowcontrol.apiserver.k8s.io/v1beta3/prioritylevelconfigurations',
    name: 'l',
    body: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 7, limitResponse: { type: 'Reject' } } } },
  },
]
const pathOf = ({ collection, name }: Row) => `${collection}/${name}`
const counter = 'example.com/count'

/** A Job with a backoff limit per index. The feature gate for this limit is disabled at 1.28 and enabled at 1.29. */
const newerJob = { backoffLimitPerIndex: 1, completionMode: 'Indexed', completions: 2, parallelism: 1 }

/** Asserts that `shown` contains all fields and values of `expected`. */
function assertContains(shown: unknown, expected: unknown, path: string): void {
  if (typeof expected !== 'object' || expected === null) assert.deepEqual(shown, expected, path)
  else
    for (const [key, value] of Object.entries(expected))
      assertContains((shown as Body | undefined)?.[key], value, `${path}.${key}`)
}

const countOf = (object: { metadata: { annotations?: { [key: string]: string } } }) =>
  Number(object.metadata.annotations?.[counter] ?? 0)

/** Writes and reads all objects through one server until `stop` is called. */
class Load {
  /** Number of successful increments of each object. */
  readonly increments = new Map<Row, number>()
  #isStopped = false
  readonly #client: HttpClient
  readonly #running: Promise<void>

  constructor(client: HttpClient) {
    this.#client = client
    this.#running = this.#run()
    this.#running.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    for (let round = 0; round < 10_000 && !this.#isStopped; round++)
      for (const row of rows) {
        if (this.#isStopped) return
        await (round % 3 === 0 ? this.#patch(row, round) : this.#increment(row))
        if (round % 5 === 0) await this.#list(row)
        await pause(2)
      }
  }

  /** Increments a counter by writing back the whole object as this server returns it. */
  async #increment(row: Row): Promise<void> {
    const { body } = await this.#client.get(pathOf(row))
    assertContains(body, row.body, row.collection)
    body.metadata.annotations = { ...body.metadata.annotations, [counter]: String(countOf(body) + 1) }
    const { status, text } = await this.#client.put(pathOf(row), body)
    if (status === 409) return
    assert.equal(status, 200, text)
    this.increments.set(row, (this.increments.get(row) ?? 0) + 1)
  }

  async #patch(row: Row, round: number): Promise<void> {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = { metadata: { labels: { round: `r${round}` } } }
    const { status, text } = await this.#client.send(pathOf(row), { method: 'PATCH', headers, body })
    assert.equal(status, 200, text)
  }

  async #list({ collection, name }: Row): Promise<void> {
    const { status, body, text } = await this.#client.get(collection)
    assert.equal(status, 200, text)
    const names = (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
    assert.ok(names.includes(name), `${collection} lists ${names}`)
  }
}

/** Watches a collection. If a server ends the watch, the watch resumes on the next server after the last event. */
class Watch {
  lastVersion: number
  count = 0
  readonly #row: Row
  readonly #clients: readonly HttpClient[]
  readonly #ending = new AbortController()
  readonly #running: Promise<void>

  constructor(row: Row, version: number, clients: readonly HttpClient[]) {
    this.#row = row
    this.lastVersion = version
    this.#clients = clients
    this.#running = this.#run()
    this.#running.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    for (const client of this.#clients) {
      const path = `${this.#row.collection}?watch=1&resourceVersion=${this.lastVersion}&timeoutSeconds=600`
      try {
        for await (const event of client.watch(path, signal)) this.#take(event)
      } catch (error) {
        // The last server continues to run. The watch of another server may be interrupted when that server stops.
        if (client === this.#clients.at(-1)) throw error
      }
    }
  }

  #take({ type, object }: WatchEvent): void {
    assert.ok(type === 'ADDED' || type === 'MODIFIED', `${type} ${JSON.stringify(object)}`)
    const version = Number(object.metadata.resourceVersion)
    assert.ok(version > this.lastVersion, `${version} comes after ${this.lastVersion}`)
    this.lastVersion = version
    this.count++
    if (object.metadata.name === this.#row.name) assertContains(object, this.#row.body, this.#row.collection)
  }
}

interface Roll {
  readonly from: string
  readonly to: string
  readonly more?: readonly string[]
}

/** Duration of each phase of the upgrade in milliseconds. */
const phaseMs = 4_000

const lowerVersion = '1.28'
const previousRelease = process.env.ORCH_PREVIOUS_RELEASE

async function start(t: TestContext, cluster: Cluster, version: string, more: readonly string[] = []) {
  const program = version === lowerVersion && previousRelease !== undefined ? previousRelease : join(root, 'bin/orch')
  const common = ['--profile=kubernetes', '--disable-admission-plugins=ServiceAccount']
  const flags = [`--etcd-servers=${cluster.endpoints}`, `--emulated-version=${version}`]
  return await startRelease(t, program, [...common, ...flags, ...more])
}

async function createAll(client: HttpClient): Promise<void> {
  for (const { collection, name, body } of rows) {
    const { status, text } = await client.post(collection, { metadata: { name }, ...body })
    assert.equal(status, 201, text)
  }
}

async function roll(t: TestContext, { from, to, more = [] }: Roll): Promise<[ServerHandle, Cluster]> {
  const cluster = await startEtcd({ electionMs: steadyMs })
  t.after(() => cluster.stop())
  const old = await start(t, cluster, from)
  const before = old.client()
  await createAll(before)
  const version = Number((await before.get(rows[0]!.collection)).body.metadata.resourceVersion)

  const loads = [new Load(before)]
  await pause(phaseMs / 4)
  const next = await start(t, cluster, to, more)
  const after = next.client()
  const watches = rows.flatMap((row) => [new Watch(row, version, [before, after]), new Watch(row, version, [after])])
  loads.push(new Load(after))
  await pause(phaseMs)

  await loads[0]!.stop()
  await old.stop()
  await pause(phaseMs / 4)
  await loads[1]!.stop()

  for (const [i, row] of rows.entries()) {
    const { status, body, text } = await after.get(pathOf(row))
    assert.equal(status, 200, text)
    assertContains(body, row.body, row.collection)
    const expected = loads.reduce((sum, { increments }) => sum + (increments.get(row) ?? 0), 0)
    assert.ok(expected > 5, `${row.collection} was written ${expected} times`)
    assert.equal(countOf(body), expected, `increments of ${row.collection}`)
    for (const watch of watches.slice(2 * i, 2 * i + 2)) {
      await until(
        async () => watch.lastVersion,
        (last) => last >= Number(body.metadata.resourceVersion),
      )
      assert.ok(watch.count > expected, `${watch.count} events of ${row.collection}`)
    }
  }
  for (const watch of watches) await watch.stop()
  for (const load of loads) await load.stop()
  return [next, cluster]
}

test('during an upgrade from 1.28 to 1.29, servers of both versions serve the same objects', {
  timeout: 600_000,
}, async (t) => {
  const [server, cluster] = await roll(t, { from: lowerVersion, to: '1.29' })
  const newer = server.client()
  const older = (await start(t, cluster, lowerVersion, ['--allow-version-downgrade'])).client()
  const jobs = inDefault('/apis/batch/v1', 'jobs')
  const spec = { template: template(), suspend: true, ...newerJob }
  const made = await newer.post(jobs, { metadata: { name: 'newer' }, spec })
  assert.equal(made.body.spec.backoffLimitPerIndex, 1, made.text)
  const { body } = await older.get(`${jobs}/newer`)
  assertContains(body.spec, { completionMode: 'Indexed', completions: 2 }, 'spec')
  // In 1.28, the field is behind a disabled gate. A disabled gate preserves the values in stored objects.
  body.metadata.labels = { changed: 'by-older' }
  assert.equal((await older.put(`${jobs}/newer`, body)).status, 200)
  const again = await newer.get(`${jobs}/newer`)
  assertContains(again.body, { metadata: { labels: { changed: 'by-older' } }, spec: newerJob }, 'job')
})

test('during a downgrade from 1.29 to 1.28, servers of both versions serve the same objects', {
  timeout: 600_000,
}, async (t) => {
  const [server] = await roll(t, { from: '1.29', to: lowerVersion, more: ['--allow-version-downgrade'] })
  assert.equal((await server.client().get('/version')).body.minor, '28')
})
