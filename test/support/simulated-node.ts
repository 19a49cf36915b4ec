/**
 * A simulated node for stream tests. The containers of its pods run commands on this machine, each in its own
 * directory. Port 7 echoes its input, port 80 serves HTTP, and all other ports refuse connections.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { ContainerLog } from '../../src/cluster/node-port/container-log.ts'
import type {
  ContainerRuntime,
  ContainerStreams,
  NodeRuntime,
  PodRuntime,
} from '../../src/cluster/node-port/runtime.ts'
import type { Ending } from './server.ts'

export class TestContainer implements ContainerRuntime {
  isRunning = true
  readonly last = new ContainerLog()
  previous: ContainerLog | undefined
  /** Attached clients. Their input is copied to the output, which all of them receive. */
  readonly attached = new Set<ContainerStreams>()
  readonly sizes: string[] = []
  readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  log(instance: 'last' | 'previous'): ContainerLog | undefined {
    return instance === 'last' ? this.last : this.previous
  }

  exec(command: readonly string[], streams: ContainerStreams): Promise<number> {
    const { stdin, stdout, stderr, terminal, signal } = streams
    terminal?.onResize(({ width, height }) => this.sizes.push(`${width}x${height}`))
    return new Promise((resolve, reject) => {
      const child = spawn(command[0]!, command.slice(1), { cwd: this.directory, signal, killSignal: 'SIGKILL' })
      child.on('error', reject)
      child.on('close', (code) => resolve(code ?? 137))
      if (stdin === undefined) child.stdin.end()
      else stdin.pipe(child.stdin)
      child.stdin.on('error', () => {})
      for (const [output, target] of [
        [child.stdout, stdout],
        [child.stderr, stderr ?? stdout],
      ] as const)
        if (target === undefined) output.resume()
        else output.pipe(target, { end: false })
    })
  }

  async attach(streams: ContainerStreams): Promise<void> {
    this.attached.add(streams)
    streams.stdout?.write('attached\n')
    streams.stdin?.on('data', (chunk: Buffer) => streams.stdout?.write(`said ${chunk}`))
    await new Promise<void>((resolve) => {
      streams.signal.addEventListener('abort', () => resolve())
      streams.stdin?.on('end', () => resolve())
    })
    this.attached.delete(streams)
  }
}

export class TestPod implements PodRuntime {
  readonly uid: string
  readonly containers: ReadonlyMap<string, TestContainer>
  readonly #http = createServer((request, response) => {
    if (request.url === '/away') response.setHeader('location', '/there').writeHead(302)
    if (request.url === '/far-away') response.setHeader('location', 'https://example.com/').writeHead(302)
    if (request.url === '/created') response.setHeader('location', '/there').writeHead(201)
    if (request.url === '/created-far-away') response.setHeader('location', 'https://example.com/').writeHead(201)
    const page = request.url === '/page' ? '<a href="/x?y#z"><a href="//elsewhere/"><a href="/">' : undefined
    if (page !== undefined)
      response
        .setHeader('content-type', 'text/html; charset=utf-8')
        .setHeader('set-cookie', 'a=b')
        .setHeader('service-worker-allowed', '/')
    response.end(page ?? JSON.stringify({ method: request.method, url: request.url, headers: request.headers }))
  })

  constructor(uid: string, directory: string, names: readonly string[]) {
    this.uid = uid
    this.containers = new Map(names.map((name) => [name, new TestContainer(directory)]))
    this.#http.on('upgrade', (_request, socket: Duplex) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
      socket.pipe(socket)
    })
  }

  container(name: string): TestContainer | undefined {
    return this.containers.get(name)
  }

  async connect(port: number, stream: Duplex): Promise<void> {
    if (port !== 7 && port !== 80) throw new Error(`connection refused by port ${port}`)
    if (port === 7) stream.pipe(stream)
    else this.#http.emit('connection', stream)
    await new Promise((resolve) => stream.on('close', resolve))
  }
}

export class TestNode implements NodeRuntime {
  readonly name: string
  readonly isReachable = true
  readonly #pods = new Map<string, TestPod>()
  readonly #directory: string

  constructor(t: Ending, name: string) {
    this.name = name
    this.#directory = mkdtempSync(join(tmpdir(), 'orch-node-'))
    t.after(async () => rmSync(this.#directory, { recursive: true, force: true }))
  }

  add(name: string, uid: string, containers: readonly string[] = ['c']): TestPod {
    const pod = new TestPod(uid, this.#directory, containers)
    this.#pods.set(`default/${name}`, pod)
    return pod
  }

  pods() {
    return [...this.#pods.keys()].map((key) => {
      const [namespace = '', name = ''] = key.split('/')
      return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } }
    })
  }

  pod({ namespace, name }: { namespace: string; name: string }): TestPod | undefined {
    return this.#pods.get(`${namespace}/${name}`)
  }

  usage() {
    return { startedAt: 0, memoryBytes: 0, pods: [] }
  }
}
