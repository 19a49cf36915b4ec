/** Tests ephemeral servers: for test suites in any language, and as replacements for the envtest binaries. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseConfigYaml } from '../../src/client/node/config-yaml.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { readClientConfig } from '../../src/client/node/kubeconfig.ts'
import { Client } from '../../src/client/requests/client.ts'
import { freePorts, startEtcd } from '../support/etcd.ts'
import { asIssuer, makeIdentity } from '../support/identities.ts'
import { longTest } from '../support/long.ts'
import { configMap, configMaps } from '../support/resource-types.ts'
import { root } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-ephemeral-test-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** Returns the current data directories of ephemeral servers on this machine. */
function dataDirectories(pid: number | undefined): string[] {
  const places = [...new Set(['/dev/shm', tmpdir()])].filter((place) => existsSync(place))
  return places.flatMap((place) => readdirSync(place)).filter((name) => name.startsWith(`orch-ephemeral-${pid}-`))
}

interface Started {
  readonly process: ChildProcess
  output(): string
  readonly ended: Promise<number | null>
}

function start(program: string, args: readonly string[], stdin: 'pipe' | 'ignore' = 'pipe'): Started {
  const child = spawn(join(root, 'bin', program), args, { stdio: [stdin, 'pipe', 'ignore'] })
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  after(() => child.kill('SIGKILL'))
  return { process: child, output: () => output, ended }
}

function clientOf(kubeconfig: string): Client {
  const file = join(directory, `config-${Math.random()}`)
  writeFileSync(file, kubeconfig)
  const http = new HttpTransport(readClientConfig({ files: [file], parse: parseConfigYaml }).transport)
  after(() => http.close())
  return new Client(http.send)
}

const isWhole = (kubeconfig: string) => /^current-context: .*\n/m.test(kubeconfig)

test('an ephemeral server prints its kubeconfig, stops at the end of standard input and removes its files', async () => {
  const server = start('orch', ['up', '--ephemeral'])
  await untilTrue(async () => isWhole(server.output()))
  const client = clientOf(server.output())
  await client.create(configMaps, configMap('a', { k: 'v' }, 'default'))
  assert.equal(dataDirectories(server.process.pid).length, 1)
  server.process.stdin!.end()
  assert.equal(await server.ended, 0)
  assert.deepEqual(dataDirectories(server.process.pid), [])
})

