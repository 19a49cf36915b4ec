/**
 * Tests the cluster IPs and node ports of Services. Each value belongs to only one Service at a time, despite
 * concurrent servers and crashes, and is free again as soon as that Service releases it. The tests check the
 * allocations in the store.
 */
import assert from 'node:assert/strict'
import { before, describe, it, test } from 'node:test'
import { EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve, serveUp } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { type ServerHandle, startServer } from '../../support/server.ts'

const owner = endOfFile()

let cluster: Cluster
let store: Store
let servers: ServerHandle[]
let one: HttpClient
let two: HttpClient

const atOnce = long ? 50 : 25
/** The range has 1022 addresses, so that concurrent allocations seldom collide. */
const flags = ['--service-cluster-ip-range=10.96.0.0/22,fd00:96::/112']

before(async () => {
  cluster = await startEtcd()
  owner.after(() => cluster.stop())
  store = await EtcdStore.open({ endpoints: cluster.endpoints, prefix: '/orch/', historyMs: 300_000 })
  owner.after(() => store.close())
  const start = () => startServer(owner, [`--etcd-servers=${cluster.endpoints}`, ...flags])
  servers = await Promise.all([start(), start()])
  one = servers[0]!.client()
  two = servers[1]!.client()
})

const path = '/api/v1/namespaces/default/services'
const merge = { 'content-type': 'application/merge-patch+json' }
const patch = (client: HttpClient, name: string, body: unknown) =>
  client.send(`${path}/${name}`, { method: 'PATCH', body, headers: merge })
const newService = (name: string, spec: object = {}) => ({
  metadata: { name, labels: { test: '' } },
  spec: { ports: [{ port: 80 }], ...spec },
})

function ok(answer: Answer, status = 200): Answer {
  assert.equal(answer.status, status, answer.text)
  return answer
}

function refused(answer: Answer, field: string, text: RegExp): void {
  assert.equal(answer.status, 422, answer.text)
  assert.deepEqual(
    answer.body.details.causes.map((cause: { field: string }) => cause.field),
    [field],
  )
  assert.match(answer.body.message, text)
}

/** Returns the allocations in the store, for example `cluster-ips-v4/10.96.0.1 default/orch`. */
async function held(): Promise<string[]> {
  const { entries } = await store.list({ prefix: 'claims/' })
  const name = (value: Uint8Array) => Buffer.from(value).toString().replace('objects/core/services/', '')
  return entries.map(({ key, value }) => `${key.slice('claims/'.length)} ${name(value)}`).sort()
}

interface Service {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: {
    readonly type: string
    readonly clusterIPs?: readonly string[]
    readonly ports?: readonly { readonly nodePort?: number }[]
    readonly healthCheckNodePort?: number
  }
}

/** Returns the allocations in the spec of a Service. */
function heldBy({ metadata, spec }: Service): string[] {
  const { clusterIPs = [], ports = [], healthCheckNodePort } = spec
  const holder = `${metadata.namespace}/${metadata.name}`
  return [
    ...clusterIPs.map((ip) => `cluster-ips-${ip.includes(':') ? 'v6' : 'v4'}/${ip} ${holder}`),
    ...new Set([...ports.map(({ nodePort }) => nodePort), healthCheckNodePort].filter((port) => port)),
  ].map((claim) => (typeof claim === 'number' ? `node-ports/${claim} ${holder}` : String(claim)))
}

/** Asserts that the allocations in the store match the Services and that no allocation has two owners. */
async function assertAgree(client: HttpClient): Promise<void> {
  const { body } = ok(await client.get('/api/v1/services'))
  const said = (body.items as Service[]).flatMap(heldBy).sort()
  assert.deepEqual(await held(), said)
  const values = said.map((claim) => claim.split(' ')[0])
  assert.equal(new Set(values).size, values.length)
}

