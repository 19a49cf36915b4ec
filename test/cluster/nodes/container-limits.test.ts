/**
 * Tests the limits on users who may create pods and run commands on simulated nodes. The effect of each attack must be
 * bounded.
 */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type Readable, Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import type { Node } from '../../../src/api/kinds/core/node.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { superusers, type User } from '../../../src/api/model/user.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { removeTemporary, temporaryDirectory } from '../../../src/base/files/temporary-directory.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { Informer } from '../../../src/client/informers/informer.ts'
import { type RunningLoops, startLoops } from '../../../src/client/reconcile/loop.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { followRules } from '../../../src/cluster/nodes/failures/follow-failures.ts'
import { usualCapacity } from '../../../src/cluster/nodes/node-object.ts'
import { type Simulation, simulateNodes } from '../../../src/cluster/nodes/simulation.ts'
import { usedBytes } from '../../../src/cluster/nodes/volumes/memory-limit.ts'
import { assertBelow } from '../../support/effort.ts'
import { heapInUse } from '../../support/heap.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const mib = 1024 * 1024
const directory = temporaryDirectory('orch-test-limits-')
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: new Map() })
const type = (plural: string) => ({ group: '', version: 'v1', plural, namespaced: true })

let server: InProcess
let admin: Client
let simulation: Simulation
let running: RunningLoops

before(async () => {
  server = await startInProcess()
  admin = new Client(server.server.transport(user('admin', superusers)))
  const onError = (error: unknown) => console.error(error)
  const address = { address: '10.1.2.3', podRange: '10.128.7.0/24', port: () => 0 }
  simulation = simulateNodes({
    nodes: [{ name: 'n1', ...address, capacity: usualCapacity, labels: {}, taints: [] }],
    pods: new Informer<Pod>(admin, kinds.Pod, { onError }),
    nodeObjects: new Informer<Node>(admin, kinds.Node, { onError }),
    rules: followRules(admin, vendorOf('orch'), { onError }),
    clientOf: () => new Client(server.server.transport(user('system:node:n1', 'system:nodes'))),
    vendor: vendorOf('orch'),
    clock: systemClock,
    volumeDirectory: directory,
    onError,
  })
  running = startLoops([simulation.heartbeats, simulation.pods], server.server.loopRecords)
  const account = { metadata: { name: 'default', namespace: 'default' } }
  await admin.create(type('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', ...account })
  const large = { metadata: { name: 'large', namespace: 'default' }, data: { key: 'x'.repeat(900_000) } }
  await admin.create(type('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', ...large })
})
after(async () => {
  await running.stop()
  await server.stop()
  removeTemporary(directory)
})

async function makePod(name: string, spec: object): Promise<Pod> {
  return await admin.create(kinds.Pod, {
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'n1', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...spec },
  } as unknown as Pod)
}

async function runningContainer(name: string, container: object = {}) {
  await makePod(name, { containers: [{ name: 'c', image: 'i', ...container }] })
  return await until(
    async () => simulation.runtimes[0]!.pod({ namespace: 'default', name })?.container('c'),
    (found) => found?.isRunning === true,
  ).then((found) => found!)
}

type Container = Awaited<ReturnType<typeof runningContainer>>

/** Runs a command and discards its output. Returns the exit code, the error output and the number of bytes printed. */
async function exec(container: Container, command: string[], input?: AsyncIterable<Buffer>) {
  let bytes = 0
  let errors = ''
  const writable = (take: (chunk: Buffer) => void) =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        take(chunk)
        done()
      },
    })
  const stdout = writable((chunk) => {
    bytes += chunk.length
  })
  const stderr = writable((chunk) => {
    errors += chunk
  })
  const stdin = input as Readable | undefined
  const { signal } = new AbortController()
  const code = await container.exec(command, { stdin, stdout, stderr, terminal: undefined, signal })
  return { code, bytes, errors }
}

async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user: own, system } = process.cpuUsage(start)
  return (own + system) / 1000
}

test('expanding unclosed variable references takes linear time', async () => {
  const container = await runningContainer('unclosed', { env: [{ name: 'A', value: '$('.repeat(60_000) }] })
  await assertBelow(500, 'ms of processor time', () => cpuMsOf(() => exec(container, ['printenv', 'A'])))
})

test('variable references are expanded as in the kubelet', async () => {
  const env = [
    { name: 'A', value: 'a' },
    { name: 'B', value: '$(A) $$(A) $(NONE) $$$(A) $A $ $(A' },
  ]
  const container = await runningContainer('expanded', { env })
  const { bytes } = await exec(container, ['printenv', 'B'])
  assert.equal(bytes, Buffer.byteLength('a $(A) $(NONE) $a $A $ $(A\n'))
})

test('environment variables that double in size with each reference do not exhaust memory', async () => {
  const env = Array.from({ length: 24 }, (_, i) => ({
    name: `V${i}`,
    value: i === 0 ? 'x'.repeat(16) : `$(V${i - 1})$(V${i - 1})`,
  }))
  const container = await runningContainer('doubling', { env })
  await assert.rejects(exec(container, ['env']), /argument list too long/)
})

