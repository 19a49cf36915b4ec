/**
 * Real etcd for tests: one or more members on free ports of 127.0.0.1, optionally with TLS certificates created for the
 * test. The caller stops the cluster. Any members that are still running when the process exits are killed.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

import { type PeerWire, startPeerWire } from './peer-wires.ts'

export interface EtcdTls {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

export interface Cluster {
  readonly endpoints: readonly string[]
  /** TLS options for clients. Undefined if the cluster does not use TLS. */
  readonly tls: EtcdTls | undefined
  /** Returns the process ID of a member. A restart changes the ID. */
  pid(member: number): number
  /** Sends SIGKILL to a member and waits until it exits. */
  kill(member: number): Promise<void>
  /** Restarts a killed member on its data and waits until the member is ready. */
  restart(member: number): Promise<void>
  signal(member: number, signal: NodeJS.Signals): void
  /** Stops the only member of the cluster, copies its data and restarts it. */
  save(): Promise<void>
  /** Kills the only member of the cluster and restarts it with the saved data, so that later writes are lost. */
  restore(): Promise<void>
  /** Waits for a leader and returns it. The cluster must not use TLS. */
  leader(): Promise<number>
  /** Disconnects a member from the other members, but not from clients. The cluster must be `divisible`. */
  isolate(member: number): Promise<void>
  /** Reconnects all members. */
  heal(): void
  stop(): Promise<void>
}

export interface EtcdOptions {
  readonly members?: number
  /** Whether members can be disconnected from each other. */
  readonly divisible?: boolean
  /** Election timeout of the members in milliseconds. Tests that stop the leader use a short timeout. */
  readonly electionMs?: number
  readonly tls?: boolean
  readonly args?: readonly string[]
}

const readyMs = 60_000

/**
 * Election timeout in milliseconds for members that are not stopped. A write during an election may fail with an
 * unknown outcome, and on a busy machine, half a second of silence is normal.
 */
export const steadyMs = 5_000

export async function startEtcd(options: EtcdOptions = {}): Promise<Cluster> {
  const { members = 1, divisible = false, electionMs = 500, tls = false, args = [] } = options
  const directory = await mkdtemp(join(tmpdir(), 'orch-etcd-'))
  const files = tls ? await makeCertificates(directory) : undefined
  const ports = await freePorts(members * 2)
  const wires = divisible ? await Promise.all(ports.slice(members).map(startPeerWire)) : []
  const plans = planMembers({ directory, members, electionMs, files, args, ports, wires })
  const running = plans.map((plan) => launch(plan))
  const stop = async () => {
    await Promise.all(running.map((member) => member.kill()))
    await Promise.all(wires.map((wire) => wire.close()))
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await Promise.all(running.map((member) => member.ready))
  } catch (error) {
    await stop()
    throw error
  }
  const restart = async (member: number) => {
    running[member] = launch(plans[member]!)
    await running[member].ready
  }
  const copyData = async (from: string, to: string) => {
    assert.equal(members, 1, 'a cluster of several members is not restored by copying files')
    await running[0]!.kill()
    await rm(join(directory, to), { recursive: true, force: true })
    await cp(join(directory, from), join(directory, to), { recursive: true })
    await restart(0)
  }
  return {
    endpoints: plans.map((plan) => plan.client),
    tls: files && (await readClientFiles(files)),
    pid: (member) => running[member]!.child.pid!,
    kill: (member) => running[member]!.kill(),
    restart,
    leader: () => findLeader(plans.map((plan) => plan.client)),
    signal: (member, signal) => void running[member]!.child.kill(signal),
    async isolate(member) {
      assert.ok(divisible, 'the cluster is not divisible')
      const id = await idOf(plans[member]!.client)
      for (const [i, wire] of wires.entries()) wire.refuse(i === member ? 'all' : [id])
    },
    heal() {
      for (const wire of wires) wire.refuse([])
    },
    save: () => copyData('m0', 'saved'),
    restore: () => copyData('saved', 'm0'),
    stop,
  }
}

/** Starts a single-member cluster on existing data, such as a restored snapshot. */
export async function startEtcdOn(directory: string): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const [client, peer] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`) as [string, string]
  const urls = ['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer]
  const member = launch({ client, args: ['--data-dir', directory, ...urls] })
  await member.ready
  return { endpoint: client, stop: () => member.kill() }
}

async function findLeader(clients: readonly string[]): Promise<number> {
  const deadline = performance.now() + readyMs
  while (performance.now() < deadline) {
    const leads = await Promise.all(clients.map(isLeader))
    if (leads.includes(true)) return leads.indexOf(true)
    await delay(50)
  }
  throw new Error(`no leader of etcd within ${readyMs} ms`)
}

interface MemberStatus {
  readonly header: { readonly member_id: string }
  readonly leader?: string
}

async function statusOf(client: string): Promise<MemberStatus> {
  const answer = await fetch(`${client}/v3/maintenance/status`, { method: 'POST', body: '{}' })
  return (await answer.json()) as MemberStatus
}

/** Returns the ID that the members use for each other. */
async function idOf(client: string): Promise<string> {
  return BigInt((await statusOf(client)).header.member_id).toString(16)
}

async function isLeader(client: string): Promise<boolean> {
  try {
    const { header, leader } = await statusOf(client)
    return header.member_id === leader
  } catch {
    // A stopped member is not the leader.
    return false
  }
}

interface Plan {
  readonly client: string
  readonly args: readonly string[]
}

interface PlanOptions {
  readonly directory: string
  readonly members: number
  readonly electionMs: number
  readonly files: CertificateFiles | undefined
  readonly args: readonly string[]
  /** Ports for clients, followed by ports for peers. */
  readonly ports: readonly number[]
  /** Proxies between peers. Empty if members cannot be disconnected from each other. */
  readonly wires: readonly PeerWire[]
}

function planMembers({ directory, members, electionMs, files, args, ports, wires }: PlanOptions): Plan[] {
  const listening = (i: number) => `http://127.0.0.1:${ports[members + i]}`
  const peer = (i: number) => wires[i]?.url ?? listening(i)
  const cluster = Array.from({ length: members }, (_, i) => `m${i}=${peer(i)}`).join(',')
  return Array.from({ length: members }, (_, i) => {
    const client = `${files ? 'https' : 'http'}://127.0.0.1:${ports[i]}`
    return {
      client,
      args: [
        ...['--name', `m${i}`, '--data-dir', join(directory, `m${i}`)],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', listening(i), '--initial-advertise-peer-urls', peer(i)],
        ...['--initial-cluster', cluster, '--heartbeat-interval', '50', '--election-timeout', String(electionMs)],
        ...(files ? tlsArgs(files) : []),
        ...args,
      ],
    }
  })
}

