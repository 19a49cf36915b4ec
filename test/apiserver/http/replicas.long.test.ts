/**
 * Tests that two servers on one etcd behave as one API. A paged list can continue on the other server, a watch on one
 * server reports the writes of the other, and versions have the same meaning on both. The servers report limits and
 * outages of etcd, and recover from them.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Cluster, freePorts, makeStrangerTls, startEtcd } from '../../support/etcd.ts'
import type { HttpClient, WatchEvent } from '../../support/http-client.ts'
import { embedded, serve, startInProcess } from '../../support/in-process.ts'
import { root, type ServerHandle, startServer } from '../../support/server.ts'
import { startProxy, type Proxy as Wire } from '../../support/tcp-proxy.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const deadlineMs = 10_000
/** Additional time that a process may take on a busy machine. */
const slackMs = 60_000

const owner = endOfFile()

let cluster: Cluster
let servers: ServerHandle[]
let one: HttpClient
let two: HttpClient
/**
 * A client of a third server, which connects to etcd through a proxy that tests can break. `mended` restores the proxy.
 */
let wired: HttpClient
let wire: Wire
let secure: Cluster

before(async () => {
  cluster = await startEtcd()
  owner.after(() => cluster.stop())
  secure = await startEtcd({ tls: true })
  owner.after(() => secure.stop())
  wire = await startProxy(cluster.endpoints[0]!)
  owner.after(() => wire.close())
  const start = (endpoints: string) => startServer(owner, [`--etcd-servers=${endpoints}`, '--history-retention=1h'])
  const [behindWire, ...others] = await Promise.all(
    [wire.endpoint, `${cluster.endpoints}`, `${cluster.endpoints}`].map(start),
  )
  servers = others
  one = servers[0]!.client()
  two = servers[1]!.client()
  wired = behindWire!.client()
})

/** Restores the proxy of the third server and returns a client of that server. */
async function mended(): Promise<HttpClient> {
  wire.set('cut')
  wire.set('pass')
  await ready(wired)
  return wired
}

