/**
 * Tests ten thousand watches that receive the events of one writer, on 100 connections with 100 streams each. Every
 * watch must receive every event, and 99% of the events must arrive within two seconds. The server's memory must stay
 * within a limit. After the watches end, the server must have released its file descriptors and reset its counts. The
 * short variant has 200 watches.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { long } from '../support/long.ts'
import { ownMemory } from '../support/memory.ts'
import { configMaps } from '../support/paths.ts'
import { type ServerHandle, startServer } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'
import { report } from './load.ts'

const connections = long ? 100 : 4
const streams = long ? 100 : 50
const writes = long ? 300 : 10
const gapMs = long ? 200 : 20
const maxLagMs = 2000
const maxMemory = 1.5 * 2 ** 30
const newline = 10

test('thousands of watches receive every event and release all resources', { timeout: 600_000 }, async (t) => {
  const server = await startServer(t)
  const admin = server.client()
  const { body } = await admin.post(configMaps, { metadata: { name: 'watched' } })
  const before = descriptorsOf(server)
  const sentAt: number[] = []
  const lags = new Float64Array(connections * streams * writes)
  let eventCount = 0
  const onEvent = (index: number) => {
    lags[eventCount++] = performance.now() - sentAt[index]!
  }
  const sessions: ClientHttp2Session[] = []
  t.after(() => sessions.forEach((session) => void session.destroy()))
  for (let i = 0; i < connections; i++) sessions.push(await watchOften(server, body.metadata.resourceVersion, onEvent))
  let memory = ownMemory(server.process.pid!)
  for (let i = 0; i < writes; i++) {
    sentAt.push(performance.now())
    const { status, text } = await admin.put(`${configMaps}/watched`, {
      metadata: { name: 'watched' },
      data: { i: `${i}` },
    })
    assert.equal(status, 200, text)
    memory = Math.max(memory, ownMemory(server.process.pid!))
    await delay(Math.max(0, sentAt.at(-1)! + gapMs - performance.now()))
  }
  await untilTrue(async () => eventCount === lags.length)
  lags.sort()
  const p99 = lags[Math.floor(lags.length * 0.99)]!
  const counts = {
    watches: connections * streams,
    events: eventCount,
    'ms of lag at p50': Math.round(lags[eventCount >> 1]!),
  }
  report(t, {
    ...counts,
    'at p99': Math.round(p99),
    'at most': Math.round(lags.at(-1)!),
    'MiB of memory': memory >> 20,
  })
  for (const session of sessions) session.destroy()
  await untilTrue(async () => descriptorsOf(server) <= before + 1)
  await untilTrue(async () =>
    /^apiserver_longrunning_requests\{verb="WATCH"\} 0$/m.test((await admin.get('/metrics')).text),
  )
  assert.ok(memory < maxMemory, `${memory >> 20} MiB`)
  assert.ok(p99 <= maxLagMs, `one of a hundred events came after ${p99} ms or more`)
})

/**
 * Opens a connection with many watches and waits until all are established. `onEvent` receives the index of each event
 * within its watch.
 */
async function watchOften(
  server: ServerHandle,
  version: string,
  onEvent: (index: number) => void,
): Promise<ClientHttp2Session> {
  const session = connect(server.url, { rejectUnauthorized: false })
  await once(session, 'connect')
  const path = `${configMaps}?watch=1&resourceVersion=${version}`
  await Promise.all(
    Array.from({ length: streams }, async () => {
      const stream = session.request({ ':path': path, authorization: 'Bearer admin-token' })
      // At the end, the test destroys the connections.
      stream.on('error', () => {})
      let events = 0
      stream.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) onEvent(events++)
      })
      const [answer] = await once(stream, 'response')
      assert.equal(answer[':status'], 200)
    }),
  )
  return session
}

function descriptorsOf({ process: { pid } }: ServerHandle): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
