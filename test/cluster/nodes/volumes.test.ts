/** Tests the volumes and containers of Pods on simulated nodes: files, logs, commands and ports. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Duplex, PassThrough } from 'node:stream'
import { after, before, test } from 'node:test'
import type { ConfigMap } from '../../../src/api/kinds/core/config-map.ts'
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
import { readLog } from '../../../src/cluster/node-port/read-log.ts'
import { followRules } from '../../../src/cluster/nodes/failures/follow-failures.ts'
import { usualCapacity } from '../../../src/cluster/nodes/node-object.ts'
import { type Simulation, simulateNodes } from '../../../src/cluster/nodes/simulation.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const directory = temporaryDirectory('orch-test-nodes-')
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: new Map() })
const type = (plural: string) => ({ group: '', version: 'v1', plural, namespaced: true })
const configMaps = type('configmaps')
/** Advances only the wall clock, which determines the age of tokens. Loops use the monotonic clock. */
let aheadMs = 0
const clock = { ...systemClock, now: () => Date.now() + aheadMs }

let server: InProcess
let admin: Client
let simulation: Simulation
let running: RunningLoops
const asNode = (name: string) => new Client(server.server.transport(user(`system:node:${name}`, 'system:nodes')))

before(async () => {
  server = await startInProcess(undefined, ['--enable-admission-plugins=NodeRestriction'])
  admin = new Client(server.server.transport(user('admin', superusers)))
  const onError = (error: unknown) => console.error(error)
  const description = (name: string) => ({
    name,
    address: '10.1.2.3',
    capacity: usualCapacity,
    labels: {},
    taints: [],
    podRange: '10.128.7.0/24',
    port: () => 0,
  })
  simulation = simulateNodes({
    nodes: [description('n1'), description('n2')],
    pods: new Informer<Pod>(admin, kinds.Pod, { onError }),
    nodeObjects: new Informer<Node>(admin, kinds.Node, { onError }),
    rules: followRules(admin, vendorOf('orch'), { onError }),
    clientOf: asNode,
    vendor: vendorOf('orch'),
    clock,
    volumeDirectory: directory,
    volumePollMs: 50,
    onError,
  })
  running = startLoops([simulation.heartbeats, simulation.pods], server.server.loopRecords)
  const account = { metadata: { name: 'default', namespace: 'default' } }
  await admin.create(type('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', ...account })
  const data = { color: 'blue', shape: 'round' }
  const metadata = { name: 'settings', namespace: 'default' }
  await admin.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  const secret = { metadata: { name: 'password', namespace: 'default' }, stringData: { word: 'swordfish' } }
  await admin.create(type('secrets'), { apiVersion: 'v1', kind: 'Secret', ...secret })
})
after(async () => {
  await running.stop()
  await server.stop()
  removeTemporary(directory)
})

const volumes = [
  { name: 'config', configMap: { name: 'settings', items: [{ key: 'color', path: 'deep/color', mode: 0o400 }] } },
  { name: 'all', configMap: { name: 'settings' } },
  { name: 'hidden', secret: { secretName: 'password', defaultMode: 0o600 } },
  { name: 'about', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  {
    name: 'mixed',
    projected: {
      sources: [
        { configMap: { name: 'settings' } },
        { serviceAccountToken: { path: 'token', expirationSeconds: 1000, audience: 'somebody' } },
        { secret: { name: 'missing', optional: true } },
      ],
    },
  },
  { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
]
const mounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))
const container = {
  name: 'c',
  image: 'i',
  ports: [{ containerPort: 80 }],
  volumeMounts: mounts,
  command: ['serve'],
  env: [
    { name: 'WORD', valueFrom: { secretKeyRef: { name: 'password', key: 'word' } } },
    { name: 'TWICE', value: '$(WORD) $(WORD)' },
  ],
}

async function makePod(name: string, spec: object = {}): Promise<Pod> {
  return await admin.create(kinds.Pod, {
    metadata: { name, namespace: 'default', labels: { app: 'x' } },
    spec: { nodeName: 'n1', automountServiceAccountToken: false, containers: [container], volumes, ...spec },
  } as unknown as Pod)
}

const read = (name: string) => admin.get(kinds.Pod, { namespace: 'default', name })
const runs = (name: string) =>
  until(
    () => read(name),
    ({ status }) => status?.phase === 'Running',
  )
