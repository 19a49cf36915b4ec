/**
 * Tests many concurrent changes to one object. All changes without a resourceVersion succeed one after another, on one
 * server and on two servers. A client that disconnects while its request is waiting changes nothing.
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

/** Creates enough clients for the given number of concurrent requests. */
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

test('240 concurrent changes to one object all succeed', async (t) => {
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

test('a deletion succeeds despite many concurrent changes, and only one of several writes to the same resourceVersion succeeds', async (t) => {
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

test('two servers on one etcd apply all concurrent changes, and a client that disconnects while it waits changes nothing', async (t) => {
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

/**
 * Suspends etcd while a write is in progress. One of the waiting requests times out, and the client of another request
 * disconnects.
 */
async function leavers(cluster: Cluster, server: Restartable): Promise<void> {
  const { server: url, authority } = server.credentials()
  const session = connect(url, { ca: authority as string })
  // Requests on one connection arrive in the order in which they were sent.
  cluster.signal(0, 'SIGSTOP')
  const first = statusOf(session, hot, 'first')
  await statusOf(session, `${hot}?resourceVersion=0`)
  const left = leaving(server, 'left')
  assert.equal(await statusOf(session, `${hot}?timeout=500ms`, 'late'), 504)
  left.destroy()
  // Wait long enough for the server to notice the disconnect.
  await statusOf(session, `${hot}?timeout=200ms`, 'another')
  cluster.signal(0, 'SIGCONT')
  await first
  session.close()
}

/** Sends the same patch from a separate client that does not wait for the response. */
function leaving(server: Restartable, key: string): ClientRequest {
  const { server: url, authority } = server.credentials()
  const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/merge-patch+json' }
  const outgoing = request(`${url}${hot}`, { method: 'PATCH', headers, ca: authority as string })
  outgoing.on('error', () => {}) // destroyed before the response
  outgoing.end(JSON.stringify({ data: { [key]: 'v' } }))
  return outgoing
}

/** Sends a merge patch that sets a key, or a GET, and returns the status of the response. */
async function statusOf(session: ClientHttp2Session, target: string, key?: string): Promise<number> {
  const patch = { ':method': 'PATCH', 'content-type': 'application/merge-patch+json' }
  const headers = { ':path': target, authorization: 'Bearer admin-token', ...(key === undefined ? {} : patch) }
  const stream = session.request(headers, { endStream: key === undefined })
  if (key !== undefined) stream.end(JSON.stringify({ data: { [key]: 'v' } }))
  const [answer] = await once(stream, 'response')
  stream.resume()
  return answer[':status']
}
