/**
 * Tests stopping a server: running requests get responses, watches end cleanly, and all data exists after the next
 * start. Cases that depend on timing run once, or many times if ORCH_LONG is 1.
 */
import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { drainTime } from '../../src/apiserver/transport/connection-limits.ts'
import { long } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { openSession, openSocket, statusesOf, untilClosed } from '../support/raw-http.ts'
import { startServer } from '../support/server.ts'

const admin = 'Authorization: Bearer admin-token'

test('SIGTERM stops the server cleanly despite an open watch and running requests', { timeout: 300_000 }, async (t) => {
  const server = await startServer(t, ['--shutdown-grace-period=20s'])
  const client = server.client()
  const { body: first } = await client.post(configMaps, { metadata: { name: 'first' } })

  const events: string[] = []
  const watching = (async () => {
    const path = `${configMaps}?watch=1&resourceVersion=0`
    for await (const event of client.watch(path, new AbortController().signal)) events.push(event.object.metadata.name)
  })()
  const silent = await openSocket(server, 'http/1.1')
  const idle = untilClosed(silent)
  const session = openSession(server)
  t.after(() => session.destroy())

  // Sends the first half of a request over each protocol. The second half is sent while the server is stopping.
  const body = JSON.stringify({ metadata: { name: 'second' } })
  const socket = await openSocket(server, 'http/1.1')
  const answered = untilClosed(socket)
  const head = `Host: x\r\n${admin}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(`POST ${configMaps} HTTP/1.1\r\n${head}${body.slice(0, 10)}`)
  const update = JSON.stringify({ metadata: { name: 'first' }, data: { k: 'v' } })
  const stream = session.request({
    ':method': 'PUT',
    ':path': `${configMaps}/first`,
    authorization: 'Bearer admin-token',
  })
  stream.write(update.slice(0, 10))
  await client.get(`${configMaps}/first`)

  const stopped = server.stop()
  await watching
  await idle
  socket.write(body.slice(10))
  stream.end(update.slice(10))
  const status = await new Promise((resolve, reject) => {
    stream.on('response', (headers) => resolve(headers[':status']))
    stream.on('error', reject)
    stream.resume()
  })
  assert.equal(status, 200)
  assert.deepEqual(statusesOf(await answered), [201])
  assert.equal(await stopped, 0)
  assert.deepEqual(events, ['first'])
  assert.doesNotMatch(server.output(), / error /)

  await server.restart()
  const { items } = (await client.get(configMaps)).body
  assert.deepEqual(
    items.map((item: typeof first) => item.metadata.name),
    ['first', 'second'],
  )
  assert.equal(items[0].metadata.uid, first.metadata.uid)
  assert.deepEqual(items[0].data, { k: 'v' })
})

test('the last response on each connection announces the close, so SIGTERM under load resets no connection', {
  timeout: 300_000,
}, async (t) => {
  for (let round = 0; round < (long ? 10 : 1); round++) {
    const server = await startServer(t)
    const client = server.client()
    const counts = { answered: 0, last: 0, refused: 0 }
    const faults: unknown[] = []
    const load = async (i: number) => {
      for (let n = i; ; n++) {
        const path = n % 4 === 0 ? configMaps : `${configMaps}?limit=5`
        const sent = n % 4 === 0 ? { method: 'POST', body: { metadata: { generateName: 'load-' } } } : {}
        const answer = await client.send(path, sent).catch((error: NodeJS.ErrnoException) => error)
        if (answer instanceof Error) {
          if (answer.code !== 'ECONNREFUSED') faults.push(answer)
          else counts.refused++
          return
        }
        counts.answered++
        if (answer.headers.connection === 'close') counts.last++
      }
    }
    const loads = Array.from({ length: 32 }, (_, i) => load(i))
    while (counts.answered < 200) await pause(5)
    const stopped = server.stop()
    await Promise.all(loads)
    assert.deepEqual(faults, [])
    assert.equal(counts.refused, 32)
    assert.ok(counts.last > 0)
    assert.equal(await stopped, 0)
  }
})

test('a stopping server closes idle connections cleanly and responds to requests that are already in flight', {
  timeout: 300_000,
}, async (t) => {
  // If the machine was suspended for longer than the server waits, the request arrived too late. In that case, try
  // again.
  let answer = ''
  for (let tries = 0; tries < 4 && answer === ''; tries++) answer = await sendWhileStopping(t)
  assert.match(answer, /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)
})

/** Returns the response. An empty response is acceptable only if the server has waited for the full drain time. */
async function sendWhileStopping(t: TestContext): Promise<string> {
  const server = await startServer(t)
  const get = `GET ${configMaps} HTTP/1.1\r\nHost: x\r\n${admin}\r\n\r\n`
  const [idle, used] = await Promise.all([openSocket(server, 'http/1.1'), openSocket(server, 'http/1.1')])
  const faults: unknown[] = []
  for (const socket of [idle, used]) socket.on('error', (error) => faults.push(error))
  const ended = untilClosed(idle)
  const answered = untilClosed(used)
  const began = performance.now()
  const stopped = server.stop()
  // The port is closed, which means that the server is stopping.
  while (
    await openSocket(server, 'http/1.1').then(
      (socket) => socket.destroy(),
      () => undefined,
    )
  )
    await pause(1)
  used.write(get)
  const answer = await answered
  if (answer === '') assert.ok(performance.now() - began >= drainTime, 'it did not wait')
  assert.equal(await ended, '')
  assert.equal(await stopped, 0)
  if (answer !== '') assert.deepEqual(faults, [])
  return answer
}

test('SIGTERM during startup stops the server cleanly', { timeout: 300_000 }, async (t) => {
  const server = await startServer(t)
  await server.stop()
  const data = join(server.directory, 'data')
  for (let round = 0; round < (long ? 20 : 1); round++) {
    rmSync(data, { recursive: true, force: true })
    // Send the signal as soon as the server has created its directory, long before it accepts requests.
    const { code, output } = await server.restartAndStop(() => existsSync(data))
    assert.equal(code, 0, output)
    assert.doesNotMatch(output, / error |^\s+at /m)
  }
  await server.restart()
  assert.equal((await server.client().get('/readyz')).status, 200)
})