const inVolume = ({ metadata }: Pod, sort: string, ...path: string[]) =>
  join(directory, 'pods', metadata.uid!, 'volumes', `orch.io~${sort}`, ...path)
const text = (...at: Parameters<typeof inVolume>) => readFileSync(inVolume(...at), 'utf8')

test('volumes contain the data of their sources with the requested file modes', async () => {
  const pod = await makePod('one')
  await runs('one')
  assert.equal(text(pod, 'configmap', 'config', 'deep', 'color'), 'blue')
  assert.equal(statSync(inVolume(pod, 'configmap', 'config', 'deep', 'color')).mode & 0o777, 0o400)
  assert.equal(text(pod, 'configmap', 'all', 'shape'), 'round')
  assert.equal(text(pod, 'secret', 'hidden', 'word'), 'swordfish')
  assert.equal(statSync(inVolume(pod, 'secret', 'hidden', 'word')).mode & 0o777, 0o600)
  assert.equal(text(pod, 'downwardapi', 'about', 'labels'), 'app="x"')
  assert.equal(statSync(inVolume(pod, 'empty-dir', 'scratch')).mode & 0o777, 0o777)
  const claims = text(pod, 'projected', 'mixed', 'token').split('.')[1]!
  assert.deepEqual(JSON.parse(Buffer.from(claims, 'base64url').toString()).aud, ['somebody'])
})

test('volumes are updated when their sources change, and tokens are replaced before they expire', async () => {
  const pod = await read('one')
  await admin.patch(
    configMaps,
    { namespace: 'default', name: 'settings' },
    { patch: { merge: { data: { color: 'red' } } } },
  )
  await until(
    async () => text(pod, 'configmap', 'config', 'deep', 'color'),
    (found) => found === 'red',
  )
  const token = text(pod, 'projected', 'mixed', 'token')
  const touch = (n: number) =>
    admin.patch(
      kinds.Pod,
      { namespace: 'default', name: 'one' },
      { patch: { merge: { metadata: { annotations: { n: `${n}` } } } } },
    )
  aheadMs = 790_000
  await touch(1)
  await admin.patch(
    configMaps,
    { namespace: 'default', name: 'settings' },
    { patch: { merge: { data: { color: 'green' } } } },
  )
  await until(
    async () => text(pod, 'projected', 'mixed', 'color'),
    (found) => found === 'green',
  )
  assert.equal(text(pod, 'projected', 'mixed', 'token'), token)
  aheadMs = 810_000
  await touch(2)
  await until(
    async () => text(pod, 'projected', 'mixed', 'token'),
    (found) => found !== token,
  )
  aheadMs = 0
})

test('a pod waits for missing volume sources and reports the missing sources', async () => {
  await makePod('waiting', {
    volumes: [{ name: 'late', configMap: { name: 'late' } }],
    containers: [{ name: 'c', image: 'i' }],
  })
  const events = await until(
    async () =>
      (await admin.list(type('events'), { namespace: 'default' })).items.map(({ message }) => String(message)),
    (messages) => messages.some((message) => message.includes('"late": configmap "late" not found')),
  )
  assert.ok(events.length > 0)
  assert.equal((await read('waiting')).status?.phase, 'Pending')
  const metadata = { name: 'late', namespace: 'default' }
  await admin.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata } as unknown as ConfigMap)
  await runs('waiting')
})

test('nodes can read only objects that their own pods reference', async () => {
  const secret = { namespace: 'default', name: 'password' }
  await asNode('n1').get(type('secrets'), secret)
  await assert.rejects(asNode('n2').get(type('secrets'), secret), { code: 403 })
  const patch = { merge: { status: { phase: 'Failed' } } }
  await assert.rejects(
    asNode('n2').patch(kinds.Pod, { namespace: 'default', name: 'one' }, { patch, subresource: 'status' }),
    { code: 403 },
  )
})

const node = () => simulation.runtimes.find(({ name }) => name === 'n1')!
const runtime = (name: string) => node().pod({ namespace: 'default', name })!

async function exec(command: string[], input?: string): Promise<{ code: number; out: string; err: string }> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const stdin = input === undefined ? undefined : Duplex.from([Buffer.from(input)])
  const signal = new AbortController().signal
  const streams = { stdin, stdout, stderr, terminal: undefined, signal }
  const code = await runtime('one').container('c')!.exec(command, streams)
  for (const stream of [stdout, stderr]) stream.end()
  const all = async (stream: PassThrough) => Buffer.concat(await stream.toArray()).toString()
  return { code, out: await all(stdout), err: await all(stderr) }
}

