/**
 * Tests `--workers=auto`: workers are added and retired while clients write, watch and upload. No acknowledged
 * write, event or running request is lost. The tests replace the measured loads of the event loops.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openLog } from '../../src/base/telemetry/log.ts'
import { readServerFlags } from '../../src/server/flags/command-line.ts'
import { startSupervisor } from '../../src/server/workers/supervisor.ts'
import { HttpClient } from '../support/http-client.ts'
import { configMaps } from '../support/paths.ts'
import { tokens } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'
import { countOf } from './worker-faults.ts'

const timeout = 180_000
const maxWorkers = 3

/** The loads of the event loops, depending on the number of workers. */
const loads = {
  calm: (workers: number) => Array.from({ length: workers }, () => 0.5),
  busy: (workers: number) => Array.from({ length: workers }, () => 1),
  resting: (workers: number) => Array.from({ length: workers }, () => 0),
  /** The loads that cause the server to move clients away from the first worker. */
  uneven: (workers: number) => Array.from({ length: workers }, (_, i) => (i === 0 ? 0.8 : 0.2)),
}

const scaling = { maxWorkers, tickMs: 10, busyTicks: 2, restTicks: 2, moveTicks: 1 }

/** Starts a server in which the test replaces the measured loads. */
async function startAuto(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-auto-'))
  const file = join(directory, 'tokens.csv')
  writeFileSync(file, tokens)
  const flags = ['--secure-port=0', '--admin-kubeconfig=', `--token-auth-file=${file}`, `--data-dir=${directory}/data`]
  const line = await readServerFlags('apiserver', flags)
  assert.equal(line.options.workers, 'auto')
  let output = ''
  let current = loads.calm
  const given = { command: 'apiserver', flags, console: undefined } as const
  const server = await startSupervisor(line, given, {
    log: openLog({
      level: 1,
      write: (text) => {
        output += text
        // Only one worker may be added or retired at a time.
        if (/added a worker|retiring a worker/.test(text)) current = loads.calm
      },
    }),
    stopping: new AbortController().signal,
    scaling: { ...scaling, loads: (workers) => current(workers) },
  })
  const ca = readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8')
  const port = Number(new URL(server.url).port)
  const clients = new Set<HttpClient>()
  t.after(async () => {
    for (const client of clients) client.close()
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const change = async (loadsOfWorkers: typeof current, logged: RegExp) => {
    const before = countOf(output, logged)
    current = loadsOfWorkers
    await untilTrue(async () => countOf(output, logged) > before)
  }
  return {
    port,
    ca,
    output: () => output,
    client: () => {
      const client = new HttpClient({ port, token: 'admin-token', ca })
      clients.add(client)
      return client
    },
    /** Resolves when an additional worker serves requests. */
    add: () => change(loads.busy, /added a worker/g),
    /** Resolves when a worker starts to retire. */
    retire: () => change(loads.resting, /retiring a worker/g),
    retired: (count: number) => untilTrue(async () => countOf(output, /retired a worker/g) === count),
    setUneven: () => {
      current = loads.uneven
    },
  }
}

type Auto = Awaited<ReturnType<typeof startAuto>>

/**
 * Throws any error other than the reset of a new connection. When a worker stops listening, the kernel resets
 * connections that are established but have not been accepted yet.
 */
function assertReset(error: unknown): void {
  assert.equal((error as NodeJS.ErrnoException).code, 'ECONNRESET')
}

/**
 * Creates objects over several connections until `stop` is called. Every request that reaches the server must succeed.
 */
function writeAll(auto: Auto) {
  const acknowledged = new Map<string, string>()
  const stop = new AbortController()
  const write = async (writer: number) => {
    const client = auto.client()
    for (let i = 0; !stop.signal.aborted; i++) {
      const name = `w-${writer}-${i}`
      // If a create was executed although its connection was reset, repeating it would cause a conflict.
      const create = () => client.post(configMaps, { metadata: { name } })
      const { status, body, text } = await create().catch((error: unknown) => {
        assertReset(error)
        return create()
      })
      assert.equal(status, 201, text)
      acknowledged.set(name, body.metadata.resourceVersion)
      await pause(5)
    }
  }
  const writers = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)))
  writers.catch(() => {})
  return {
    acknowledged,
    stop: async () => {
      stop.abort()
      await writers
    },
  }
}

