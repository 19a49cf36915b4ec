/**
 * `npm run compare`: compares this server with the tools in `docs/compare.md`, using the same client on the same
 * machine. Measures the time until each server is ready, the time to create 1,000 ConfigMaps, and the memory of the
 * server's processes afterwards. Requires Linux. Tools that are not installed are omitted.
 *
 *   kube-apiserver   the programs that ORCH_BENCH_KUBE_APISERVER and ORCH_BENCH_ETCD name, or those of envtest in the
 *                    directory KUBEBUILDER_ASSETS
 *   k3s, kcp         the programs on the PATH (k3s needs root)
 *   KWOK, kind       kwokctl and kind on the PATH. The memory of their containers is not measured.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../src/client/node/connect.ts'
import { ConfigMap } from '../src/client/requests/built-in-kinds.ts'
import type { Client } from '../src/client/requests/client.ts'
import { Bench, token } from './servers.ts'

const root = join(import.meta.dirname, '..')
const objectCount = 1_000
const clients = 16
const maxStartMs = 180_000

/** A server that is being measured. */
interface Running {
  readonly connect: () => Promise<Client>
  /** Processes whose memory is measured, including their descendants. Empty if the server runs in a container. */
  readonly processes: readonly number[]
  stop(): Promise<void>
}

interface Tool {
  readonly name: string
  /** Starts the tool in an empty directory. Undefined if the tool is not installed. */
  readonly start: ((directory: string) => Promise<Running>) | undefined
}

const bench = new Bench()

function tools(): readonly Tool[] {
  return [
    { name: 'orch up', start: (directory) => program(directory, join(root, 'bin/orch'), ourFlags('up', directory)) },
    {
      name: 'orch apiserver',
      start: (directory) => program(directory, join(root, 'bin/orch'), ourFlags('apiserver', directory)),
    },
    { name: 'kube-apiserver and etcd', start: kubeApiserver() },
    { name: 'k3s', start: installed('k3s', (directory) => program(directory, 'k3s', k3sFlags(directory))) },
    {
      name: 'kcp',
      start: installed('kcp', (directory) => program(directory, 'kcp', ['start', `--root-directory=${directory}`])),
    },
    { name: 'KWOK', start: installed('kwokctl', (directory) => cluster(directory, 'kwokctl')) },
    { name: 'kind', start: installed('kind', (directory) => cluster(directory, 'kind')) },
  ]
}

function ourFlags(command: string, directory: string): string[] {
  const files = [`--data-dir=${directory}/data`, `--admin-kubeconfig=${directory}/admin.kubeconfig`]
  return [command, '--profile=kubernetes', '--secure-port=0', ...files]
}

function k3sFlags(directory: string): string[] {
  return [
    'server',
    '--disable-agent',
    `--data-dir=${directory}/data`,
    `--write-kubeconfig=${directory}/admin.kubeconfig`,
  ]
}

function installed<T>(command: string, start: T): T | undefined {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0 ? start : undefined
}

function kubeApiserver(): Tool['start'] {
  const assets = process.env.KUBEBUILDER_ASSETS ?? ''
  const apiserver = process.env.ORCH_BENCH_KUBE_APISERVER ?? join(assets, 'kube-apiserver')
  const etcd = process.env.ORCH_BENCH_ETCD ?? join(assets, 'etcd')
  if (!existsSync(apiserver) || !existsSync(etcd)) return undefined
  return async () => {
    const { origin, pid, helpers = [], stop } = await bench.startKubeApiserver({ apiserver, etcd })
    const access = { server: origin, token, insecure: true }
    return { connect: () => connect(access), processes: [pid, ...helpers], stop }
  }
}

/** Starts, in the foreground, a server that writes `admin.kubeconfig` into its directory. */
async function program(directory: string, command: string, args: readonly string[]): Promise<Running> {
  const child = spawn(command, args, { cwd: directory, stdio: 'ignore' })
  return { connect: fromFile(join(directory, 'admin.kubeconfig')), processes: [child.pid!], stop: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  if (child.exitCode === null && child.kill('SIGTERM')) await ended
}

/** Creates a cluster in the background, with `kind` or `kwokctl`, which use the same commands. */
async function cluster(directory: string, command: string): Promise<Running> {
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const run = (verb: string) =>
    spawnSync(command, [verb, 'cluster', '--name=orch-compare', `--kubeconfig=${kubeconfig}`])
  run('create')
  return { connect: fromFile(kubeconfig), processes: [], stop: async () => void run('delete') }
}

function fromFile(kubeconfig: string): () => Promise<Client> {
  return async () => await connect({ kubeconfig })
}

/** Returns a client when the server is ready. */
async function readyClient(running: Running): Promise<Client> {
  const deadline = performance.now() + maxStartMs
  for (;;) {
    try {
      const client = await running.connect()
      await client.list(ConfigMap, { namespace: 'default', limit: 1 })
      return client
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(20)
    }
  }
}

async function createObjects(client: Client): Promise<void> {
  const data = { value: 'x'.repeat(1_000) }
  let next = 0
  const work = async () => {
    for (let i = next++; i < objectCount; i = next++)
      await client.create(ConfigMap, { metadata: { namespace: 'default', name: `compare-${i}` }, data })
  }
  await Promise.all(Array.from({ length: clients }, work))
}

/** Returns the proportional set size, in bytes, of processes and their descendants. */
function memoryOf(processes: readonly number[]): number {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  )
  const belongs = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (processes.includes(pid) || belongs(parents.get(pid)))
  const own = [...parents.keys()].filter((pid) => belongs(pid))
  return own.reduce((sum, pid) => sum + proportionalBytes(pid), 0)
}

function parentOf(pid: string): number | undefined {
  return numberIn(`/proc/${pid}/status`, /^PPid:\s+(\d+)/m)
}

function proportionalBytes(pid: number): number {
  return (numberIn(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m) ?? 0) * 1024
}

/** Extracts a number from a file in /proc. Returns undefined if the process has ended. */
function numberIn(file: string, pattern: RegExp): number | undefined {
  if (!existsSync(file)) return undefined
  const match = pattern.exec(readFileSync(file, 'utf8'))
  return match === null ? undefined : Number(match[1])
}

async function measure(start: NonNullable<Tool['start']>): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-compare-'))
  const began = performance.now()
  const running = await start(directory)
  try {
    const client = await readyClient(running)
    const ready = performance.now()
    await createObjects(client)
    const created = performance.now()
    client.close()
    const megabytes =
      running.processes.length === 0 ? 'not measured' : `${Math.round(memoryOf(running.processes) / 1e6)} MB`
    return [`${((ready - began) / 1000).toFixed(2)} s`, `${((created - ready) / 1000).toFixed(2)} s`, megabytes]
  } finally {
    await running.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

function print(cells: readonly string[]): void {
  console.log(
    cells
      .map((cell, i) => cell.padEnd([26, 16, 16, 0][i]!))
      .join('')
      .trimEnd(),
  )
}

// In a checkout, the first start after a change also bundles the program.
spawnSync(join(root, 'bin/orch'), ['version'])
print(['tool', 'ready after', `${objectCount} creates`, 'memory'])
for (const { name, start } of tools())
  print([name, ...(start === undefined ? ['not installed'] : await measure(start))])
await bench.close()