const pathOf = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`

async function makeNamespace(name: string): Promise<string> {
  assert.equal((await one.post('/api/v1/namespaces', { metadata: { name } })).status, 201)
  return pathOf(name)
}

async function put(client: HttpClient, path: string, name: string, value: string): Promise<number> {
  const body = { metadata: { name }, data: { value } }
  const made = await client.post(path, body)
  const answer = made.status === 409 ? await client.put(`${path}/${name}`, body) : made
  assert.ok(answer.status < 300, answer.text)
  return Number(answer.body.metadata.resourceVersion)
}

async function remove(client: HttpClient, path: string, name: string): Promise<void> {
  assert.equal((await client.delete(`${path}/${name}`)).status, 200)
}

type State = { readonly [name: string]: string }

interface Item {
  readonly metadata: { readonly name: string }
  readonly data: { readonly value: string }
}

function stateOf(items: readonly Item[]): State {
  return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data.value]))
}

async function read(client: HttpClient, path: string): Promise<State> {
  const answer = await client.get(path)
  assert.equal(answer.status, 200, answer.text)
  return stateOf(answer.body.items)
}

/** Returns the first `count` events of a watch that starts at a version. */
async function events(client: HttpClient, path: string, version: number, count: number): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = []
  const signal = AbortSignal.timeout(deadlineMs + 2 * slackMs)
  for await (const event of client.watch(`${path}?watch=1&resourceVersion=${version}`, signal)) {
    seen.push(event)
    if (seen.length === count) return seen
  }
  return assert.fail(`only ${seen.length} of ${count} events came`)
}

const versionOf = ({ object }: WatchEvent) => Number(object.metadata.resourceVersion)

describe('two servers on one etcd', { timeout: 300_000 }, () => {
  it('both servers report the same history of an object, whichever server wrote it', async () => {
    const path = await makeNamespace('history')
    const writers = [one, two, one, two]
    for (const [i, client] of writers.entries()) await put(client, path, 'a', `v${i}`)
    await remove(two, path, 'a')
    const spec = { resource: 'configmaps', namespace: 'history', name: 'a' }
    const ask = async (client: HttpClient, kind: string, more: object) => {
      const answer = await client.post(`/apis/ops.orch.io/v1/${kind}`, { spec: { ...spec, ...more } })
      assert.equal(answer.status, 201, answer.text)
      return answer.body.status
    }
    const { revisions, oldest } = await ask(one, 'objecthistories', {})
    assert.deepEqual(
      revisions.map(({ verb, user }: { verb: string; user?: string }) => [verb, typeof user]),
      ['delete', 'update', 'update', 'update', 'create'].map((verb) => [verb, 'string']),
    )
    assert.deepEqual(await ask(two, 'objecthistories', {}), { revisions, oldest })
    for (const [i, { revision }] of revisions.slice(1).toReversed().entries())
      assert.equal((await ask(two, 'paststates', { revision })).items[0].data.value, `v${i}`)
  })

  it('pages read from both servers in turn form one snapshot despite concurrent writes', async () => {
    const path = await makeNamespace('pages')
    const names = Array.from({ length: 40 }, (_, i) => `m-${String(i).padStart(2, '0')}`)
    await Promise.all(names.map((name) => put(one, path, name, 'before')))
    const items: Item[] = []
    const versions = new Set<string>()
    let token = ''
    for (let page = 0; page === 0 || token !== ''; page++) {
      assert.ok(page < 20)
      const client = page % 2 === 0 ? one : two
      const { body } = await client.get(`${path}?limit=6&continue=${encodeURIComponent(token)}`)
      items.push(...body.items)
      versions.add(body.metadata.resourceVersion)
      token = body.metadata.continue ?? ''
      assert.equal(body.metadata.remainingItemCount ?? 0, names.length - items.length)
      const writer = page % 2 === 0 ? two : one
      await put(writer, path, `m-${page}0-new`, 'new')
      await put(writer, path, names[39 - page]!, 'after')
      await remove(writer, path, names[30 - page]!)
    }
    assert.equal(versions.size, 1)
    assert.deepEqual(stateOf(items), Object.fromEntries(names.map((name) => [name, 'before'])))
  })

  it('a watch on one server reports writes through the other server, and can be resumed there', async () => {
    const path = await makeNamespace('watched')
    const start = await put(one, path, 'first', '0')
    const watching = events(two, path, start, 20)
    const written: number[] = []
    for (let i = 0; i < 20; i++) written.push(await put(i % 3 === 0 ? two : one, path, `m-${i % 4}`, String(i)))
    const seen = await watching
    assert.deepEqual(seen.map(versionOf), written)
    for (const at of [0, 7, 18]) {
      const resumed = await events(at % 2 === 0 ? one : two, path, versionOf(seen[at]!), 19 - at)
      assert.deepEqual(resumed, seen.slice(at + 1))
    }
  })

  it('each server can list the exact state at a resourceVersion that the other server returned', async () => {
    const path = await makeNamespace('exact')
    const states: [number, State][] = []
    let state: State = {}
    for (let i = 0; i < 12; i++) {
      const name = `m-${i % 5}`
      state = { ...state, [name]: String(i) }
      states.push([await put(one, path, name, String(i)), state])
    }
    for (const [version, expected] of states.toReversed()) {
      const exact = `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`
      assert.deepEqual(await read(two, exact), expected)
      assert.deepEqual(await read(one, exact), expected)
    }
  })

  it('each server immediately returns writes made through the other server', async () => {
    const path = await makeNamespace('fresh')
    for (let i = 0; i < 20; i++) {
      const [writer, reader] = i % 2 === 0 ? [one, two] : [two, one]
      const version = await put(writer, path, 'm', String(i))
      const notOlder = `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`
      const answers = await Promise.all([
        reader.get(`${path}?${notOlder}`),
        reader.get(path),
        reader.get(`${path}/m`),
        reader.get(`${path}/m?resourceVersion=${version}`),
      ])
      for (const { status, body } of answers) {
        assert.equal(status, 200)
        assert.equal((body.items?.[0] ?? body).data.value, String(i))
      }
    }
  })

  it('a write is checked against acknowledged writes of the other server that are not cached yet', async () => {
    const path = await makeNamespace('turns')
    const slow = await mended()
    await put(slow, path, 'm', 'begin')
    wire.set('slow')
    const body = (value: string, resourceVersion?: string) => ({
      metadata: { name: 'm', ...(resourceVersion && { resourceVersion }) },
      data: { value },
    })
    const change = async (value: string) => (await one.put(`${path}/m`, body(value))).body.metadata.resourceVersion
    const named = await slow.put(`${path}/m`, body('named', await change('a')))
    assert.equal(named.status, 200, named.text)
    const first = await change('b')
    const second = await change('c')
    assert.equal((await slow.put(`${path}/m`, body('late', first))).status, 409)
    assert.equal((await slow.put(`${path}/m`, body('c'))).body.metadata.resourceVersion, second)
    const dry = await slow.put(`${path}/m?dryRun=All`, body('dry', await change('d')))
    assert.equal(dry.status, 200, dry.text)
    const third = await change('e')
    const free = await slow.put(`${path}/m`, body('free'))
    assert.ok(Number(free.body.metadata.resourceVersion) > Number(third), free.text)
    await remove(one, path, 'm')
    assert.equal((await slow.put(`${path}/m`, body('gone'))).status, 404)
    await put(one, path, 'm', 'again')
    const again = await slow.put(`${path}/m`, body('back'))
    assert.equal(again.status, 200, again.text)
  })

  it('no object can be created in a namespace that the other server has started to delete', async () => {
    const slow = await mended()
    const path = await makeNamespace('going')
    await put(slow, path, 'early', 'x')
    wire.set('slow')
    assert.equal((await one.delete('/api/v1/namespaces/going')).status, 200)
    const answer = await slow.post(path, { metadata: { name: 'm' } })
    assert.equal(answer.status, 403, answer.text)
    assert.equal((await one.get(`${path}/m`)).status, 404)
    // A namespace that was updated rather than deleted remains usable.
    const other = await makeNamespace('changing')
    await put(slow, other, 'early', 'x')
    const changed = await one.put('/api/v1/namespaces/changing', { metadata: { name: 'changing', labels: { a: 'b' } } })
    assert.equal(changed.status, 200, changed.text)
    const added = await slow.post(other, { metadata: { name: 'm' } })
    assert.equal(added.status, 201, added.text)
  })

  it('a server that receives no updates from etcd does not serve consistent reads from its cache', async () => {
    const path = await makeNamespace('deaf')
    const deaf = await mended()
    await put(deaf, path, 'm', 'old')
    // The server has received its own write before its proxy stops forwarding responses.
    assert.deepEqual(await read(deaf, path), { m: 'old' })
    wire.set('mute')
    const version = await put(one, path, 'm', 'new')
    const notOlder = `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`
    const reads = ['', '/m', `?${notOlder}`, `/m?resourceVersion=${version}`].map((read) => {
      return deaf.get(`${path}${read}${read.includes('?') ? '&' : '?'}timeout=1s`)
    })
    for (const { status, text } of await Promise.all(reads)) assert.ok(status === 503 || status === 504, text)
    assert.deepEqual(await read(deaf, `${path}?resourceVersion=0`), { m: 'old' })
    wire.set('cut')
    wire.set('pass')
    await ready(deaf)
    assert.deepEqual(await read(deaf, path), { m: 'new' })
  })

  it('both servers accept resourceVersions from a newly started third server, even after a write by another program', async () => {
    const pair = { key: Buffer.from('/elsewhere').toString('base64'), value: '' }
    const written = await fetch(`${cluster.endpoints[0]}/v3/kv/put`, { method: 'POST', body: JSON.stringify(pair) })
    assert.equal(written.status, 200)
    const third = (await serve(owner, [`--etcd-servers=${cluster.endpoints}`])).client()
    const { body } = await third.get('/api/v1/namespaces')
    const version = body.metadata.resourceVersion
    for (const client of [one, two]) {
      for (const match of ['NotOlderThan', 'Exact']) {
        const answer = await client.get(`/api/v1/namespaces?resourceVersion=${version}&resourceVersionMatch=${match}`)
        assert.equal(answer.status, 200, answer.text)
        assert.deepEqual(answer.body.items, body.items)
      }
    }
  })

  it("a server whose profile differs from the store's profile does not start", async () => {
    const failed = await failedStart([`--etcd-servers=${cluster.endpoints}`, '--profile=kubernetes'])
    assert.equal(failed.code, 1)
    assert.match(failed.said, /created with the profile "orch".*start with --profile=orch/)
  })

  it('the largest Secret and a ConfigMap with 1,000 keys are stored in etcd, and larger objects get a 413', async () => {
    const own = await startInProcess(allKinds, [], embedded)
    owner.after(() => own.stop())
    for (const client of [one, own.client]) {
      const secrets = '/api/v1/namespaces/default/secrets'
      const value = Buffer.alloc(1024 * 1024, 'x')
      const secret = await client.post(secrets, { metadata: { name: 'large' }, data: { v: value.toString('base64') } })
      assert.equal(secret.status, 201, secret.text.slice(0, 500))
      const more = await client.post(secrets, {
        metadata: { name: 'x' },
        data: { v: value.toString('base64'), w: 'AAAA' },
      })
      assert.equal(more.status, 422, more.text.slice(0, 500))
      const data = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key-${i}`, 'v'.repeat(900)]))
      const map = await client.post(pathOf('default'), { metadata: { name: 'many' }, data })
      assert.equal(map.status, 201, map.text.slice(0, 500))
    }
    assert.deepEqual(Object.keys((await two.get(`${pathOf('default')}/many`)).body.data).length, 1000)
    assert.equal((await two.get('/api/v1/namespaces/default/secrets/large')).body.data.v.length, 1398104)
    const annotations = { large: 'x'.repeat(256 * 1024 - 10) }
    const data = { v: Buffer.alloc(1024 * 1024, 'x').toString('base64') }
    const body = { metadata: { name: 'too-large', annotations }, data }
    const answer = await one.post('/api/v1/namespaces/default/secrets', body)
    assert.equal(answer.status, 413, answer.text.slice(0, 500))
    assert.equal(answer.body.reason, 'RequestEntityTooLarge')
    assert.equal((await two.get('/api/v1/namespaces/default/secrets/too-large')).status, 404)
  })
})

