/** An aggregated API server for tests: a real HTTPS server in a process of its own, which dies and comes back. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpClient } from './http-client.ts'
import { authorityExtensions, certificatesIn } from './openssl-certificates.ts'
import type { Ending } from './server.ts'

export interface BackendCall {
  readonly method: string
  readonly url: string
  /** Alternating names and values. */
  readonly headers: readonly string[]
  /** The common name of the client certificate. */
  readonly certificate?: string
}

export interface AggregatedOptions {
  readonly group?: string
  readonly version?: string
  /** The authority of the front proxy: clients without a certificate of it do not get in. */
  readonly authority?: string
  /** Whom its certificate is for. */
  readonly names?: string
}

interface Report {
  readonly call?: BackendCall
  readonly port?: number
  readonly sent?: number
  readonly smuggled?: string
}

export class AggregatedServer {
  readonly calls: BackendCall[] = []
  /** What it was sent on a connection that should not have been used again. */
  readonly smuggled: string[] = []
  /** How many megabytes of a huge answer left it. */
  sent: number | undefined
  readonly group: string
  readonly version: string
  /** Base64 of the PEM of its authority. */
  readonly caBundle: string
  port = 0
  #child: ChildProcess | undefined
  readonly #start: { readonly cert: string; readonly key: string; readonly authority: string | undefined }

  private constructor(options: AggregatedOptions) {
    const { group = 'a.example.com', version = 'v1', authority, names = 'DNS:backend.apis.svc' } = options
    this.group = group
    this.version = version
    const directory = mkdtempSync(join(tmpdir(), 'orch-aggregated-'))
    const make = certificatesIn(directory)
    const own = make({ subject: '/CN=backends', extensions: authorityExtensions })
    const extensions = ['extendedKeyUsage=serverAuth', `subjectAltName=${names}`]
    const { certificate: cert, key } = make({ subject: '/CN=backend', issuer: own, extensions })
    rmSync(directory, { recursive: true, force: true })
    this.caBundle = Buffer.from(own.certificate).toString('base64')
    this.#start = { cert, key, authority }
  }

  static async start(t: Ending, options: AggregatedOptions = {}): Promise<AggregatedServer> {
    const server = new AggregatedServer(options)
    t.after(() => server.stop())
    await server.start()
    return server
  }

  /** Starts it, again on the port that it had. */
  async start(): Promise<void> {
    const child = fork(join(import.meta.dirname, 'aggregated-program.ts'), [this.group, this.version])
    this.#child = child
    child.on('message', ({ call, sent, smuggled }: Report) => {
      if (call !== undefined) this.calls.push(call)
      if (smuggled !== undefined) this.smuggled.push(smuggled)
      if (sent !== undefined) this.sent = sent
    })
    child.send({ start: { ...this.#start, port: this.port } })
    for (;;) {
      const [{ port }] = (await once(child, 'message')) as [Report]
      if (port === undefined) continue
      this.port = port
      return
    }
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** The calls of clients: the server asks for discovery and OpenAPI at any time. */
  asked(): BackendCall[] {
    const own = `/apis/${this.group}/${this.version}`
    return this.calls.filter(({ url }) => url !== own && !url.startsWith('/openapi/'))
  }

  /** Sends an event to all who watch. */
  emit(event: object): void {
    this.#child?.send({ event })
  }

  /** The APIService of what it serves, as the group of a profile names it. */
  apiService(spec: object = {}): object {
    const { group, version } = this
    const service = { namespace: 'apis', name: 'backend', port: this.port }
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 }
    return {
      metadata: { name: `${version}.${group}` },
      spec: { group, version, service, caBundle: this.caBundle, ...priorities, ...spec },
    }
  }
}

/** The Service of all backends: loopback addresses may not stand in Endpoints. */
export async function giveService(client: HttpClient): Promise<void> {
  await client.post('/api/v1/namespaces', { metadata: { name: 'apis' } })
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  const { status, text } = await client.post('/api/v1/namespaces/apis/services', {
    metadata: { name: 'backend' },
    spec,
  })
  if (status !== 201) throw new Error(text)
}
