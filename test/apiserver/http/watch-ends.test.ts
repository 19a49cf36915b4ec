/**
 * Tests that a watch ends when its client disconnects in any way. The tests check that no watcher remains. The server
 * runs in this process, so that the tests can read its number of watches.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { endHeaders, endStream, frame, number, preface, requestFrame } from '../../support/http2-frames.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'

const authorization = 'Bearer admin-token'
const watchPath = `${configMaps}?watch=1&timeoutSeconds=2000000`

async function begin(t: TestContext, flags: readonly string[] = []): Promise<InProcess> {
  const running = await startInProcess(undefined, flags)
  t.after(() => running.stop())
  return running
}

/** Waits until the server has the given number of watches. Fails after a timeout that no working server reaches. */
async function untilWatches({ server }: InProcess, count: number): Promise<void> {
  const end = performance.now() + 60_000
  while (server.watches !== count && performance.now() < end) await pause(5)
  assert.equal(server.watches, count)
}

function openSession({ server, ca }: InProcess): ClientHttp2Session {
  const session = connect(server.url, { ca })
  session.on('error', () => {})
  return session
}

async function openWatch(session: ClientHttp2Session, path = watchPath): Promise<ClientHttp2Stream> {
  const stream = session.request({ ':path': path, authorization })
  stream.on('error', () => {})
  await once(stream, 'response')
  return stream
}

async function openSocket({ server, ca }: InProcess, alpn: string) {
  const { hostname, port } = new URL(server.url)
  const socket = connectTls({ host: hostname, port: Number(port), ca, ALPNProtocols: [alpn] })
  socket.on('error', () => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

const codes = { 'no error': 0, 'an internal error': 2, cancel: 8 }

for (const [name, code] of Object.entries(codes))
  test(`200 HTTP/2 watches that clients reset with ${name} end`, { timeout: 300_000 }, async (t) => {
    const running = await begin(t)
    const session = openSession(running)
    const streams = await Promise.all(Array.from({ length: 200 }, () => openWatch(session)))
    await untilWatches(running, 200)
    for (const stream of streams) stream.close(code)
    await untilWatches(running, 0)
    // The connection can still be used for other requests.
    await openWatch(session)
    await untilWatches(running, 1)
    session.destroy()
    await untilWatches(running, 0)
  })

test('a single HTTP/2 frame that cancels a watch ends the watch', { timeout: 300_000 }, async (t) => {
  const running = await begin(t)
  const socket = await openSocket(running, 'h2')
  t.after(() => socket.destroy())
  socket.resume().write(preface)
  const ask = (stream: number) => requestFrame(stream, { ':path': watchPath, authorization }, endHeaders | endStream)
  let stream = 1
  for (const code of Object.values(codes)) {
    const first = stream
    const second = stream + 2
    const third = stream + 4
    stream += 6
    socket.write(ask(first))
    await untilWatches(running, 1)
    // A watch that the client requests and cancels in the same packet ends in the same way as a watch that has already
    // started.
    const reset = (which: number) => frame('reset', 0, which, number(code))
    socket.write(Buffer.concat([ask(second), reset(second), reset(first), ask(third)]))
    await untilWatches(running, 1)
    socket.write(reset(third))
    await untilWatches(running, 0)
  }
})

for (const alpn of ['h2', 'http/1.1'])
  for (const event of ['ends', 'breaks'] as const)
    test(`${alpn}: a watch ends when its connection ${event}`, { timeout: 300_000 }, async (t) => {
      const running = await begin(t)
      const socket = await openSocket(running, alpn)
      socket.resume()
      if (alpn === 'h2')
        socket.write(
          Buffer.concat([preface, requestFrame(1, { ':path': watchPath, authorization }, endHeaders | endStream)]),
        )
      else socket.write(`GET ${watchPath} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`)
      await untilWatches(running, 1)
      if (event === 'ends') socket.end()
      else socket.destroy()
      await untilWatches(running, 0)
    })

test('a watch with a lot of unread data ends when its client disconnects', { timeout: 300_000 }, async (t) => {
  const running = await begin(t)
  const data = { text: 'x'.repeat(500_000) }
  for (let i = 0; i < 10; i++) await running.client.post(configMaps, { metadata: { name: `large-${i}` }, data })
  const session = openSession(running)
  t.after(() => session.destroy())
  const streams = await Promise.all([1, 2, 3].map(() => openWatch(session)))
  await untilWatches(running, 3)
  for (const stream of streams) stream.close(8)
  await untilWatches(running, 0)
})

test('HEAD does not start a watch', { timeout: 300_000 }, async (t) => {
  const running = await begin(t)
  const session = openSession(running)
  t.after(() => session.destroy())
  const stream = session.request({ ':method': 'HEAD', ':path': watchPath, authorization })
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 405)
  assert.equal((await running.client.send(watchPath, { method: 'HEAD' })).status, 405)
  assert.equal(running.server.watches, 0)
})

test('interrupting kubectl get --watch ends the watch', { timeout: 300_000 }, async (t) => {
  const running = await begin(t, ['--profile=kubernetes'])
  const config = join(running.directory, 'kubectl.json')
  const { url: server } = running.server
  const authority = Buffer.from(running.ca).toString('base64')
  writeFileSync(
    config,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': authority } }],
      users: [{ name: 'u', user: { token: 'admin-token' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )
  const args = [`--kubeconfig=${config}`, `--cache-dir=${running.directory}/kubectl`, 'get', 'configmaps', '--watch']
  const child: ChildProcess = spawn('kubectl', args, { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await untilWatches(running, 1)
  child.kill('SIGINT')
  await untilWatches(running, 0)
})
