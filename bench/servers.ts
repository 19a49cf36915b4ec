/**
 * Starts the two compared servers, each in its own process: `startOrch` and `startBare`. A Bench owns all servers and
 * directories. `close` stops the servers and removes the directories. Prepared directories are reused within a run.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fill } from './objects.ts'

const root = dirname(import.meta.dirname)

export const token = 'bench-token'
/** Token of a user who has only the permissions that the row grants. */
export const readerToken = 'reader-token'

/** Token of a second user who has only the permissions that the row grants. */
export const quietToken = 'quiet-token'

export interface Side {
  readonly pid: number
  /** Other processes that the server needs, such as its store. Their CPU time is added to the server's CPU time. */
  readonly helpers?: readonly number[]
  readonly port: number
  /** https://127.0.0.1:port */
  readonly origin: string
  stop(): Promise<void>
}

export interface BareFiles {
  readonly get?: Buffer
  readonly list?: Buffer
  /** Number of threads that listen. Defaults to one. */
  readonly workers?: number
}

export class Bench {
  readonly directory = mkdtempSync(join(tmpdir(), 'orch-bench-'))
  readonly #running = new Set<ChildProcess>()
  readonly #filled = new Map<number, Promise<string>>()
  readonly #profiles: string | undefined
  #serverCount = 0

  /** Creates a bench. `profiles` is the directory for the server's CPU profiles. */
  constructor(profiles?: string) {
    this.#profiles = profiles
  }

