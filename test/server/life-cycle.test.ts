/** Tests the lifecycle of a server: a slow start, an announced stop, and notifications to systemd. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { startApiServer } from '../../src/server/assembly/api-server.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { MemoryStore } from '../../src/storage/store/memory.ts'
import type { ListRange, Snapshot } from '../../src/storage/store/store.ts'
import { startEtcd } from '../support/etcd.ts'
import { HttpClient } from '../support/http-client.ts'
import { longTest } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { root, startServer } from '../support/server.ts'
import { openTestLog } from '../support/test-log.ts'
import { until } from '../support/until.ts'

/** A store whose lists wait for a signal, to simulate a slow disk. */
class SlowStore extends MemoryStore {
  readonly #gate = Promise.withResolvers<void>()

  letGo(): void {
    this.#gate.resolve()
  }

  override async list(range: ListRange): Promise<Snapshot> {
    await this.#gate.promise
    return await super.list(range)
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('with a startup grace period, the server is live but not ready while it starts', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  const port = await freePort()
  const store = new SlowStore()
  let now = 0
  const clock = { ...systemClock, monotonic: () => performance.now() + now }
  const flags = [`--secure-port=${port}`, `--data-dir=${directory}/data`, '--admin-kubeconfig=']
  const options = parseFlags(serverFlags, [...flags, '--livez-grace-period=1m'])
  const starting = startApiServer(options, { log: openTestLog(), store, clock })
  t.after(async () => {
    store.letGo()
    await (await starting).stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const authority = join(directory, 'data/pki/ca.crt')
  await until(
    async () => existsSync(authority),
    (exists) => exists,
  )
  const client = new HttpClient({ port, token: '', ca: readFileSync(authority, 'utf8') })
  t.after(() => client.close())
  const status = (path: string) => client.get(path).then((answer) => answer.status)
  await until(
    () => status('/livez').catch(() => 0),
    (code) => code === 200,
  )
  assert.deepEqual([await status('/readyz'), await status('/healthz'), await status('/livez/ping')], [500, 500, 200])
  assert.match((await client.get('/readyz')).text, /^\[-\]start failed: the server is starting$/m)
  const refused = await client.get(configMaps)
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
  assert.equal(refused.body.message, 'the server is starting; try again')
  now = 61_000
  const late = await client.get('/livez?verbose')
  const lines = ['[+]ping ok', '[-]start-in-time failed: reason withheld', 'livez check failed', '']
  assert.deepEqual([late.status, late.text.split('\n')], [500, lines])
  assert.match((await client.get('/livez/start-in-time')).text, /not started within --livez-grace-period/)
  store.letGo()
  await starting
  assert.deepEqual([await status('/livez'), await status('/readyz')], [200, 200])
})

/**
 * Returns the status of a response without verifying the server, because a cluster has no CA until its store has been
 * opened once.
 */
function probe(port: number, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = get({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, (answer) => {
    answer.resume()
    resolve(answer.statusCode!)
  })
  request.on('error', reject)
  return promise
}

longTest('with a startup grace period, the port is open while the server waits for etcd', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  const etcd = await startEtcd()
  const port = await freePort()
  await etcd.kill(0)
  const flags = [`--secure-port=${port}`, `--data-dir=${directory}/data`, '--admin-kubeconfig=']
  const slow = [...flags, `--etcd-servers=${etcd.endpoints[0]}`, '--livez-grace-period=5m']
  const starting = startApiServer(parseFlags(serverFlags, slow), { log: openTestLog() })
  t.after(async () => {
    await (await starting).stop()
    await etcd.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  await until(
    () => probe(port, '/livez').catch(() => 0),
    (code) => code === 200,
  )
  assert.deepEqual([await probe(port, '/readyz'), await probe(port, configMaps)], [500, 503])
  await etcd.restart(0)
  await starting
  const client = new HttpClient({ port, token: '', ca: readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8') })
  t.after(() => client.close())
  assert.deepEqual([(await client.get('/livez')).status, (await client.get('/readyz')).status], [200, 200])
})

test('with a shutdown delay, the server continues to serve requests, notifies systemd, and then exits with code 0', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  // Replaces systemd-notify and records its arguments.
  const told = join(directory, 'told')
  writeFileSync(join(directory, 'systemd-notify'), `#!/bin/sh\necho "$@" >> ${told}\n`)
  chmodSync(join(directory, 'systemd-notify'), 0o755)
  const env = { NOTIFY_SOCKET: join(directory, 'socket'), PATH: `${directory}:${process.env.PATH}` }
  const server = await startServer(t, ['--shutdown-delay-duration=2s'], env)
  const client = server.client()
  assert.equal((await client.get('/readyz')).status, 200)
  const events: string[] = []
  const watching = (async () => {
    const path = `${configMaps}?watch=1&resourceVersion=0`
    for await (const event of client.watch(path, new AbortController().signal)) events.push(event.object.metadata.name)
  })()
  const began = performance.now()
  const stopped = server.stop()
  await until(
    () => client.get('/readyz'),
    ({ status }) => status === 503,
  )
  const live = await client.get('/livez')
  const written = await client.post(configMaps, { metadata: { name: 'late' } })
  assert.deepEqual([live.status, written.status], [200, 201])
  assert.match((await client.get('/readyz?verbose')).text, /\[-\]shutdown failed: the server is stopping/)
  await watching
  assert.equal(await stopped, 0)
  assert.ok(performance.now() - began >= 2000)
  assert.deepEqual(events, ['late'])
  const pid = `--pid=${server.process.pid}`
  assert.deepEqual(readFileSync(told, 'utf8').trimEnd().split('\n'), [`${pid} READY=1`, `${pid} STOPPING=1`])
})

/** Accepts connections and never responds, like a server that hangs. */
async function mute(t: TestContext): Promise<{ readonly port: number; readonly asked: Promise<unknown> }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket.on('error', () => {})))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, asked: once(server, 'connection') }
}

/** Sends SIGTERM to a program that waits for an unresponsive server. Returns how the program exits. */
async function stoppedWhileItWaits(args: readonly string[], asked: Promise<unknown>): Promise<unknown[]> {
  const child = spawn(join(root, 'bin/orch'), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const ended = once(child, 'close')
  await Promise.race([asked, ended])
  child.kill('SIGTERM')
  const [code] = await ended
  return [code, /startup canceled/.test(text) ? 'given up' : text]
}

test('SIGTERM while the server waits for etcd cancels startup', { timeout: 120_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const hours = ['--shutdown-grace-period=2h', '--livez-grace-period=2h']
  const flags = ['--secure-port=0', `--data-dir=${directory}/data`, '--admin-kubeconfig=', ...hours]
  for (const workers of ['1', '2']) {
    const { port, asked } = await mute(t)
    const etcd = [`--etcd-servers=http://127.0.0.1:${port}`, `--workers=${workers}`]
    assert.deepEqual(await stoppedWhileItWaits(['apiserver', ...flags, ...etcd], asked), [0, 'given up'])
  }
})

test('SIGTERM while a node agent joins cancels the join', { timeout: 120_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const { port, asked } = await mute(t)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: { token: 'abcdef.0123456789abcdef' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  writeFileSync(join(directory, 'bootstrap'), JSON.stringify(config))
  const files = [`--bootstrap-kubeconfig=${directory}/bootstrap`, `--root-dir=${directory}/node`]
  const args = ['node-agent', '--name=n', '--join-timeout=2h', ...files]
  assert.deepEqual(await stoppedWhileItWaits(args, asked), [0, 'given up'])
})