describe('Service allocation on two servers', () => {
  it('concurrent clients never get the same allocation, and deletions release allocations', async () => {
    const made = await Promise.all(
      Array.from({ length: atOnce }, (_, i) =>
        [one, two][i % 2]!.post(
          path,
          newService(`once-${i}`, { type: 'NodePort', ipFamilyPolicy: 'RequireDualStack' }),
        ),
      ),
    )
    for (const answer of made) ok(answer, 201)
    await assertAgree(one)
    await Promise.all(made.map(({ body }, i) => [two, one][i % 2]!.delete(`${path}/${body.metadata.name}`)))
    await assertAgree(two)
  })

  it('of several concurrent requests for the same cluster IP, only one succeeds', async () => {
    const ask = (i: number) =>
      [one, two][i % 2]!.post(
        path,
        newService(`same-${i}`, { type: 'NodePort', clusterIP: '10.96.1.1', ports: [{ port: 80, nodePort: 31111 }] }),
      )
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i)))
    const winners = answers.filter(({ status }) => status === 201)
    assert.equal(winners.length, 1)
    for (const answer of answers.filter(({ status }) => status !== 201))
      refused(answer, 'spec.clusterIPs', /failed to allocate IP 10\.96\.1\.1: provided IP is already allocated/)
    await assertAgree(one)
    const winner = winners[0]!.body.metadata.name
    ok(await two.delete(`${path}/${winner}`))
    // The other server may not have received the deletion yet, but checks an allocation in the store before it rejects
    // the request.
    ok(await one.post(path, newService('next', { type: 'NodePort', clusterIP: '10.96.1.1' })), 201)
    ok(await one.delete(`${path}/next`))
  })

  it('servers killed during many creations and deletions leave no lost or duplicate allocations', async () => {
    const rounds = long ? 200 : 60
    let begun = 0
    const work = async (worker: number) => {
      while (begun < rounds) {
        const name = `round-${begun++}`
        const client = [one, two][worker % 2]!
        // If the response was lost, the Service may or may not exist. The same applies to deletions.
        const made = await client.post(path, newService(name, { type: 'NodePort' })).catch(() => undefined)
        if (made?.status !== 201 || worker % 5 === 0) continue
        await client.delete(`${path}/${name}`).catch(() => undefined)
      }
    }
    const working = Promise.all(Array.from({ length: atOnce }, (_, i) => work(i)))
    for (const server of servers) {
      const from = begun
      while (begun < Math.min(rounds, from + 30)) await new Promise(setImmediate)
      await server.kill()
      await server.restart()
    }
    await working
    await assertAgree(one)
    await assertAgree(two)
    for (const server of servers) assert.doesNotMatch(server.output(), /no object holds|objects hold/)
    ok(await one.delete(`${path}?labelSelector=test`))
  })

  it('a dry run allocates nothing but shows a possible result', async () => {
    const before = await held()
    const asked = newService('dry', {
      type: 'NodePort',
      clusterIP: '10.96.1.2',
      ports: [{ port: 80, nodePort: 31112 }],
    })
    assert.equal(ok(await one.post(`${path}?dryRun=All`, asked), 201).body.spec.clusterIP, '10.96.1.2')
    const { spec } = ok(await one.post(`${path}?dryRun=All`, newService('dry', { type: 'NodePort' })), 201).body
    assert.match(spec.clusterIP, /^10\.96\./)
    assert.ok(spec.ports[0].nodePort >= 30000)
    assert.deepEqual(await held(), before)
    ok(await two.post(path, asked), 201)
    const all = await held()
    refused(
      await one.post(`${path}?dryRun=All`, { ...asked, metadata: { name: 'other' } }),
      'spec.clusterIPs',
      /already/,
    )
    ok(
      await one.send(`${path}/dry?dryRun=All`, {
        method: 'PATCH',
        body: { spec: { type: 'ClusterIP' } },
        headers: merge,
      }),
    )
    ok(await one.delete(`${path}/dry?dryRun=All`))
    assert.deepEqual(await held(), all)
    ok(await one.delete(`${path}/dry`))
    assert.deepEqual(await held(), before)
  })

  it('rejected, invalid and conflicting requests allocate nothing', async () => {
    ok(await one.post(path, newService('there', { type: 'NodePort' })), 201)
    const before = await held()
    assert.equal((await two.post(path, newService('there', { type: 'NodePort' }))).status, 409)
    assert.equal((await two.post(path, newService('Bad', { type: 'NodePort' }))).status, 422)
    assert.equal((await two.post(path, newService('bad', { type: 'NodePort', ports: [{ port: 0 }] }))).status, 422)
    assert.equal((await two.post('/api/v1/namespaces/none/services', newService('a'))).status, 404)
    refused(
      await two.post(path, newService('out', { clusterIP: '10.0.0.1' })),
      'spec.clusterIPs',
      /not in the valid range/,
    )
    const taken = { type: 'NodePort', ports: [{ port: 80, nodePort: 29999 }] }
    refused(
      await two.post(path, newService('out', taken)),
      'spec.ports[0].nodePort',
      /The range of valid ports is 30000-32767/,
    )
    const stale = {
      metadata: { name: 'there', resourceVersion: '1' },
      spec: { type: 'NodePort', ports: [{ port: 81 }] },
    }
    assert.equal((await two.put(`${path}/there`, stale)).status, 409)
    assert.equal((await patch(two, 'there', { spec: { ports: [{ port: 80 }, { port: 81 }] } })).status, 422)
    assert.deepEqual(await held(), before)
    ok(await one.delete(`${path}/there`))
  })

  it('an update allocates the addresses and node ports it adds and releases those it removes', async () => {
    const steps: readonly object[] = [
      { type: 'NodePort' },
      {
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b' },
        ],
      },
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      { ipFamilyPolicy: 'RequireDualStack' },
      { ports: [{ port: 80, name: 'a' }] },
      { externalTrafficPolicy: 'Cluster' },
      { ipFamilyPolicy: 'SingleStack' },
      { type: 'ClusterIP' },
      { type: 'ExternalName', externalName: 'a.example' },
      { type: 'ClusterIP', externalName: null },
    ]
    ok(await one.post(path, newService('moves')), 201)
    const counts: number[] = []
    for (const [i, spec] of steps.entries()) {
      const { body } = ok(await patch([one, two][i % 2]!, 'moves', { spec }))
      const own = (await held()).filter((claim) => claim.endsWith(' default/moves'))
      assert.deepEqual(own, heldBy(body).sort())
      counts.push(own.length)
    }
    assert.deepEqual(counts, [2, 3, 4, 5, 4, 3, 2, 1, 0, 1])
    ok(await one.delete(`${path}/moves`))
  })

  it('a Service with a finalizer keeps its allocations until the Service is removed', async () => {
    const before = await held()
    const { body } = ok(await one.post(path, newService('stays')), 201)
    ok(await patch(one, 'stays', { metadata: { finalizers: ['example.com/wait'] } }))
    ok(await two.delete(`${path}/stays`))
    assert.deepEqual(await held(), [...before, ...heldBy(body)].sort())
    // This update releases the allocations, regardless of its other changes.
    ok(await patch(one, 'stays', { metadata: { finalizers: null }, spec: { type: 'NodePort' } }))
    assert.deepEqual(await held(), before)
  })

  it('a Service with more node ports than one transaction can allocate is rejected', async () => {
    const ports = (count: number) => Array.from({ length: count }, (_, i) => ({ port: i + 1, name: `p${i}` }))
    const before = await held()
    refused(await one.post(path, newService('vast', { type: 'NodePort', ports: ports(1000) })), 'spec', /Too many/)
    ok(await one.post(path, newService('vast', { type: 'NodePort', ports: ports(999) })), 201)
    ok(await two.post(path, newService('next', { type: 'NodePort', ports: ports(150) })), 201)
    await assertAgree(two)
    ok(await patch(two, 'vast', { spec: { ports: ports(400) } }))
    await assertAgree(one)
    for (const name of ['vast', 'next']) ok(await two.delete(`${path}/${name}`))
    assert.deepEqual(await held(), before)
  })

  it('deletecollection releases all allocations', async () => {
    const before = await held()
    for (let i = 0; i < 5; i++) ok(await one.post(path, { ...newService(`many-${i}`, { type: 'NodePort' }) }), 201)
    ok(await two.delete(`${path}?labelSelector=test`))
    assert.deepEqual(await held(), before)
  })

  it('inconsistent allocations are repaired at the next start, and nothing else changes', async () => {
    ok(await one.post(path, newService('sound', { type: 'NodePort' })), 201)
    const { body } = ok(await one.post(path, newService('lost')), 201)
    const before = await held()
    const key = `claims/cluster-ips-v4/${body.spec.clusterIP}`
    const { revision } = (await store.get(key))!
    await store.commit({ key, expected: revision, value: undefined })
    const orphans = ['claims/node-ports/32222', 'claims/cluster-ips-v4/10.96.2.2']
    const holders = ['objects/core/services/default/gone', 'objects/core/services/default/sound']
    for (const [i, orphan] of orphans.entries())
      await store.commit({ key: orphan, expected: 0, value: Buffer.from(holders[i]!) })
    assert.notDeepEqual(await held(), before)
    await servers[0]!.stop()
    await servers[0]!.restart()
    for (let tries = 0; tries < 1000 && (await held()).join() !== before.join(); tries++) await one.get('/readyz')
    assert.deepEqual(await held(), before)
    ok(await two.post(path, newService('freed', { type: 'NodePort', ports: [{ port: 80, nodePort: 32222 }] })), 201)
    for (const name of ['sound', 'lost', 'freed']) ok(await one.delete(`${path}/${name}`))
  })
})

