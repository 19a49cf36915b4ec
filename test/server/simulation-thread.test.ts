/** Tests simulated nodes, which run in a separate thread. If that thread exits, the API server continues. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Worker } from 'node:worker_threads'
import type { ConfigMap } from '../../src/api/kinds/core/config-map.ts'
import { Client } from '../../src/client/requests/client.ts'
import { endOfFile } from '../support/end-of-file.ts'
import type { HttpClient } from '../support/http-client.ts'
import { serveUpWithThread } from '../support/in-process.ts'
import { root, type ServerHandle, startUp } from '../support/server.ts'
import { until, untilTrue } from '../support/until.ts'

const pods = '/api/v1/namespaces/default/pods'
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const directory = mkdtempSync(join(tmpdir(), 'orch-simulation-'))
const control = join(directory, 'end')
const owner = endOfFile()
owner.after(() => rmSync(directory, { recursive: true, force: true }))

let server: ServerHandle
let client: HttpClient

before(async () => {
  const hook = pathToFileURL(join(root, 'test/support/end-worker.mjs')).href
  server = await startUp(owner, ['--nodes=1'], { NODE_OPTIONS: `--import=${hook}`, ORCH_END_WORKER: control })
  client = server.client()
})

async function runPod(name: string): Promise<void> {
  const spec = { nodeName: 'node-1', containers: [{ name: 'web', image: 'web', ports: [{ containerPort: 80 }] }] }
  // The default service account may not exist yet.
  await untilTrue(async () => (await client.post(pods, { metadata: { name }, spec })).status === 201)
  await untilTrue(async () => (await client.get(`${pods}/${name}`)).body.status?.phase === 'Running')
}

async function assertReached(name: string): Promise<void> {
  await untilTrue(async () => (await client.get(`${pods}/${name}/log`)).status === 200)
  const page = await client.get(`${pods}/${name}:80/proxy/some/path`)
  assert.match(page.text, /hello from the simulated pod default\/.*GET \/some\/path/s)
}

const ended = () => server.output().match(/the simulated-nodes thread exited.*/g) ?? []

test('pods run in the simulation thread, and the server can reach their logs and ports', async () => {
  await runPod('first')
  await assertReached('first')
})

test('the simulation thread has a lower priority than the main thread', () => {
  const tasks = `/proc/${server.process.pid}/task`
  const priorities = readdirSync(tasks).map((id) => {
    const [, name, fields] = /\((.*)\) (.*)/.exec(readFileSync(join(tasks, id, 'stat'), 'utf8'))!
    // The 19th field is the nice value. The first two are the ID and the name.
    return { id: Number(id), name, nice: Number(fields!.split(' ')[16]) }
  })
  const main = priorities.find(({ id }) => id === server.process.pid)!
  const simulation = priorities.filter(({ name }) => name === 'simulated nodes')
  assert.deepEqual(
    simulation.map(({ nice }) => nice - main.nice),
    [10],
  )
})

test("the server's metrics include metrics from the simulation thread", async () => {
  await untilTrue(async () =>
    /workqueue_adds_total\{name="node-pods"\} [1-9]/.test((await client.get('/metrics')).text),
  )
})

test('if the simulation thread exits, the server is unaffected and the nodes are restarted', async () => {
  const watched: string[] = []
  const watching = new AbortController()
  const api = new Client(server.transport())
  const breaks: unknown[] = []
  const options = { namespace: 'default', signal: watching.signal, onError: (error: unknown) => breaks.push(error) }
  const watch = (async () => {
    for await (const event of api.watch<ConfigMap>(configMaps, options))
      if (event.type === 'ADDED') watched.push(event.object.metadata.name!)
  })().catch(() => {})
  for (const [i, [way, why]] of (
    [
      // On a busy machine, the thread may collect garbage for more than 10 seconds before its heap is full.
      ['memory', /heap out of memory|did not respond for 10 seconds/],
      ['error', /a fault that a test put here/],
      ['exit', /exited with code 7/],
    ] as const
  ).entries()) {
    writeFileSync(control, `nodes ${way}`)
    server.process.kill('SIGWINCH')
    await until(
      async () => ended(),
      (lines) => lines.length > i,
    )
    assert.match(ended().at(-1)!, why)
    const made = await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: `after-${way}` } })
    assert.equal(made.status, 201)
    assert.equal((await client.get('/readyz')).status, 200)
    await runPod(`after-${way}`)
    await assertReached(`after-${way}`)
    await assertReached('first')
  }
  assert.equal(ended().length, 3)
  await untilTrue(async () => watched.includes('after-exit'))
  assert.deepEqual(breaks, [])
  watching.abort()
  await watch
})

test('the server stops cleanly while a client follows a log, and removes the volumes', async () => {
  const { pid } = server.process
  const volumes = () => readdirSync('/dev/shm').filter((name) => name.startsWith(`orch-nodes-${pid}-`))
  if (existsSync('/dev/shm')) assert.equal(volumes().length, 1)
  const followed = client.get(`${pods}/first/log?follow=true`).catch(() => undefined)
  assert.equal(await server.stop(), 0)
  await followed
  if (existsSync('/dev/shm')) assert.deepEqual(volumes(), [])
})

test('a server without simulated nodes does not start a simulation thread', async (t) => {
  const names: string[] = []
  const onWorker = (worker: Worker) => names.push(worker.threadName ?? '')
  process.on('worker', onWorker)
  const isOne = (name: string) => name === 'simulated nodes'
  const none = await serveUpWithThread(t, ['--nodes=0'])
  assert.equal(names.filter(isOne).length, 0)
  await none.restart(['--nodes=1'])
  await untilTrue(async () => names.some(isOne))
  await none.stop()
  assert.equal(names.filter(isOne).length, 1)
  process.off('worker', onWorker)
})
