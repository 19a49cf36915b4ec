/**
 * Runs all known denial-of-service attacks at once, together with 32 ordinary clients. No request of an ordinary client
 * may fail, latencies stay close to those of an idle server, the server process survives, and its memory returns to the
 * previous level. `ORCH_ATTACKS=SPDY` runs only the attacks whose names contain the text. `ORCH_ATTACKS=none` measures
 * without any attacks.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { controlLoops } from '../../src/cluster/controllers/all.ts'
import { define } from '../apiserver/custom/definitions.ts'
import { cpuMsOf } from '../support/cpu-time.ts'
import { HttpClient } from '../support/http-client.ts'
import { ownMemory } from '../support/memory.ts'
import { configMaps } from '../support/paths.ts'
import { ask, caOf, openSession } from '../support/raw-http.ts'
import { type ServerHandle, startUp } from '../support/server.ts'
import { until, untilTrue } from '../support/until.ts'
import { configure } from '../support/webhooks.ts'
import type { AttackOutcome, Order, Prepared } from './attack-program.ts'
import { attacks, hookedNamespace, hostileNamespace, type Target, victims } from './attacks.ts'

const clientCount = 32
/** Each client sends five requests a second. */
const tickMs = 200
const warmUpSeconds = 20
const restSeconds = 15
const attackSeconds = 20
const recoverySeconds = 60
/** Longer than the interval at which `long-turns.mjs` collects garbage. */
const collectSeconds = 6
const mebibyte = 2 ** 20

const maxSlowdown = 3
/**
 * A p99 below this value, in milliseconds, is always acceptable. On an idle server, a request takes a few milliseconds,
 * and three times that duration is less than one iteration of the event loop may take (50 ms). A request needs several
 * iterations: for reading it, for writing to the store, and for sending the response. In addition, the clients, the
 * attackers and the server share the cores of one machine.
 *
 * Measured in six runs on two cores: 29 to 36 ms, and 8 to 12 ms without attacks. Decision 0043 explains what the p99
 * consists of.
 */
const maxWaitMs = 100
/**
 * Factor by which memory may have grown one minute after the attacks, in addition to the noise below. The measured
 * memory was 247 MiB before the attacks and 267 MiB a minute later, or 238 MiB and 292 MiB three seconds later.
 */
const maxGrowth = 1.2
/** Memory growth that is not a leak: pages that the allocators retain, and code compiled for the attacks. */
const memoryNoise = 16 * mebibyte

/** Returns the environment of the server. The tool collects garbage before and after the attacks. */
const environment = (collectFile: string) => ({
  NODE_OPTIONS: `--expose-gc --import=${join(import.meta.dirname, '../support/long-turns.mjs')}`,
  ORCH_COLLECT_FILE: collectFile,
})

const selectedAttacks = process.env.ORCH_ATTACKS ?? ''
const names = Object.keys(attacks).filter((name) => name.includes(selectedAttacks))