test('an ephemeral server removes files left by a killed server, and stops when its parent process exits', async () => {
  const killed = start('orch', ['apiserver', '--ephemeral'])
  await untilTrue(async () => isWhole(killed.output()))
  killed.process.kill('SIGKILL')
  await killed.ended
  assert.equal(dataDirectories(killed.process.pid).length, 1)
  const file = join(directory, 'admin')
  const script = `${join(root, 'bin/orch')} apiserver --ephemeral --admin-kubeconfig=${file} < /dev/null & echo $!; wait`
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  parent.stdout.on('data', (chunk: Buffer) => (output += chunk))
  await untilTrue(async () => output.includes('stores nothing'))
  assert.deepEqual(dataDirectories(killed.process.pid), [])
  assert.ok(existsSync(file))
  const pid = Number(output.split('\n')[0])
  after(() => tryToKill(pid))
  parent.kill('SIGKILL')
  await untilTrue(async () => !isRunning(pid))
  assert.deepEqual(dataDirectories(pid), [])
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function tryToKill(pid: number): void {
  if (isRunning(pid)) process.kill(pid, 'SIGKILL')
}

test('flags that contradict --ephemeral are rejected', async () => {
  const server = spawn(join(root, 'bin/orch'), ['up', '--ephemeral', '--data-dir=x'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let told = ''
  server.stderr.on('data', (chunk: Buffer) => (told += chunk))
  const [code] = await once(server, 'exit')
  assert.equal(code, 1)
  assert.match(told, /--data-dir and --ephemeral are mutually exclusive/)
})

/** Creates the same files as envtest, and returns the arguments that envtest passes to kube-apiserver. */
async function envtest(etcd: string) {
  const certDir = mkdtempSync(join(directory, 'certs-'))
  const authority = await makeIdentity({ commonName: 'envtest', usages: ['cert sign'], authority: true })
  const issuer = asIssuer(authority)
  const names = { dns: ['localhost'], ips: ['127.0.0.1'] }
  const serving = await makeIdentity({ commonName: 'apiserver', usages: ['server auth'], issuer, names })
  const signer = await makeIdentity({ commonName: 'sa', usages: ['digital signature'] })
  const admin = await makeIdentity({
    commonName: 'admin',
    organizations: ['system:masters'],
    usages: ['client auth'],
    issuer,
  })
  for (const [name, content] of [
    ['apiserver.crt', serving.certificate],
    ['apiserver.key', serving.key],
    ['sa-signer.crt', signer.certificate],
    ['sa-signer.key', signer.key],
    ['client-cert-auth-ca.crt', authority.certificate],
  ] as const)
    writeFileSync(join(certDir, name), content)
  const [port] = await freePorts(1)
  const args = [
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    '--disable-admission-plugins=ServiceAccount',
    `--cert-dir=${certDir}`,
    '--authorization-mode=RBAC',
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${certDir}/sa-signer.crt`,
    `--service-account-signing-key-file=${certDir}/sa-signer.key`,
    `--client-ca-file=${certDir}/client-cert-auth-ca.crt`,
    `--etcd-servers=${etcd}`,
  ]
  const url = `https://127.0.0.1:${port}`
  const http = new HttpTransport({ server: url, authority: authority.certificate, certificate: admin })
  const anonymous = new HttpTransport({ server: url, authority: authority.certificate })
  after(() => {
    http.close()
    anonymous.close()
  })
  return { args, client: new Client(http.send), anonymous: new Client(anonymous.send) }
}

async function help(program: string): Promise<string> {
  const asked = start(program, ['--help'], 'ignore')
  assert.equal(await asked.ended, 0)
  return asked.output()
}

async function isWell(client: Client): Promise<boolean> {
  return await client.open({ method: 'GET', path: '/healthz' }).then(
    ({ status }) => status === 200,
    () => false,
  )
}

test('the replacements for etcd and kube-apiserver support everything that envtest needs', async () => {
  assert.match(await help('envtest/etcd'), /^\s+--unsafe-no-fsync\b/m)
  assert.doesNotMatch(await help('envtest/kube-apiserver'), /^\s+--insecure-port\b/m)
  const [clientPort, peerPort] = await freePorts(2)
  const etcdUrl = `http://127.0.0.1:${clientPort}`
  const etcd = start(
    'envtest/etcd',
    [
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      `--data-dir=${directory}/etcd`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-client-urls=${etcdUrl}`,
      '--unsafe-no-fsync=true',
    ],
    'ignore',
  )
  await untilTrue(
    async () =>
      await fetch(`${etcdUrl}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
  )
  const { args, client, anonymous } = await envtest(etcdUrl)
  const server = start(
    'envtest/kube-apiserver',
    [...args, '--insecure-port=0', '--advertise-address=127.0.0.1'],
    'ignore',
  )
  await untilTrue(async () => await isWell(anonymous))
  await client.create(configMaps, configMap('a', { k: 'v' }, 'default'))
  const version: { gitVersion: string; gitCommit: string } = await client.read('/version')
  assert.match(version.gitVersion, /^v1\.36/)
  const root = join(import.meta.dirname, '../..')
  const inRepository = existsSync(join(root, '.git')) && spawnSync('git', ['rev-parse'], { cwd: root }).status === 0
  assert.match(version.gitCommit, inRepository ? /^[0-9a-f]{40}$/ : /^$/)
  for (const { process, ended } of [server, etcd]) {
    process.kill('SIGTERM')
    assert.equal(await ended, 0)
  }
})

longTest('the kube-apiserver replacement can use a real etcd', async (t) => {
  const etcd = await startEtcd()
  t.after(() => etcd.stop())
  const { args, client, anonymous } = await envtest(etcd.endpoints[0]!)
  const server = start('envtest/kube-apiserver', args, 'ignore')
  await untilTrue(async () => await isWell(anonymous))
  await client.create(configMaps, configMap('in-etcd', { k: 'v' }, 'default'))
  server.process.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  const again = start('envtest/kube-apiserver', args, 'ignore')
  await untilTrue(async () => await isWell(anonymous))
  assert.deepEqual((await client.get(configMaps, { namespace: 'default', name: 'in-etcd' })).data, { k: 'v' })
  again.process.kill('SIGTERM')
  await again.ended
})
