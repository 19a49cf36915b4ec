/**
 * Tests that closed watches leave nothing in memory, regardless of how many there were and at which version they
 * started.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { queryObjects } from 'node:v8'
import { configMap } from '../../src/api/kinds/core/config-map.ts'
import { namespace } from '../../src/api/kinds/core/namespace.ts'
import { resourceQuota } from '../../src/api/kinds/core/resource-quota.ts'
import { Exchange } from '../../src/apiserver/http/request/exchange.ts'
import { Http1Transport } from '../../src/apiserver/transport/http1/transport.ts'
import { LogChunk } from '../../src/storage/cache/log-chunks.ts'
import { Watcher } from '../../src/storage/cache/watcher.ts'
import { heapInUse } from '../support/heap.ts'
import { type InProcess, startInProcess } from '../support/in-process.ts'
import { long } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'

const rounds = long ? 200 : 2
const perRound = 40

/** Starts watches from the current and from an old resourceVersion. */
async function openWatches({ port }: InProcess, versions: readonly string[]): Promise<TLSSocket[]> {
  const open = async (i: number) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    await once(socket, 'secureConnect')
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${versions[i % versions.length]}`
    socket.write(`GET ${configMaps}?${query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n\r\n`)
    await once(socket, 'data')
    return socket
  }
  return await Promise.all(Array.from({ length: perRound }, (_, i) => open(i)))
}

function resourceCounts(): { [name: string]: number } {
  const kinds = [Watcher, Exchange, Http1Transport, LogChunk, AbortController]
  return Object.fromEntries(kinds.map((kind) => [kind.name, Number(queryObjects(kind, { format: 'count' }))]))
}

test('closed watches leak no memory', { timeout: 600_000 }, async (t) => {
  const server = await startInProcess([namespace, configMap, resourceQuota])
  t.after(async () => await server.stop())
  const { client } = server
  const made = await client.post(configMaps, { metadata: { name: 'a' }, data: { text: 'x'.repeat(1000) } })
  assert.equal(made.status, 201, made.text)
  const versions = ['', '0', made.body.metadata.resourceVersion]
  const round = async (i: number) => {
    const sockets = await openWatches(server, versions)
    const told = sockets.map((socket) => once(socket, 'data'))
    await client.put(`${configMaps}/a`, { metadata: { name: 'a' }, data: { text: `${i}` } })
    await Promise.all(told)
    const closed = sockets.map((socket) => once(socket, 'close'))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
  }
  for (let i = 0; i < 2; i++) await round(-i)
  const heap = await heapInUse()
  const before = resourceCounts()
  for (let i = 0; i < rounds; i++) await round(i)
  await client.get('/livez')
  const now = await heapInUse()
  const left = resourceCounts()
  t.diagnostic(`${rounds * perRound} watches: ${JSON.stringify(left)}, heap ${heap >> 10} kB, then ${now >> 10} kB`)
  for (const [name, number] of Object.entries(left)) assert.ok(number <= before[name]!, `${number} of ${name} are left`)
  assert.ok(now < heap * 1.15, `the heap grew from ${heap >> 10} kB to ${now >> 10} kB`)
})