describe('an unavailable etcd', { timeout: 300_000, concurrency: true }, () => {
  it('an unreachable etcd or an untrusted certificate is reported at startup within the deadline', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-replicas-'))
    owner.after(async () => rmSync(directory, { recursive: true, force: true }))
    const [port] = await freePorts(1)
    const file = (name: string, content: Buffer) => {
      writeFileSync(join(directory, name), content)
      return join(directory, name)
    }
    const { ca } = await makeStrangerTls()
    const { cert, key } = secure.tls!
    const identity = [`--etcd-certfile=${file('c.crt', cert)}`, `--etcd-keyfile=${file('c.key', key)}`]
    const started = performance.now()
    const [nowhere, stranger] = await Promise.all([
      failedStart([`--etcd-servers=http://127.0.0.1:${port}`]),
      failedStart([`--etcd-servers=${secure.endpoints}`, `--etcd-cafile=${file('ca.crt', ca)}`, ...identity]),
    ])
    assert.ok(performance.now() - started < deadlineMs + slackMs)
    assert.equal(nowhere.code, 1, nowhere.said)
    assert.match(nowhere.said, /^orch: .*no usable etcd member: .*ECONNREFUSED.*check that it is running/m)
    assert.equal(stranger.code, 1, stranger.said)
    assert.match(stranger.said, /^orch: .*certificate is not trusted.*check that it is running/m)
    for (const { said, ended } of [nowhere, stranger]) {
      assert.doesNotMatch(said, /\n\s+at /)
      // The log contains the reason for the wait long before the server gives up.
      const [, told] = /^(\S+) warning waiting for etcd: .*(?:ECONNREFUSED|not trusted).*check that it is running/.exec(
        said,
      )!
      assert.ok(Date.parse(told!) < ended - deadlineMs / 2, said)
    }
  })

  it('reads and writes fail within the deadline during an etcd outage, and succeed after it', async () => {
    const path = await makeNamespace('outage')
    await put(one, path, 'n', 'before')
    const start = await put(one, path, 'm', 'before')
    // Watch only this object, because an abandoned write to another object may still take effect once the store is
    // back.
    const watching = events(one, `${path}/m`, start, 1)
    await cluster.kill(0)
    const started = performance.now()
    const answers = Promise.all([
      one.post(path, { metadata: { name: 'lost' } }),
      one.put(`${path}/n`, { metadata: { name: 'n' }, data: { value: 'lost' } }),
      one.delete(`${path}/n`),
      one.get(path),
      one.get(`${path}/m`),
      two.get(`${path}?timeout=2s`),
      two.post(`${path}?timeout=2s`, { metadata: { name: 'lost' } }),
    ])
    for (const server of [one, two]) {
      assert.equal((await server.get('/livez')).status, 200)
      assert.equal((await server.get('/readyz')).status, 503)
      assert.match((await server.get('/readyz?verbose')).text, /\[-\]store failed: the store does not respond/)
      // The server still serves reads that may be outdated.
      assert.deepEqual(await read(server, `${path}?resourceVersion=0`), { m: 'before', n: 'before' })
    }
    for (const { status, text } of await answers) assert.ok(status === 503 || status === 504, `${status} ${text}`)
    assert.ok(performance.now() - started < deadlineMs + slackMs)

    await cluster.restart(0)
    for (const [i, server] of servers.entries()) {
      await ready([one, two][i]!)
      assert.equal(server.process.exitCode, null)
    }
    const back = await put(two, path, 'm', 'after')
    assert.deepEqual((await watching).map(versionOf), [back])
    assert.equal((await one.get(`${path}/m`)).body.data.value, 'after')
  })
})

async function ready(client: HttpClient): Promise<void> {
  const deadline = performance.now() + slackMs
  while ((await client.get('/readyz')).status !== 200) {
    assert.ok(performance.now() < deadline, 'not ready again')
    await delay(50)
  }
}

/** Returns the exit code and output of a failed start. */
async function failedStart(flags: readonly string[]): Promise<{ code: number | null; said: string; ended: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-replicas-'))
  const own = ['--secure-port=0', `--data-dir=${directory}/data`, '--admin-kubeconfig=']
  const child = spawn(join(root, 'bin/orch'), ['apiserver', ...own, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs + slackMs)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  rmSync(directory, { recursive: true, force: true })
  return { code, said, ended: Date.now() }
}
