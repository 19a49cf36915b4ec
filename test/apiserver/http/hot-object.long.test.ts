/**
 * One object that everybody changes at once: every change that names no version is carried out, each on top of the one
 * before it, on one server and on two. Who leaves while waiting changes nothing.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ClientRequest } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import { request } from 'node:https'
import { test } from 'node:test'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { type Restartable, serve } from '../../support/in-process.ts'

const path = '/api/v1/namespaces/default/configmaps'
const hot = `${path}/hot`

async function makeHot(client: HttpClient): Promise<void> {
  assert.equal((await client.post(path, { metadata: { name: 'hot' } })).status, 201)
}

/** As many clients as are needed for so many requests at once. */
function clientsOf(server: Restartable, requests: number): HttpClient[] {
  return Array.from({ length: Math.ceil(requests / 64) }, () => server.client())
}

function merge(client: HttpClient, key: string, query = ''): Promise<Answer> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  return client.send(`${hot}${query}`, { method: 'PATCH', headers, body: { data: { [key]: 'v' } } })
}

function apply(client: HttpClient, key: string): Promise<Answer> {
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'hot' }, data: { [key]: 'v' } }
  return client.send(`${hot}?fieldManager=${key}`, { method: 'PATCH', headers, body })
}

function counts(answers: readonly Answer[]): { [status: string]: number } {
  const all: { [status: string]: number } = {}
  for (const { status } of answers) all[status] = (all[status] ?? 0) + 1
  return all
}

async function keysOf(client: HttpClient): Promise<string[]> {
  return Object.keys((await client.get(hot)).body.data ?? {})
}

test('240 changes at once are all carried out', async (t) => {
  const server = await serve(t)
  const clients = clientsOf(server, 240)
  await makeHot(clients[0]!)
  const answers = await Promise.all(
    Array.from({ length: 240 }, (_, i) => (i % 6 === 0 ? apply : merge)(clients[i % clients.length]!, `k${i}`)),
  )
  assert.deepEqual(counts(answers), { 200: 240 })
  assert.equal((await keysOf(clients[0]!)).length, 240)
  const versions = new Set(answers.map(({ body }) => body.metadata.resourceVersion))
  assert.equal(versions.size, 240)
})

test('amid many changes a deletion has its turn, and of those who name one version one wins', async (t) => {
  const server = await serve(t)
  const clients = clientsOf(server, 200)
  const [client] = clients as [HttpClient]
  await makeHot(client)
  const present = (await client.get(hot)).body
  const named = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.put(hot, { ...present, data: { [i]: '' } })),
  )
  assert.deepEqual(counts(named), { 200: 1, 409: 19 })
  const storm = Array.from({ length: 200 }, (_, i) => merge(clients[i % clients.length]!, `k${i}`))
  const stale = await client.put(hot, present)
  assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict'])
  const deleted = await client.delete(hot)
  assert.equal(deleted.status, 200)
  assert.deepEqual(
    Object.keys(counts(await Promise.all(storm))).filter((status) => !['200', '404'].includes(status)),
    [],
  )
  assert.equal((await client.get(hot)).status, 404)
})

test('two servers on one etcd carry out all changes of both; who leaves while waiting changes nothing', async (t) => {
  const cluster = await startEtcd()
  t.after(() => cluster.stop())
  const start = () => serve(t, [`--etcd-servers=${cluster.endpoints}`])
  const servers = await Promise.all([start(), start()])
  const clients = servers.map((server) => server.client())
  await makeHot(clients[0]!)
  const answers = await Promise.all(Array.from({ length: 120 }, (_, i) => merge(clients[i % 2]!, `k${i}`)))
  assert.deepEqual(counts(answers), { 200: 120 })
  assert.equal((await keysOf(clients[1]!)).length, 120)

  await leavers(cluster, servers[0]!)
  assert.equal((await merge(clients[0]!, 'last')).status, 200)
  const keys = await keysOf(clients[1]!)
  assert.deepEqual(
    ['last', 'late', 'left'].filter((key) => keys.includes(key)),
    ['last'],
  )
})

/** While etcd does not answer one has the turn; of those who wait for it one runs out of time and one leaves. */
async function leavers(cluster: Cluster, server: Restartable): Promise<void> {
  const { server: url, authority } = server.credentials()
  const session = connect(url, { ca: authority as string })
  // On one connection requests come in the order in which they were sent.
  cluster.signal(0, 'SIGSTOP')
  const first = statusOf(session, hot, 'first')
  await statusOf(session, `${hot}?resourceVersion=0`)
  const left = leaving(server, 'left')
  assert.equal(await statusOf(session, `${hot}?timeout=500ms`, 'late'), 504)
  left.destroy()
  // Long enough for the server to hear of it.
  await statusOf(session, `${hot}?timeout=200ms`, 'another')
  cluster.signal(0, 'SIGCONT')
  await first
  session.close()
}

/** The same patch by a client of its own, who will not wait for the answer. */
function leaving(server: Restartable, key: string): ClientRequest {
  const { server: url, authority } = server.credentials()
  const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/merge-patch+json' }
  const outgoing = request(`${url}${hot}`, { method: 'PATCH', headers, ca: authority as string })
  outgoing.on('error', () => {}) // it is destroyed before it is answered
  outgoing.end(JSON.stringify({ data: { [key]: 'v' } }))
  return outgoing
}

/** Sends a merge patch that sets a key, or a GET, and waits for the status of the answer. */
async function statusOf(session: ClientHttp2Session, target: string, key?: string): Promise<number> {
  const patch = { ':method': 'PATCH', 'content-type': 'application/merge-patch+json' }
  const headers = { ':path': target, authorization: 'Bearer admin-token', ...(key === undefined ? {} : patch) }
  const stream = session.request(headers, { endStream: key === undefined })
  if (key !== undefined) stream.end(JSON.stringify({ data: { [key]: 'v' } }))
  const [answer] = await once(stream, 'response')
  stream.resume()
  return answer[':status']
}
