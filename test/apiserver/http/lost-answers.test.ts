/**
 * Tests writes whose response from the store is lost. If the outcome can be determined, the client receives it.
 * Otherwise, the client receives a 504 without Retry-After, because clients automatically repeat a request if the
 * response has this header (client-go repeats every verb up to ten times). Each test has its own server, with a proxy
 * to etcd that loses responses.
 */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { MessagePort } from 'node:worker_threads'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import type { Answer, HttpClient, WatchEvent } from '../../support/http-client.ts'
import { embedded, serve, startInProcess } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { longTest } from '../../support/long.ts'
import { type Ending, type ServerHandle, startServer } from '../../support/server.ts'
import { startProxy, type Proxy as Wire } from '../../support/tcp-proxy.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const owner = endOfFile()
const path = '/api/v1/namespaces/default/configmaps'

let cluster: Cluster
/** A client of a server that never loses a response from etcd. */
let witness: HttpClient

before(async () => {
  cluster = await startEtcd()
  owner.after(() => cluster.stop())
  witness = (await serve(owner, [`--etcd-servers=${cluster.endpoints}`])).client()
})

interface Wired {
  readonly server: ServerHandle
  readonly client: HttpClient
  readonly wire: Wire
}

async function startWired(t: Ending): Promise<Wired> {
  const wire = await startProxy(cluster.endpoints[0]!)
  t.after(() => wire.close())
  const server = await startServer(t, [`--etcd-servers=${wire.endpoint}`])
  return { server, client: server.client(), wire }
}

/**
 * Collects the events about objects with this label until the test ends. The events come from the server that never
 * loses responses.
 */
async function follow(t: Ending, label: string): Promise<{ seen: WatchEvent[]; until(count: number): Promise<void> }> {
  const { body } = await witness.get(path)
  const stop = new AbortController()
  t.after(async () => stop.abort())
  const query = `watch=1&labelSelector=${label}&resourceVersion=${body.metadata.resourceVersion}`
  const seen: WatchEvent[] = []
  const waiting = new Set<() => void>()
  const reading = (async () => {
    for await (const event of witness.watch(`${path}?${query}`, stop.signal)) {
      seen.push(event)
      for (const wake of waiting) wake()
    }
    throw new Error(`the watch of the witness ended after ${seen.length} events`)
  })()
  // Waiting readers get the error, but at the end of the test there may be none.
  reading.catch(() => {})
  return {
    seen,
    async until(count) {
      while (seen.length < count) await Promise.race([new Promise<void>((wake) => void waiting.add(wake)), reading])
    },
  }
}

/** Waits until the request has reached etcd, loses the response, and restores the connection. */
async function loseAnswer({ wire }: Wired, happened: Promise<void>): Promise<void> {
  await happened
  wire.set('cut')
  wire.set('pass')
}

function assertUnknown({ status, headers, text, body }: Answer): void {
  assert.equal(status, 504, text)
  assert.equal(body.reason, 'Timeout')
  assert.equal(headers['retry-after'], undefined)
  assert.equal(body.details?.retryAfterSeconds, undefined)
}

/**
 * Sends an update with kubectl and loses the response. Returns undefined if no update was sent. This can happen on a
 * busy machine, where kubectl starts slowly: a server that has received nothing from etcd for a while first checks
 * whether its cache is current, and that check gets no response.
 */
async function loseUpdate(t: Ending, wired: Wired, name: string) {
  const labels = { lost: name }
  await witness.post(path, { metadata: { name, labels } })
  // The server must read the object before the proxy stops forwarding. Otherwise, the server would request the object
  // from etcd and get no response.
  assert.equal((await wired.client.get(`${path}/${name}`)).status, 200)
  const { seen, until } = await follow(t, `lost=${name}`)
  wired.wire.set('mute')
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { a: '1' } }
  // With --raw, kubectl sends only this request. Otherwise, it would read the object first.
  const replacing = kubectl(wired.server, ['replace', `--raw=${path}/${name}`, '-f', '-'], JSON.stringify(body))
  const isSent = await Promise.race([until(1).then(() => true), replacing.then(ended, ended)])
  wired.wire.set('cut')
  wired.wire.set('pass')
  if (!isSent) return undefined
  const { code, stderr } = await replacing
  return { code, stderr, happened: seen.length }
}