test('ordinary clients are unaffected while all attacks run at once', { timeout: 600_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-attacks-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const collectFile = join(directory, 'collect')
  const server = await startCluster(t, collectFile)
  const attacker = await startAttacker(t, server)
  const pid = server.process.pid!
  const clients = await connectClients(t, server)
  // Run at full speed first, so that the memory measured before the attacks is that of a server in use.
  await measure(clients, pid, delay(warmUpSeconds * 1000), 0)
  const rest = await measure(clients, pid, delay(restSeconds * 1000))
  // Only retained memory counts. V8 may leave garbage in a small heap for minutes, so the test forces a collection.
  writeFileSync(collectFile, '')
  await delay(collectSeconds * 1000)
  rmSync(collectFile)
  const before = ownMemory(pid)
  const outputBefore = server.output().length
  const attackerCpu = cpuMsOf(attacker.pid!)
  attacker.on('message', () => {
    const cpuMs = cpuMsOf(attacker.pid!) - attackerCpu
    t.diagnostic(`processor time of the attackers: ${cpuMs} ms`)
  })
  attacker.send({ names, seconds: attackSeconds } satisfies Order)
  const ended = once(attacker, 'message')
  const attack = await measure(clients, pid, ended)
  const [outcome] = (await ended) as [AttackOutcome]
  const uncollected = ownMemory(pid)
  writeFileSync(collectFile, '')
  const recovery = await measure(clients, pid, recovered(pid, before))
  const after = ownMemory(pid)
  reportPhases(t, { rest, attack, recovery })
  t.diagnostic(
    server
      .output()
      .slice(outputBefore)
      .match(/long turn: .*/g)
      ?.join(', ') ?? 'no long turn',
  )
  const peak = Math.max(attack.peak, recovery.peak)
  t.diagnostic(
    `anonymous memory in MiB: ${inMib(before)} before, ${inMib(peak)} at most, ${inMib(uncollected)} at the end of the attacks, ${inMib(after)} after`,
  )
  reportAttacks(t, outcome)
  assertAlive(server, pid)
  for (const { errors } of [rest, attack, recovery]) assert.deepEqual(errors, [])
  for (const [name, { runs, failed }] of Object.entries(outcome)) assert.ok(runs > failed, `${name} never succeeded`)
  const bound = Math.max(maxSlowdown * at(rest.waits, 0.99), maxWaitMs)
  assert.ok(at(attack.waits, 0.99) <= bound, `p99 is ${at(attack.waits, 0.99)} ms; the bound is ${bound} ms`)
  assert.ok(after <= memoryBound(before), `${inMib(after)} MiB are held after ${inMib(before)} MiB before`)
})

/** Starts `orch up` with all control loops, an ordinary user `bob`, and a hostile user `alice` with few permissions. */
async function startCluster(t: TestContext, collectFile: string): Promise<ServerHandle> {
  // Enables the control loops explicitly, because tests disable them by default.
  const loops = controlLoops.filter(({ cluster }) => cluster).map(({ name }) => name)
  const controllers = `--controllers=*,bootstrapsigner,tokencleaner,${loops.join()}`
  const server = await startUp(t, ['--nodes=2', controllers], environment(collectFile))
  const admin = server.client()
  for (const name of [hostileNamespace, hookedNamespace])
    await admin.post('/api/v1/namespaces', { metadata: { name, labels: { hooked: name } } })
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  const widgetRules = [{ apiGroups: ['stable.example.com'], resources: ['widgets'], verbs: ['*'] }]
  await admin.post(`${rbac}/clusterroles`, { metadata: { name: 'widgets' }, rules: widgetRules })
  const bind = async (namespace: string, role: string, user: string) => {
    const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.orch.io' }]
    const roleRef = { kind: 'ClusterRole', name: role, apiGroup: 'rbac.authorization.orch.io' }
    const path = `${rbac}/namespaces/${namespace}/rolebindings`
    const { status, text } = await admin.post(path, { metadata: { name: role }, subjects, roleRef })
    assert.equal(status, 201, text)
  }
  await bind('default', 'edit', 'bob')
  for (const namespace of [hostileNamespace, hookedNamespace]) await bind(namespace, 'edit', 'alice')
  await bind(hostileNamespace, 'widgets', 'alice')
  const embedded = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
  const properties = {
    time: { type: 'string', format: 'duration' },
    list: { type: 'array', items: embedded },
  }
  await define(admin, { schema: { type: 'object', properties } })
  const alice = server.client('alice-token')
  await untilTrue(async () => (await alice.get(`/api/v1/namespaces/${hostileNamespace}/configmaps`)).status === 200)
  return server
}

