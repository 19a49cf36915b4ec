/**
 * Tests Exec, Attach and PortForward objects, and followed logs, with kubectl. Files in KWOK's format determine what
 * clients of simulated containers see.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { removeTemporary, temporaryDirectory } from '../../../src/base/files/temporary-directory.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { ContainerLog } from '../../../src/cluster/node-port/container-log.ts'
import { execRules } from '../../../src/cluster/nodes/kwok/exec-objects.ts'
import { LogLineReader } from '../../../src/cluster/nodes/kwok/log-line-reader.ts'
import { readOwnRules } from '../../../src/cluster/nodes/kwok/pod-rules.ts'
import { portRules } from '../../../src/cluster/nodes/kwok/port-objects.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUpWithThread } from '../../support/in-process.ts'
import { kubectl as runKubectl, withoutCollector } from '../../support/kubectl.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespace = 'default'
const parent = temporaryDirectory('orch-test-connections-')
after(() => removeTemporary(parent))
const directory = join(parent, 'logs')
const owner = endOfFile()
let server: Restartable
let client: Client

const kubectl = (args: readonly string[], input = '') => runKubectl(server, args, input)

before(async () => {
  mkdirSync(directory)
  const flags = ['--profile=kubernetes', '--nodes=1', `--simulation-logs=${directory}`]
  server = await serveUpWithThread(owner, [...flags, '--allowed-proxy-cidrs=127.0.0.3/32'])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  const ports = [{ containerPort: 80 }]
  const containers = [
    { name: 'main', image: 'i', workingDir: '/srv', ports },
    { name: 'side', image: 'i' },
  ]
  for (const name of ['web', 'other'])
    await client.create(kinds.Pod, { metadata: { name, namespace }, spec: { nodeName: 'node-1', containers } } as never)
  await until(
    () => client.list(kinds.Pod, { namespace }),
    ({ items }) => items.length === 2 && items.every(({ status }) => status?.phase === 'Running'),
  )
  await untilTrue(async () => (await kubectl(['get', 'clusterportforwards'])).code === 0)
})

/** Applies a file and waits until the server has reported whether it supports the objects. */
async function apply(file: string): Promise<string> {
  const { stderr, stdout } = await kubectl(['apply', '-f', '-', '-o', 'name'], file)
  assert.equal(stderr, '')
  const args = ['get', ...stdout.trim().split('\n'), '-n', namespace]
  const status = async () => (await kubectl([...args, '--no-headers', '-o', 'wide'])).stdout
  return await until(status, (text) => /\b(?:True|False)\b/.test(text))
}

/** Starts kubectl and returns its output so far. */
function start(args: readonly string[]): { readonly child: ChildProcess; readonly output: () => string } {
  const own = [`--kubeconfig=${join(server.directory, 'admin.kubeconfig')}`]
  const child = spawn('kubectl', [...own, ...args], { env: { ...process.env, ...withoutCollector } })
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr!.on('data', (chunk: Buffer) => (output += chunk))
  return { child, output: () => output }
}

test('Exec and ClusterExec objects determine the environment of commands', { timeout: 60_000 }, async () => {
  const run = async (pod: string, script: string) =>
    (await kubectl(['exec', pod, '-c', 'main', '--', 'sh', '-c', script])).stdout
  const script = 'pwd; echo $GREETING $WHO; id; whoami'
  assert.equal(await run('web', script), '/srv\n \nuid=0(root) gid=0(root)\nroot\n')
  const own = await apply(`
kind: Exec
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: web, namespace: default}
spec:
  execs:
  - containers: [main]
    local:
      workDir: /tmp/work
      envs:
      - name: GREETING
        value: hello
      - name: WHO
      securityContext: {runAsUser: 1001, runAsGroup: 1002}
`)
  const all = await apply(`
kind: ClusterExec
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: all}
spec:
  selector: {matchNamespaces: [default]}
  execs:
  - local:
      envs:
      - {name: WHO, value: everybody}
`)
  assert.deepEqual([/True/.test(own), /True/.test(all)], [true, true])
  const isDone = (text: string) => /hello|everybody/.test(text)
  assert.equal(await until(() => run('web', script), isDone), '/tmp/work\nhello \nuid=1001 gid=1002\n')
  assert.equal(await until(() => run('other', script), isDone), '/srv\n everybody\nuid=0(root) gid=0(root)\nroot\n')
  assert.equal((await kubectl(['exec', 'web', '--', '/bin/uname', '-a'])).stdout, 'Linux\n')
  assert.match((await kubectl(['exec', 'web', '--', 'node', '-v'])).stderr, /has no program "node"/)
})