const ended = () => false

describe('writes whose etcd response is lost', { timeout: 300_000, concurrency: true }, () => {
  it('a kubectl create with a generated name creates exactly one object', async (t) => {
    const wired = await startWired(t)
    const { seen, until } = await follow(t, 'lost=create')
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'g-', labels: { lost: 'create' } },
    }
    wired.wire.set('mute')
    const creating = kubectl(wired.server, ['create', '--validate=false', '-f', '-'], JSON.stringify(manifest))
    await loseAnswer(wired, until(1))
    const { code, stdout, stderr } = await creating
    assert.equal(code, 0, stderr)
    assert.equal(stdout, `configmap/${seen[0]!.object.metadata.name} created\n`)
    const { body } = await witness.get(`${path}?labelSelector=lost=create`)
    assert.equal(body.items.length, 1)
  })

  longTest('a create whose response is lost succeeds even if the object was changed meanwhile', async (t) => {
    const wired = await startWired(t)
    const { until } = await follow(t, 'lost=changed')
    wired.wire.set('mute')
    const labels = { lost: 'changed' }
    const creating = wired.client.post(path, { metadata: { name: 'changed', labels } })
    await until(1)
    const changed = await witness.put(`${path}/changed`, { metadata: { name: 'changed', labels }, data: { a: '1' } })
    assert.equal(changed.status, 200)
    await loseAnswer(wired, until(2))
    const { status, body } = await creating
    assert.equal(status, 201)
    assert.equal(body.metadata.uid, changed.body.metadata.uid)
    assert.ok(Number(body.metadata.resourceVersion) < Number(changed.body.metadata.resourceVersion))
  })

  it('an update with an unknown outcome gets a 504 that kubectl does not retry', async (t) => {
    const wired = await startWired(t)
    for (let attempt = 0; ; attempt++) {
      assert.ok(attempt < 5, 'in none of 5 attempts the update was sent to etcd')
      const outcome = await loseUpdate(t, wired, `update-${attempt}`)
      if (outcome === undefined) continue
      assert.equal(outcome.code, 1)
      assert.match(outcome.stderr, /may or may not have been applied/)
      assert.equal(outcome.happened, 1)
      return
    }
  })

  it('an update that loses a race with another writer is retried, or gets a 409 if it specifies a resourceVersion', async (t) => {
    const wired = await startWired(t)
    const versions: string[] = []
    for (const name of ['faster-0', 'faster-1']) {
      const { body } = await witness.post(path, { metadata: { name } })
      versions.push(body.metadata.resourceVersion)
      assert.equal((await wired.client.get(`${path}/${name}`)).status, 200)
    }
    wired.wire.set('deaf')
    const data = { ours: '1' }
    const latest = wired.client.put(`${path}/faster-0`, { metadata: { name: 'faster-0' }, data })
    const named = { name: 'faster-1', resourceVersion: versions[1] }
    const exact = wired.client.put(`${path}/faster-1`, { metadata: named, data })
    // The response proves that the earlier requests have been sent, as in the test below.
    await wired.client.get(`${path}/faster-0?resourceVersion=0`)
    await wired.client.get(`${path}/faster-0?resourceVersion=0`)
    const theirs = []
    for (const name of ['faster-0', 'faster-1'])
      theirs.push(await witness.put(`${path}/${name}`, { metadata: { name }, data: { theirs: '1' } }))
    wired.wire.set('cut')
    wired.wire.set('pass')
    const made = await latest
    const refused = await exact
    assert.equal(made.status, 200, made.text)
    assert.deepEqual(made.body.data, data)
    assert.ok(Number(made.body.metadata.resourceVersion) > Number(theirs[0]!.body.metadata.resourceVersion))
    assert.equal(refused.status, 409, refused.text)
    assert.equal(refused.body.reason, 'Conflict')
    assert.deepEqual((await witness.get(`${path}/faster-1`)).body.data, { theirs: '1' })
  })

  longTest('a write that did not reach etcd is retried', async (t) => {
    const wired = await startWired(t)
    await witness.post(path, { metadata: { name: 'unheard' } })
    const { status } = await wired.client.get(`${path}/unheard`)
    assert.equal(status, 200)
    wired.wire.set('deaf')
    const putting = wired.client.put(`${path}/unheard`, { metadata: { name: 'unheard' }, data: { a: '1' } })
    const creating = wired.client.post(path, { metadata: { name: 'unheard-new' } })
    // The server responds from memory and on another connection, but only after it has received the two requests above.
    // Those requests have therefore been sent.
    await wired.client.get(`${path}/unheard?resourceVersion=0`)
    await wired.client.get(`${path}/unheard?resourceVersion=0`)
    wired.wire.set('cut')
    wired.wire.set('pass')
    assert.equal((await putting).status, 200)
    // A copy of the request might still be in transit.
    const created = await creating
    if (created.status !== 201) assertUnknown(created)
    assert.deepEqual((await witness.get(`${path}/unheard`)).body.data, { a: '1' })
  })

  it('a write that times out gets a 504 without Retry-After', async (t) => {
    const wired = await startWired(t)
    const { until } = await follow(t, 'lost=late')
    wired.wire.set('mute')
    const creating = wired.client.post(`${path}?timeout=1s`, {
      metadata: { generateName: 'l-', labels: { lost: 'late' } },
    })
    await until(1)
    assertUnknown(await creating)
  })

  longTest('a deletecollection that is interrupted halfway gets a 504', async (t) => {
    const wired = await startWired(t)
    const labels = { lost: 'half' }
    const names = Array.from({ length: 100 }, (_, i) => `half-${i}`)
    await Promise.all(names.map((name) => witness.post(path, { metadata: { name, labels } })))
    const { until } = await follow(t, 'lost=half')
    const deleting = wired.client.delete(`${path}?labelSelector=lost=half`)
    await until(1)
    wired.wire.set('cut')
    assertUnknown(await deleting)
    const left = (await witness.get(`${path}?labelSelector=lost=half`)).body.items.length
    assert.ok(left > 0 && left < names.length, `${left} are left`)
  })

  it('a write gets a 504 if the thread of the embedded store dies', async (t) => {
    const { client, stop } = await startInProcess(allKinds, [], embedded)
    t.after(stop)
    killStoreThread(t)
    const names = Array.from({ length: 200 }, (_, i) => `dying-${i}`)
    const answers = await Promise.all(names.map((name) => client.post(path, { metadata: { name } })))
    // Requests that arrived after the thread was known to be dead were never sent to it.
    const open = answers.filter(({ status }) => status !== 201 && status !== 503)
    assert.notEqual(open.length, 0)
    for (const answer of open) assertUnknown(answer)
  })
})

/**
 * Sends an invalid message to the thread before the next write. The resulting error terminates the thread while that
 * write is in transit. (Calling `terminate` in the middle of a transaction can hang forever.)
 */
function killStoreThread(t: Ending): void {
  const { postMessage } = MessagePort.prototype
  const restore = () => {
    MessagePort.prototype.postMessage = postMessage
  }
  t.after(async () => restore())
  MessagePort.prototype.postMessage = function (...args: [message: { type?: string }, options?: object]) {
    if (args[0].type === 'commit') {
      restore()
      postMessage.call(this, null)
    }
    postMessage.apply(this, args)
  }
}