/** Watches until `stop` is called, and resumes after the last event as clients do. Returns the received versions. */
function watchAll(auto: Auto, from: string) {
  const seen: string[] = []
  const stop = new AbortController()
  const run = async () => {
    const client = auto.client()
    for (let version = from; !stop.signal.aborted; ) {
      const path = `${configMaps}?watch=true&resourceVersion=${version}`
      try {
        for await (const { type, object } of client.watch(path, stop.signal)) {
          assert.equal(type, 'ADDED')
          version = object.metadata.resourceVersion
          seen.push(version)
        }
      } catch (error) {
        assertReset(error)
      }
    }
  }
  const running = run()
  running.catch(() => {})
  return {
    seen,
    stop: async () => {
      stop.abort()
      await running
    },
  }
}

test('no write and no event is lost while workers are added and retired', { timeout }, async (t) => {
  const auto = await startAuto(t)
  const client = auto.client()
  const { body } = await client.get(configMaps)
  const watches = Array.from({ length: 8 }, () => watchAll(auto, body.metadata.resourceVersion))
  const writing = writeAll(auto)
  const writeSome = async () => {
    const before = writing.acknowledged.size
    await untilTrue(async () => writing.acknowledged.size > before + 30)
  }
  await writeSome()
  await auto.add()
  auto.setUneven()
  await writeSome()
  await auto.add()
  await writeSome()
  await auto.retire()
  await auto.retire()
  await writeSome()
  await auto.retired(2)
  await auto.add()
  await writeSome()
  await writing.stop()
  const versions = [...writing.acknowledged.values()].toSorted((a, b) => Number(a) - Number(b))
  for (const watch of watches) {
    await untilTrue(async () => watch.seen.length >= versions.length)
    await watch.stop()
    assert.deepEqual(watch.seen, versions)
  }
  const list = await auto.client().get(configMaps)
  assert.equal(list.body.items.length, versions.length)
  const { text } = await client.get('/metrics')
  const created = text.matchAll(/^apiserver_request_total\{code="201".*resource="configmaps".*verb="POST".*\} (\d+)$/gm)
  assert.equal(
    created.reduce((sum, [, count]) => sum + Number(count), 0),
    versions.length,
  )
})

test('a worker retires only when its running requests are complete', { timeout }, async (t) => {
  const auto = await startAuto(t)
  await auto.add()
  // There are so many connections that the added worker accepts some of them.
  const uploads = Array.from({ length: 16 }, (_, i) => upload(auto, `upload-${i}`))
  await Promise.all(uploads.map(({ begun }) => begun))
  await auto.retire()
  const client = auto.client()
  assert.equal((await client.post(configMaps, { metadata: { name: 'meanwhile' } })).status, 201)
  assert.doesNotMatch(auto.output(), /retired a worker/)
  for (const { finish } of uploads) assert.equal(await finish(), 201)
  await auto.retired(1)
})

test('worker processes divide the limits of the server among themselves', { timeout }, async (t) => {
  const auto = await startAuto(t)
  const client = auto.client()
  const seats = async () => {
    const { text } = await client.get('/metrics')
    const limits = text.matchAll(/^apiserver_flowcontrol_request_concurrency_limit\{.*\} (\d+)$/gm)
    return limits.reduce((sum, [, limit]) => sum + Number(limit), 0)
  }
  const alone = await seats()
  assert.ok(alone >= 600, `${alone} seats`)
  await auto.add()
  // The seats of a level are divided, and rounded up, when the worker serves its next request.
  await untilTrue(async () => (await seats()) < 1.1 * alone)
  await auto.retire()
  await auto.retired(1)
  await untilTrue(async () => (await seats()) === alone)
})

/** Starts a create whose body is complete only when `finish` is called. */
function upload({ port, ca }: Auto, name: string) {
  const body = JSON.stringify({ metadata: { name } })
  const headers = {
    authorization: 'Bearer admin-token',
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const outgoing = request({ host: '127.0.0.1', port, ca, method: 'POST', path: configMaps, headers, agent: false })
  const status = new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
  })
  status.catch(() => {})
  const begun = new Promise<void>((resolve) => outgoing.write(body.slice(0, 5), () => resolve()))
  const finish = () => {
    outgoing.end(body.slice(5))
    return status
  }
  return { begun, finish }
}