  newDirectory(): string {
    const directory = join(this.directory, String(++this.#serverCount))
    mkdirSync(directory)
    writeFileSync(
      join(directory, 'tokens.csv'),
      `${token},bench,bench-uid,"system:masters"\n${readerToken},reader,reader-uid\n${quietToken},quiet,quiet-uid\n`,
    )
    return directory
  }

  /** Like `fill`, but creates only one directory per run for each number of objects. */
  filled(count: number): Promise<string> {
    let directory = this.#filled.get(count)
    if (directory === undefined) {
      directory = this.fill(count)
      this.#filled.set(count, directory)
    }
    return directory
  }

  /** Creates a directory with certificates, and a store that contains namespaces and the given number of objects. */
  async fill(count: number): Promise<string> {
    const directory = this.newDirectory()
    await (await this.startOrch(directory)).stop()
    await fill(join(directory, 'data'), count)
    return directory
  }

  /** Starts `orch apiserver`, optionally with additional flags. */
  async startOrch(directory: string, more: readonly string[] = []): Promise<Side> {
    return await this.#startOrch('apiserver', directory, more)
  }

  /** Starts `orch apiserver` and its control loops. */
  async startOrchUp(directory: string, more: readonly string[] = []): Promise<Side> {
    return await this.#startOrch('up', directory, more)
  }

  async #startOrch(command: 'apiserver' | 'up', directory: string, more: readonly string[]): Promise<Side> {
    const flags = [
      '--secure-port=0',
      `--data-dir=${directory}/data`,
      '--admin-kubeconfig=',
      `--token-auth-file=${directory}/tokens.csv`,
      ...(more.some((flag) => flag.startsWith('--workers=')) ? [] : ['--workers=1']),
      ...more,
    ]
    const env = this.#profiles ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${this.#profiles}` } : {}
    const child = spawn(join(root, 'bin/orch'), [command, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    return await this.#own(child, /serving (?:at |url=")https:\/\/[^" ]*:(\d+)\b/)
  }

  /** Starts the control loops for the server in this directory, in a separate process. */
  async startManager(directory: string, { origin }: Side): Promise<Pick<Side, 'pid' | 'stop'>> {
    const pki = join(directory, 'data/pki')
    const kubeconfig = writeKubeconfig(directory, origin)
    const flags = [
      ...[`--kubeconfig=${kubeconfig}`, '--secure-port=0', '--controllers=csrapproving,csrsigning'],
      ...[`--cluster-signing-cert-file=${pki}/ca.crt`, `--cluster-signing-key-file=${pki}/ca.key`],
    ]
    const child = spawn(join(root, 'bin/orch'), ['controller-manager', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#running.add(child)
    await portOf(child, /this manager lead(s)/)
    return { pid: child.pid!, stop: () => this.#stop(child) }
  }

  /**
   * Starts the real kube-controller-manager and kube-scheduler instead of the built-in control loops. The server in
   * this directory must have the profile `kubernetes` and the service account key `serviceAccountKey`.
   */
  startKubeManagers(directory: string, { origin }: Side, binaries: string): Pick<Side, 'pid' | 'stop'>[] {
    const pki = join(directory, 'data/pki')
    const common = [
      ...[`--kubeconfig=${writeKubeconfig(directory, origin)}`, '--leader-elect=false', '--bind-address=127.0.0.1'],
      ...['--port=0', '--kube-api-qps=1000', '--kube-api-burst=2000'],
    ]
    const signing = [
      ...[`--root-ca-file=${pki}/ca.crt`, `--service-account-private-key-file=${serviceAccountKey(directory)}`],
      ...[`--cluster-signing-cert-file=${pki}/ca.crt`, `--cluster-signing-key-file=${pki}/ca.key`],
    ]
    const start = (name: string, flags: readonly string[]) => {
      const child = spawn(join(binaries, name), flags, { stdio: 'ignore' })
      this.#running.add(child)
      return { pid: child.pid!, stop: () => this.#stop(child) }
    }
    return [
      start('kube-controller-manager', [
        ...[...common, ...signing, '--secure-port=0'],
        '--use-service-account-credentials',
      ]),
      start('kube-scheduler', [...common, '--secure-port=0']),
    ]
  }

  /** Starts the bare server with the certificates from a directory that `orch apiserver` has used. */
  async startBare(directory: string, files: BareFiles = {}): Promise<Side> {
    const own = this.newDirectory()
    const save = (name: string, bytes: Buffer) => {
      writeFileSync(join(own, name), bytes)
      return { [name]: join(own, name) }
    }
    const pki = join(directory, 'data/pki')
    const config = {
      key: join(pki, 'serving.key'),
      cert: join(pki, 'serving.crt'),
      ca: join(pki, 'ca.crt'),
      ...(files.get ? save('get', files.get) : {}),
      ...(files.list ? save('list', files.list) : {}),
      workers: files.workers ?? 1,
    }
    writeFileSync(join(own, 'config.json'), JSON.stringify(config))
    const program = join(import.meta.dirname, 'bare-server.mjs')
    const child = spawn(join(root, 'bin/node'), [program, join(own, 'config.json')], { stdio: 'pipe' })
    return await this.#own(child, /port (\d+)/)
  }

  /** Starts the real kube-apiserver with its own etcd, both with default settings. */
  async startKubeApiserver(binaries: { readonly apiserver: string; readonly etcd: string }): Promise<Side> {
    const directory = this.newDirectory()
    const [client, peer, port] = await Promise.all([freePort(), freePort(), freePort()])
    const endpoint = `http://127.0.0.1:${client}`
    const etcd = spawn(
      binaries.etcd,
      [
        ...[`--data-dir=${directory}/etcd`, `--listen-client-urls=${endpoint}`, `--advertise-client-urls=${endpoint}`],
        ...[`--listen-peer-urls=http://127.0.0.1:${peer}`],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    this.#running.add(etcd)
    await portOf(etcd, /ready to serve client requests()/)
    const key = serviceAccountKey(directory)
    const flags = [
      ...[
        `--etcd-servers=${endpoint}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${port}`,
        '--authorization-mode=RBAC',
      ],
      ...[`--cert-dir=${directory}/certificates`, `--token-auth-file=${directory}/tokens.csv`],
      ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`],
      ...['--service-account-issuer=https://bench.invalid', '--service-cluster-ip-range=10.0.0.0/24'],
    ]
    const child = spawn(binaries.apiserver, flags, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#running.add(child)
    await portOf(child, /Serving securely on()/)
    const origin = `https://127.0.0.1:${port}`
    const stop = async () => {
      await this.#stop(child)
      await this.#stop(etcd)
    }
    const side = { pid: child.pid!, helpers: [etcd.pid!], port, origin, stop }
    await untilReady(side)
    return side
  }

  async #own(child: ChildProcess, serving: RegExp): Promise<Side> {
    this.#running.add(child)
    const port = await portOf(child, serving)
    return { pid: child.pid!, port, origin: `https://127.0.0.1:${port}`, stop: () => this.#stop(child) }
  }

  async #stop(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'exit')
    }
    this.#running.delete(child)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.#stop(child, 'SIGKILL')))
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Writes a kubeconfig with all permissions. Returns its path. */
function writeKubeconfig(directory: string, origin: string): string {
  const file = join(directory, 'manager.kubeconfig')
  const namedEntry = (sort: string, content: object) => ({ [`${sort}s`]: [{ name: 'bench', [sort]: content }] })
  const config = {
    ...namedEntry('cluster', { server: origin, 'certificate-authority': join(directory, 'data/pki/ca.crt') }),
    ...namedEntry('user', { token }),
    ...namedEntry('context', { cluster: 'bench', user: 'bench' }),
    'current-context': 'bench',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** Creates a service account key that a server and its managers share. Returns its path. */
export function serviceAccountKey(directory: string): string {
  const file = join(directory, 'service-accounts.key')
  if (existsSync(file)) return file
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  return file
}

/** Runs an orch command and returns its run time in seconds. */
export async function timeOf(args: readonly string[]): Promise<number> {
  const start = performance.now()
  await once(spawn(join(root, 'bin/node'), args, { stdio: 'ignore' }), 'exit')
  return (performance.now() - start) / 1000
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const readySeconds = 60

/** Resolves when the server is ready and has created the namespace of the objects. */
async function untilReady(side: Side): Promise<void> {
  for (let waited = 0; waited < readySeconds; waited += 0.5) {
    const isReady = await fetchBytes(side, '/readyz')
      .then(() => fetchBytes(side, '/api/v1/namespaces/default'))
      .then(
        () => true,
        () => false,
      )
    if (isReady) return
    await setTimeout(500)
  }
  throw new Error(`${side.origin} is not ready after ${readySeconds} s`)
}

function portOf(child: ChildProcess, serving: RegExp): Promise<number> {
  let output = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        if (output.length < maxOutput) output += chunk
        const match = serving.exec(output)
        if (match) resolve(Number(match[1]))
      })
    }
    child.on('exit', (code) => reject(new Error(`a server ended with ${code} before it was ready:\n${output}`)))
    child.on('error', reject)
  })
}

const maxOutput = 64 * 1024

/** Returns the bytes of one response. Rejects if the status is not a success status. */
export function fetchBytes({ port }: Side, path: string, accept = 'application/json'): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept }
    const sent = request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks))
        else reject(new Error(`${path} was answered with ${response.statusCode}: ${Buffer.concat(chunks)}`))
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}