test('relative paths are resolved from the working directory', { timeout: 60_000 }, async () => {
  const file = join(parent, 'copied')
  writeFileSync(file, 'copied')
  assert.equal((await kubectl(['cp', file, 'other:/srv/copied', '-c', 'main'])).stderr, '')
  const { stdout } = await kubectl(['exec', 'other', '-c', 'main', '--', 'sh', '-c', 'ls; cat copied'])
  assert.equal(stdout, 'copied\ncopied')
})

test('Attach objects stream a file, including data that is written to it later', { timeout: 60_000 }, async () => {
  writeFileSync(join(directory, 'output.log'), 'first\nsecond\n')
  const status = await apply(`
kind: Attach
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: web, namespace: default}
spec:
  attaches:
  - containers: [main]
    logsFile: output.log
`)
  assert.match(status, /True/)
  const { child, output } = start(['attach', 'web', '-c', 'main'])
  try {
    await untilTrue(async () => output().includes('second'))
    appendFileSync(join(directory, 'output.log'), 'thi')
    appendFileSync(join(directory, 'output.log'), 'rd\n')
    await untilTrue(async () => output().includes('third'))
    assert.match(output(), /^first\nsecond\nthird$/m)
    renameSync(join(directory, 'output.log'), join(directory, 'output.old'))
    writeFileSync(join(directory, 'output.log'), 'rotated\n')
    await untilTrue(async () => output().includes('rotated'))
  } finally {
    child.kill()
  }
})

test('kubectl logs -f follows a file if the Logs object specifies this', { timeout: 60_000 }, async () => {
  const now = '2026-01-02T03:04:05.123456789Z'
  writeFileSync(join(directory, 'runtime.log'), `${now} stdout F one\n${now} stdout P tw\n${now} stdout F o\n`)
  const status = await apply(`
kind: ClusterLogs
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: followed}
spec:
  selector: {matchNames: [web]}
  logs:
  - {containers: [main], logsFile: runtime.log, follow: true}
  - {logsFile: runtime.log}
`)
  assert.match(status, /True/)
  const read = async (container: string, ...flags: string[]) =>
    (await kubectl(['logs', 'web', '-c', container, ...flags])).stdout
  const isFile = (text: string) => text.startsWith('one')
  assert.equal(await until(() => read('side', '-f'), isFile), 'one\ntwo\n')
  assert.equal(await read('main', '--timestamps', '--tail=1'), '2026-01-02T03:04:05.123000000Z two\n')
  const { child, output } = start(['logs', '-f', 'web', '-c', 'main'])
  try {
    await untilTrue(async () => output().includes('two'))
    appendFileSync(join(directory, 'runtime.log'), `${now} stderr F three\n`)
    await untilTrue(async () => output().includes('three'))
  } finally {
    child.kill()
  }
})

test('PortForward objects forward to other servers and send predefined responses', { timeout: 60_000 }, async () => {
  const target = createServer((request, response) => response.end(`target ${request.url}`))
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.3', resolve))
  after(() => target.close())
  const { port } = target.address() as AddressInfo
  const status = await apply(`
kind: PortForward
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: web, namespace: default}
spec:
  forwards:
  - ports: [8001]
    target: {address: 127.0.0.3, port: ${port}}
  - ports: [8002]
    target: {address: 127.0.0.1, port: ${port}}
  - httpRoutes:
    - {location: /, code: 200, body: everything, headers: [{name: ETag, value: one}]}
    - {location: /healthz, code: 204}
    - {location: /sub/, code: 503, body: busy}
`)
  assert.match(status, /True/)
  const proxied = async (podPort: number, path: string) =>
    await server.client().get(`/api/v1/namespaces/${namespace}/pods/web:${podPort}/proxy${path}`)
  const first = await until(
    () => proxied(80, '/x'),
    ({ text }) => text === 'everything',
  )
  assert.equal(first.headers.etag, 'one')
  assert.equal((await proxied(9000, '/healthz')).status, 204)
  assert.equal((await proxied(80, '/sub/a?b=/')).text, 'busy')
  assert.equal((await proxied(80, '/healthz/')).text, 'everything')
  assert.equal((await proxied(8001, '/path')).text, 'target /path')
  const refused = start(['port-forward', 'web', ':8002', ':8001'])
  try {
    const portOf = (podPort: number) => new RegExp(`127.0.0.1:(\\d+) -> ${podPort}`).exec(refused.output())?.[1]
    await untilTrue(async () => portOf(8001) !== undefined && portOf(8002) !== undefined)
    assert.equal(await (await fetch(`http://127.0.0.1:${portOf(8001)}/kubectl`)).text(), 'target /kubectl')
    await assert.rejects(fetch(`http://127.0.0.1:${portOf(8002)}/`))
    await untilTrue(async () => /cannot connect to 127\.0\.0\.1: address not allowed/.test(refused.output()))
  } finally {
    refused.child.kill()
  }
})