/** Starts the attacker's process. Resolves when its pods run and its webhook is registered. */
async function startAttacker(t: TestContext, server: ServerHandle) {
  const attacker = fork(join(import.meta.dirname, 'attack-program.ts'))
  t.after(() => void attacker.kill('SIGKILL'))
  attacker.send({ port: server.port, ca: caOf(server) } satisfies Target)
  const [clientConfig] = (await once(attacker, 'message')) as [Prepared]
  const admin = server.client()
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
  await configure(admin, 'validating', 'hostile', [
    {
      name: 'flood.example.com',
      clientConfig,
      rules,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      namespaceSelector: { matchLabels: { hooked: hookedNamespace } },
      failurePolicy: 'Ignore',
    },
  ])
  for (const name of Object.keys(victims))
    await until(
      async () => (await admin.get(`/api/v1/namespaces/${hostileNamespace}/pods/${name}`)).body.status?.phase,
      (phase) => phase === 'Running',
    )
  return attacker
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object
}

/** Sends one request on the client's own connection. */
type Send = (sent: Sent) => Promise<{ readonly status: number; readonly text: string }>

/** An ordinary client and its sequence of requests. */
interface Client {
  readonly send: Send
  /** The last response. The next request may use its content. */
  answer: string
  readonly requests: AsyncGenerator<Step, never, string>
}

interface Step extends Sent {
  readonly expected: number
}

/** Connects the clients, half of them with HTTP/1.1 and half with HTTP/2. */
async function connectClients(t: TestContext, server: ServerHandle): Promise<Client[]> {
  const ca = caOf(server)
  return Array.from({ length: clientCount }, (_, i) => ({
    send: i % 2 === 0 ? overHttp1(t, server.port, ca) : overHttp2(t, server),
    answer: '',
    requests: steps(`client-${i}`),
  }))
}

function overHttp1(t: TestContext, port: number, ca: string): Send {
  const client = new HttpClient({ port, ca, token: 'bob-token' })
  t.after(() => client.close())
  return async ({ method, path, body }) => await client.send(path, { method, ...(body === undefined ? {} : { body }) })
}

function overHttp2(t: TestContext, server: ServerHandle): Send {
  const session = openSession(server)
  t.after(() => session.destroy())
  const headers = { authorization: 'Bearer bob-token', 'content-type': 'application/json' }
  return async ({ method, path, body }) =>
    await ask(
      session,
      { ':path': path, ':method': method, ...headers },
      body === undefined ? [] : [JSON.stringify(body)],
    )
}

/**
 * Yields the steps of a client: creates, reads and updates an object, lists a page, and deletes the object, repeatedly.
 * Receives each response.
 */
async function* steps(client: string): AsyncGenerator<Step, never, string> {
  for (let i = 0; ; i++) {
    const name = `${client}-${i}`
    const path = `${configMaps}/${name}`
    yield {
      method: 'POST',
      path: configMaps,
      body: { metadata: { name }, data: { text: 'x'.repeat(500) } },
      expected: 201,
    }
    const object = JSON.parse(yield { method: 'GET', path, expected: 200 }) as object
    yield { method: 'GET', path: `${configMaps}?limit=20`, expected: 200 }
    yield { method: 'PUT', path, body: { ...object, data: { text: 'y'.repeat(500) } }, expected: 200 }
    yield { method: 'GET', path, expected: 200 }
    yield { method: 'DELETE', path, expected: 200 }
  }
}

interface Phase {
  /** The duration of each request in milliseconds. */
  readonly waits: number[]
  readonly errors: string[]
  /** The peak memory of the server. */
  peak: number
  /** CPU time of the server, and the time for which its main thread waited for a core. */
  cpuPercent: number
  starvedPercent: number
}