function tlsArgs(files: CertificateFiles): string[] {
  return [
    '--client-cert-auth',
    ...['--trusted-ca-file', files.ca, '--cert-file', files.serverCert, '--key-file', files.serverKey],
  ]
}

interface Member {
  readonly child: ChildProcess
  readonly ready: Promise<void>
  kill(): Promise<void>
}

function launch(plan: Plan): Member {
  // The members may accumulate more garbage, because they run for only a few seconds.
  const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch, GOGC: '400' }
  const child = spawn('etcd', plan.args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const killOnExit = () => child.kill('SIGKILL')
  process.once('exit', killOnExit)
  const gone = once(child, 'exit').finally(() => process.off('exit', killOnExit))
  const ready = waitUntilReady(child)
  // The owner awaits both promises later. Until then, a failed start must not be reported as an unhandled rejection.
  gone.catch(() => {})
  ready.catch(() => {})
  return {
    child,
    ready,
    async kill() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await gone
    },
  }
}

function waitUntilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const last: string[] = []
    const lastOutput = () => (last.length > 0 ? `, it said:\n${last.join('\n')}` : '')
    const timer = setTimeout(() => reject(new Error(`etcd is not ready after ${readyMs} ms${lastOutput()}`)), readyMs)
    child.once('error', (cause) => {
      clearTimeout(timer)
      reject(new Error('etcd cannot be started: install the Debian package etcd-server', { cause }))
    })
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      reject(new Error(`etcd ended (${code ?? signal})${lastOutput()}`))
    })
    createInterface({ input: child.stderr! }).on('line', (line) => {
      if (last.push(line) > 20) last.shift()
      if (!line.includes('ready to serve client requests')) return
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Returns ports that were free a moment ago. All of them were open at the same time, so they are distinct. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenAnywhere))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function listenAnywhere() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

interface CertificateFiles {
  readonly ca: string
  readonly serverCert: string
  readonly serverKey: string
  readonly clientCert: string
  readonly clientKey: string
}

async function readClientFiles(files: CertificateFiles): Promise<EtcdTls> {
  const [ca, cert, key] = await Promise.all([files.ca, files.clientCert, files.clientKey].map((name) => readFile(name)))
  return { ca: ca!, cert: cert!, key: key! }
}

/** Creates a separate CA with a client certificate, for a client that the cluster does not trust. */
export async function makeStrangerTls(): Promise<EtcdTls> {
  const directory = await mkdtemp(join(tmpdir(), 'orch-etcd-'))
  try {
    return await readClientFiles(await makeCertificates(directory))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const openssl = (args: readonly string[]) => promisify(execFile)('openssl', args)

async function makeCertificates(directory: string): Promise<CertificateFiles> {
  const file = (name: string) => join(directory, name)
  const makeKey = (name: string) => openssl(['ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', file(name)])
  await Promise.all(['ca.key', 'server.key', 'client.key'].map(makeKey))
  const days = ['-days', '2']
  await openssl([
    'req',
    '-x509',
    '-new',
    '-key',
    file('ca.key'),
    '-subj',
    '/CN=test-ca',
    ...days,
    '-out',
    file('ca.crt'),
  ])
  const sign = async (name: string, extensions: string) => {
    await writeFile(file(`${name}.ext`), extensions)
    const request = file(`${name}.csr`)
    await openssl(['req', '-new', '-key', file(`${name}.key`), '-subj', `/CN=${name}`, '-out', request])
    const authority = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-set_serial', name === 'server' ? '2' : '3']
    const extra = ['-extfile', file(`${name}.ext`)]
    await openssl(['x509', '-req', '-in', request, ...authority, ...days, ...extra, '-out', file(`${name}.crt`)])
  }
  // etcd's gateway is a client of the server but uses the server's certificate, so the certificate must be valid for
  // both purposes.
  await sign('server', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n')
  await sign('client', 'extendedKeyUsage=clientAuth\n')
  return {
    ca: file('ca.crt'),
    serverCert: file('server.crt'),
    serverKey: file('server.key'),
    clientCert: file('client.crt'),
    clientKey: file('client.key'),
  }
}