test('the Supported condition reports that commands for port forwarding are not supported', {
  timeout: 60_000,
}, async () => {
  const status = await apply(`
kind: ClusterPortForward
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: command}
spec:
  forwards:
  - ports: [9]
    command: [nc, localhost, "9"]
`)
  assert.match(status, /False .*spec\.forwards\[0\]\.command is not supported: the server does not run users' commands/)
})

test('invalid Exec and PortForward objects are rejected', () => {
  const local = (value: Json) => ({ spec: { execs: [{ local: value }] } }) as Json
  const forward = (value: Json) => ({ spec: { forwards: [value] } }) as Json
  const route = (value: { [name: string]: Json }) =>
    forward({ httpRoutes: [{ location: '/', code: 200, ...value }] } as Json)
  for (const [object, message] of [
    [local({ workdir: '/' }), /spec\.execs\[0\]\.local\.workdir is not supported/],
    [local({ envs: [{ value: 'a' }] }), /spec\.execs\[0\]\.local\.envs\[0\]\.name is not a string/],
    [local({ envs: Array.from({ length: 257 }, () => ({ name: 'a' })) }), /more than 256 elements/],
    [local({ securityContext: { runAsUser: -1 } }), /runAsUser is not a non-negative number/],
  ] as const)
    assert.throws(() => readOwnRules(execRules, object), { name: 'StageError', message })
  for (const [object, message] of [
    [forward({}), /spec\.forwards\[0\]\.target is not an object/],
    [forward({ target: { address: 'a', port: 0 } }), /target\.port is not between 1 and 65535/],
    [forward({ target: { address: '', port: 1 } }), /target\.address is not a valid host name/],
    [forward({ ports: ['80'], target: { address: 'a', port: 1 } }), /ports is not a non-negative number/],
    [route({ code: 1.5 }), /httpRoutes\[0\]\.code is not a whole number/],
    [route({ headers: [{ name: 'a b' }] }), /headers\[0\]\.name is not a valid header name/],
    [route({ headers: [{ name: 'a', value: 'b\r\nc: d' }] }), /headers\[0\]\.value contains invalid characters/],
    [route({ headers: [{ name: 'Content-Length', value: '9' }] }), /a header that the server sets itself/],
  ] as const)
    assert.throws(() => readOwnRules(portRules, object), { name: 'StageError', message })
})

test("log lines in a container runtime's format are parsed, and all other lines are plain text", () => {
  const log = new ContainerLog()
  const reader = new LogLineReader(log, () => 5000)
  const time = '1970-01-01T00:00:02Z'
  reader.write(`plain\n{"log":"json\\n","stream":"stderr","time":"1970-01-01T00:00:09Z"}\n{"log":1}\n`)
  reader.write(`${time} stdout P half `)
  reader.write(`\n${time} stdout F line\n${'x'.repeat(20_000)}`)
  reader.flush()
  log.end()
  const lines = Array.from({ length: log.range.end }, (_, i) => log.line(i)!)
  assert.deepEqual(
    lines.map(({ time, stream, text }) => [time, stream, text.slice(0, 10)]),
    [
      [5000, 'stdout', 'plain'],
      [9000, 'stderr', 'json'],
      [9000, 'stdout', '{"log":1}'],
      [9000, 'stdout', 'half line'],
      [9000, 'stdout', 'xxxxxxxxxx'],
    ],
  )
})