/** Makes all clients send one request every `pauseMs` until the promise settles. */
async function measure(
  clients: readonly Client[],
  pid: number,
  end: Promise<unknown>,
  pauseMs = tickMs,
): Promise<Phase> {
  const phase: Phase = { waits: [], errors: [], peak: 0, cpuPercent: 0, starvedPercent: 0 }
  const stop = new AbortController()
  const begin = performance.now()
  const beginCpu = cpuMsOf(pid)
  const beginStarved = starvedMs(pid)
  const sampling = setInterval(() => {
    phase.peak = Math.max(phase.peak, ownMemory(pid))
  }, 200)
  const running = clients.map((client, i) =>
    sendSteadily(client, { first: performance.now() + (i * pauseMs) / clients.length, pauseMs }, phase, stop.signal),
  )
  await end
  stop.abort()
  await Promise.all(running)
  clearInterval(sampling)
  const percent = (ms: number) => Math.round((100 * ms) / (performance.now() - begin))
  phase.cpuPercent = percent(cpuMsOf(pid) - beginCpu)
  phase.starvedPercent = percent(starvedMs(pid) - beginStarved)
  return phase
}

/** Returns how long the main thread of a process was runnable but had no core (Linux). */
function starvedMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
}

/**
 * Sends a request at each due time. If a request has to wait for the previous one, its duration is measured from the
 * due time.
 */
async function sendSteadily(
  client: Client,
  { first, pauseMs }: { readonly first: number; readonly pauseMs: number },
  phase: Phase,
  signal: AbortSignal,
): Promise<void> {
  for (let due = first; !signal.aborted; due += pauseMs) {
    const early = due - performance.now()
    if (early > 0) await delay(early)
    const begin = early > 0 ? performance.now() : due
    const { value: step } = await client.requests.next(client.answer)
    client.answer = await sendOne(client, step, phase)
    phase.waits.push(performance.now() - begin)
  }
}

async function sendOne({ send }: Client, step: Step, { errors }: Phase): Promise<string> {
  const what = `${step.method} ${step.path}`
  try {
    const { status, text } = await send(step)
    if (status === step.expected) return text
    errors.push(`${what}: ${status} ${text.slice(0, 200)}`)
  } catch (error) {
    errors.push(`${what}: ${error}`)
  }
  return '{}'
}

function memoryBound(before: number): number {
  return maxGrowth * before + memoryNoise
}

/** Waits until memory has returned to the previous level, or until a timeout. */
async function recovered(pid: number, before: number): Promise<void> {
  const end = performance.now() + recoverySeconds * 1000
  // The memory must stay low for a moment, because a single sample may precede new allocations.
  for (let below = 0; below < 3 && performance.now() < end; await delay(1000))
    below = ownMemory(pid) <= memoryBound(before) ? below + 1 : 0
}

function at(waits: readonly number[], part: number): number {
  return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * part)]!
}

const inMib = (bytes: number) => Math.round(bytes / mebibyte)

function reportPhases(t: TestContext, phases: { readonly [name: string]: Phase }): void {
  t.diagnostic('the clients, the attackers and the server share the processors of this machine')
  for (const [name, { waits, errors, cpuPercent, starvedPercent }] of Object.entries(phases)) {
    const times = [0.5, 0.99, 0.999].map((part) => `p${100 * part} ${at(waits, part).toFixed(1)} ms`).join(', ')
    const load = `server CPU ${cpuPercent}%, waiting for a processor ${starvedPercent}%`
    t.diagnostic(`${name}: ${waits.length} requests, ${errors.length} errors, ${times}, ${load}`)
  }
}

function reportAttacks(t: TestContext, outcome: AttackOutcome): void {
  for (const [name, { runs, bytes, failed, lastError }] of Object.entries(outcome))
    t.diagnostic(
      `${name}: ${runs} times, ${Math.ceil(bytes / 1024)} KiB, ${failed} failed${lastError ? ` (${lastError})` : ''}`,
    )
}

function assertAlive(server: ServerHandle, pid: number): void {
  assert.equal(server.process.pid, pid)
  assert.deepEqual([server.process.exitCode, server.process.signalCode], [null, null], server.output())
  assert.doesNotMatch(server.output(), /the simulated-nodes thread exited/)
}