test('a large ConfigMap referenced with many envFrom prefixes does not exhaust memory', async () => {
  const envFrom = Array.from({ length: 200 }, (_, i) => ({ prefix: `P${i}_`, configMapRef: { name: 'large' } }))
  const container = await runningContainer('prefixes', { envFrom })
  await assert.rejects(exec(container, ['env']), /argument list too long/)
})

test('a shell variable that is repeatedly doubled stops growing at the size limit', async () => {
  const container = await runningContainer('shell')
  const line = `A=xxxxxxxx; ${'A=$A$A; '.repeat(26)}echo $A`
  const { bytes, errors } = await exec(container, ['sh', '-c', line])
  assert.match(errors, /^sh: argument list too long/)
  assert.ok(bytes < mib, `${bytes} bytes were printed`)
  const many = `A=${'x'.repeat(16_000)}; A=$A$A; A=$A$A; echo ${'$A'.repeat(20_000)}`
  const expanded = await exec(container, ['sh', '-c', many])
  assert.equal(expanded.code, 126)
  assert.equal(expanded.bytes, 0)
})

test('shell variables do not retain the input lines that set them', async () => {
  const container = await runningContainer('lines')
  const before = await heapInUse()
  let grown = 0
  async function* input() {
    for (let i = 0; i < 400; i++) yield Buffer.from(`A${i}=0123456789012345 #${'.'.repeat(60_000)}\n`)
    grown = (await heapInUse()) - before
  }
  await exec(container, ['sh'], input())
  assert.ok(grown < 8 * mib, `${grown} bytes more`)
})

test('a command that runs itself recursively terminates', async () => {
  const container = await runningContainer('recursion')
  const once = await exec(container, ['sh', '-c', `A='sh -c "$A"'; sh -c "$A"`])
  assert.match(once.errors, /nested more than 16 deep/)
  const often = await exec(container, ['sh', '-c', `A='${'sh -c "$A";'.repeat(50)}'; sh -c "$A"`])
  assert.match(often.errors, /more than 10000 commands/)
})

test('a command line received byte by byte is parsed in linear time', async () => {
  const container = await runningContainer('bytes')
  async function* input() {
    for (let i = 0; i < 60_000; i++) yield Buffer.from('#')
    yield Buffer.from('\n')
  }
  await assertBelow(350, 'ms of processor time', () => cpuMsOf(() => exec(container, ['sh'], input())))
})

test('a shell that runs many commands yields to other work', async () => {
  const container = await runningContainer('turns')
  let turns = 0
  const count = setInterval(() => turns++, 0)
  async function* input() {
    yield Buffer.from('\n'.repeat(30_000))
  }
  await exec(container, ['sh'], input())
  clearInterval(count)
  assert.ok(turns > 2, `${turns} turns`)
})

test('the log of a container stays small even if its command is large', async () => {
  const container = await runningContainer('log', { command: ['\u0001'.repeat(400_000)], image: 'i'.repeat(100_000) })
  const log = container.log('last')!
  const { first, end } = log.range
  const length = Array.from({ length: end - first }, (_, i) => log.line(first + i)!.text.length)
  assert.ok(Math.max(...length) <= 2048, `${length}`)
})

test('a pod that references one large key many times stays pending with an Event and uses no memory', async () => {
  const items = Array.from({ length: 200 }, (_, i) => ({ key: 'key', path: `p${i}` }))
  const { metadata } = await makePod('copies', { volumes: [{ name: 'v', configMap: { name: 'large', items } }] })
  const failed = await until(
    async () =>
      (await admin.list(type('events'), { namespace: 'default' })).items.find(
        ({ reason, involvedObject }) =>
          reason === 'FailedMount' && (involvedObject as { name: string }).name === 'copies',
      ),
    (event) => event !== undefined,
  )
  assert.match(String(failed?.message), /^MountVolume\.SetUp failed for volume "v": no space left on device/)
  assert.equal((await admin.get(kinds.Pod, { namespace: 'default', name: 'copies' })).status?.phase, 'Pending')
  assert.equal(await usedBytes(join(directory, 'pods', metadata.uid!)), 0n)
})

test('the number of small files and of tokens in a volume is limited', async () => {
  const items = Array.from({ length: 5000 }, (_, i) => ({ path: `p${i}`, fieldRef: { fieldPath: 'metadata.name' } }))
  const audience = (i: number) => ({ serviceAccountToken: { path: `t${i}`, audience: `a${i}` } })
  const sources = Array.from({ length: 65 }, (_, i) => audience(i))
  await makePod('files', { volumes: [{ name: 'v', downwardAPI: { items } }] })
  await makePod('tokens', { volumes: [{ name: 'v', projected: { sources } }] })
  for (const [name, message] of [
    ['files', /no space left on device/],
    ['tokens', /request 65 tokens; the limit is 64/],
  ] as const)
    await until(
      async () => (await admin.list(type('events'), { namespace: 'default' })).items,
      (events) =>
        events.some(
          (event) => (event.involvedObject as { name: string }).name === name && message.test(String(event.message)),
        ),
    )
})