test('deleting a namespace releases all allocations', async (t) => {
  const client = (await serveUp(t, ['--service-cluster-ip-range=10.5.0.0/29'])).client()
  for (let round = 0; round < 3; round++) {
    const name = `round-${round}`
    ok(await client.post('/api/v1/namespaces', { metadata: { name } }), 201)
    for (let i = 0; i < 4; i++) ok(await client.post(`/api/v1/namespaces/${name}/services`, newService(`s${i}`)), 201)
    const { body } = await client.get('/api/v1/namespaces')
    const from = `/api/v1/namespaces?watch=1&resourceVersion=${body.metadata.resourceVersion}`
    const gone = client.watch(from, AbortSignal.timeout(120_000))
    await client.delete(`/api/v1/namespaces/${name}`)
    for await (const { type, object } of gone) if (type === 'DELETED' && object.metadata.name === name) break
  }
})

test('the exhaustion of a Service CIDR is reported, and released addresses are reused', async (t) => {
  const server = await serve(t, ['--service-cluster-ip-range=10.5.0.0/29', '--service-node-port-range=30000-30003'])
  const client = server.client()
  const own = (ok(await client.get('/api/v1/services')).body.items as Service[]).flatMap(
    ({ spec }) => spec.clusterIPs ?? [],
  )
  const range = Array.from({ length: 6 }, (_, i) => `10.5.0.${i + 1}`).filter((ip) => !own.includes(ip))
  const got = new Set<string>()
  for (const i of range.keys()) got.add(ok(await client.post(path, newService(`s${i}`)), 201).body.spec.clusterIP)
  assert.deepEqual([...got].sort(), range)
  refused(await client.post(path, newService('full')), 'spec.clusterIPs', /range is full/)
  for (const [i, ip] of [...got].entries()) {
    const { body } = ok(await client.delete(`${path}/s${i}`))
    assert.equal(body.spec.clusterIP, ip)
    assert.equal(ok(await client.post(path, newService(`s${i}`)), 201).body.spec.clusterIP, ip)
  }

  const ports = [1, 2, 3, 4].map((port) => ({ port, name: `p${port}` }))
  ok(await patch(client, 's0', { spec: { type: 'NodePort', ports } }))
  refused(await patch(client, 's1', { spec: { type: 'NodePort' } }), 'spec.ports[0].nodePort', /range is full/)
  ok(await patch(client, 's0', { spec: { ports: ports.slice(1) } }))
  ok(await patch(client, 's1', { spec: { type: 'NodePort' } }))
  await server.restart()
  refused(await client.post(path, newService('full')), 'spec.clusterIPs', /range is full/)
  refused(await patch(client, 's2', { spec: { type: 'NodePort' } }), 'spec.ports[0].nodePort', /range is full/)
})