test('exec runs commands in a simulated container', async () => {
  for (const [command, code, out] of [
    [['echo', 'a', 'b'], 0, 'a b\n'],
    [['hostname'], 0, 'one\n'],
    [['cat', '/hidden/word'], 0, 'swordfish'],
    [['cat', '/config/deep/color', '/etc/hostname'], 0, 'greenone\n'],
    [['ls', '/all'], 0, 'color\nshape\n'],
    [['printenv', 'TWICE'], 0, 'swordfish swordfish\n'],
    [['sh', '-c', 'echo "$WORD"; false || echo no && echo \'$WORD\''], 0, 'swordfish\nno\n$WORD\n'],
    [['sh', '-c', 'exit 3'], 3, ''],
    [['sleep', '0'], 0, ''],
  ] as const)
    assert.deepEqual(await exec([...command]), { code, out, err: '' }, command.join(' '))
  assert.deepEqual(await exec(['sh'], 'echo $HOSTNAME\nexit 4\necho never\n'), { code: 4, out: 'one\n', err: '' })
  assert.match((await exec(['cat', '/hidden/../../../etc/passwd'])).err, /No such file/)
  assert.match((await exec(['sh', '-c', 'echo x > /all/y'])).err, /no pipes, redirections/)
  assert.equal((await exec(['sh', '-c', 'nginx'])).code, 127)
  await assert.rejects(exec(['nginx']), /has no program "nginx"/)
})

test('the log of a simulated container describes its lifecycle, and its port responds to requests', async () => {
  const never = new AbortController().signal
  const log = runtime('one').container('c')!.log('last')!
  const all = { follow: false, timestamps: false, tailLines: undefined, since: undefined, limitBytes: undefined }
  const lines = Buffer.concat(await Array.fromAsync(readLog(log, all, never))).toString()
  assert.match(
    lines,
    /^container c of pod default\/one started on node n1: image i, restart 0\n.*simulated.*\n.*"serve"/,
  )
  assert.equal(runtime('one').container('c')!.log('previous'), undefined)
  const [ours, theirs] = pair()
  const connected = runtime('one').connect(80, theirs, never)
  ours.end('GET /x HTTP/1.1\r\nhost: a\r\n\r\n')
  assert.match(
    Buffer.concat(await ours.toArray()).toString(),
    /^HTTP\/1\.1 200 OK\r\n[\s\S]*default\/one on n1\nGET \/x\n$/,
  )
  await connected
  await assert.rejects(runtime('one').connect(81, pair()[1], never), /nothing listens on port 81/)
  assert.deepEqual(
    node()
      .pods()
      .map(({ metadata }) => metadata.name)
      .includes('one'),
    true,
  )
  assert.equal(node().pod({ namespace: 'default', name: 'none' }), undefined)
})

function pair(): [Duplex, Duplex] {
  const a = new PassThrough()
  const b = new PassThrough()
  const joined = (readable: PassThrough, writable: PassThrough) =>
    Duplex.from({ readable, writable } as unknown as Iterable<Buffer>)
  return [joined(a, b), joined(b, a)]
}

test('a pod that exceeds an emptyDir size limit is evicted, and volumes are removed with their pod', async () => {
  const pod = await makePod('greedy')
  await runs('greedy')
  writeFileSync(inVolume(pod, 'empty-dir', 'scratch', 'large'), Buffer.alloc(2 * 1024 * 1024))
  const merge = { metadata: { annotations: { look: 'now' } } }
  await admin.patch(kinds.Pod, { namespace: 'default', name: 'greedy' }, { patch: { merge } })
  const evicted = await until(
    () => read('greedy'),
    ({ status }) => status?.phase === 'Failed',
  )
  assert.equal(evicted.status?.reason, 'Evicted')
  assert.match(evicted.status?.message ?? '', /EmptyDir volume "scratch" exceeds the limit "1048576"/)
  const one = await read('one')
  await admin.delete(kinds.Pod, { namespace: 'default', name: 'one' }, { gracePeriodSeconds: 1 })
  for (const { metadata } of [pod, one])
    await until(
      async () => existsSync(join(directory, 'pods', metadata.uid!)),
      (isThere) => !isThere,
    )
  assert.ok(!readdirSync(join(directory, 'pods')).includes(pod.metadata.uid!))
})
