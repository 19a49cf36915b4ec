/**
 * What is left of watches that are over: nothing, however many they were and however they ended. The server runs in
 * this process, so that its heap can be measured after a collection. With `ORCH_LONG=1` there are ten thousand of them.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { configMap } from '../../src/kinds/core/config-map.ts'
import { namespace } from '../../src/kinds/core/namespace.ts'
import { heapInUse } from '../tools/heap.ts'
import { type InProcess, startInProcess } from '../tools/in-process.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const rounds = process.env.ORCH_LONG === '1' ? 100 : 8
const perRound = 100
/** A watch that was kept would hold ten times as much. */
const maxBytesEach = 800

/** Watches of every kind of beginning: from now, from the window, from the log. */
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

test('closed watches leave nothing behind', { timeout: 600_000 }, async (t) => {
  const server = await startInProcess([namespace, configMap])
  t.after(async () => await server.stop())
  const { client } = server
  const made = await client.post(configMaps, { metadata: { name: 'a' }, data: { text: 'x'.repeat(1000) } })
  const versions = ['', '0', made.body.metadata.resourceVersion]
  const round = async () => {
    const sockets = await openWatches(server, versions)
    // Each is told of a change before it goes.
    const told = sockets.map((socket) => once(socket, 'data'))
    const text = `${Math.random()}`
    await client.put(`${configMaps}/a`, { metadata: { name: 'a' }, data: { text } })
    await Promise.all(told)
    const closed = sockets.map((socket) => once(socket, 'close'))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
    // Answered after the ends of the others were noticed.
    await client.get('/livez')
  }
  for (let i = 0; i < 3; i++) await round()
  const before = await heapInUse()
  for (let i = 0; i < rounds; i++) await round()
  const each = ((await heapInUse()) - before) / (rounds * perRound)
  t.diagnostic(`${rounds * perRound} watches left ${Math.round(each)} bytes each`)
  assert.ok(each < maxBytesEach, `${Math.round(each)} bytes are kept for each watch`)
})
