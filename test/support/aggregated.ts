/** An aggregated API server for tests: a real HTTPS server in a separate process that can be stopped and restarted. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AlternativeNames } from '../../src/api/pki/names.ts'
import type { HttpClient } from './http-client.ts'
import { makeServerIdentity, type ServerIdentity } from './identities.ts'
import type { Ending } from './server.ts'

export interface BackendCall {
  readonly method: string
  readonly url: string
  /** HTTP headers as alternating names and values. */
  readonly headers: readonly string[]
  /** Common name of the client certificate. Undefined if the client sent no certificate. */
  readonly certificate?: string
}

export interface AggregatedOptions {
  readonly group?: string
  readonly version?: string
  /** CA of the front proxy. The server rejects clients whose certificate was not issued by this CA. */
  readonly authority?: string
  /** Host names in the server's certificate. */
  readonly names?: AlternativeNames
}

interface Report {
  readonly call?: BackendCall
  readonly port?: number
  readonly sent?: number
  readonly smuggled?: string
  readonly body?: 'whole' | 'cut'
}

export class AggregatedServer {
  readonly calls: BackendCall[] = []
  /** Bytes received on a connection that the client must not reuse. */
  readonly smuggled: string[] = []
  /** For each early response, whether the whole request body arrived. */
  readonly bodies: ('whole' | 'cut')[] = []
  /** Number of megabytes of a huge response that the server has sent. */
  sent: number | undefined
  readonly group: string
  readonly version: string
  /** CA certificate in PEM format, encoded in base64. */
  readonly caBundle: string
  port = 0
  #child: ChildProcess | undefined
  readonly #start: { readonly cert: string; readonly key: string; readonly authority: string | undefined }

  private constructor(options: AggregatedOptions, identity: ServerIdentity) {
    const { group = 'a.example.com', version = 'v1', authority } = options
    this.group = group
    this.version = version
    this.caBundle = Buffer.from(identity.authority).toString('base64')
    this.#start = { cert: identity.certificate, key: identity.key, authority }
  }

  static async start(t: Ending, options: AggregatedOptions = {}): Promise<AggregatedServer> {
    const names = options.names ?? { dns: ['backend.apis.svc'], ips: [] }
    const server = new AggregatedServer(options, await makeServerIdentity(names))
    t.after(() => server.stop())
    await server.start()
    return server
  }

  /** Starts the server again on the same port. */
  async start(): Promise<void> {
    // Without an empty `execArgv`, the flags of this process would load the test runner in the child process.
    const program = join(import.meta.dirname, 'aggregated-program.ts')
    const child = fork(program, [this.group, this.version], { execArgv: [] })
    this.#child = child
    child.on('message', ({ call, sent, smuggled, body }: Report) => {
      if (body !== undefined) this.bodies.push(body)
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

  /** Returns the calls of clients. Excludes the API server's own requests for discovery and OpenAPI. */
  receivedCalls(): BackendCall[] {
    const own = `/apis/${this.group}/${this.version}`
    return this.calls.filter(({ url }) => url !== own && !url.startsWith('/openapi/'))
  }

  /** Sends an event to all watches. */
  emit(event: object): void {
    this.#child?.send({ event })
  }

  /** Returns an APIService for this backend, with the API group names of the profile. */
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

/**
 * Creates the Service that all backends use. Its type is ExternalName, because Endpoints must not contain loopback
 * addresses.
 */
export async function giveService(client: HttpClient): Promise<void> {
  await client.post('/api/v1/namespaces', { metadata: { name: 'apis' } })
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  const { status, text } = await client.post('/api/v1/namespaces/apis/services', {
    metadata: { name: 'backend' },
    spec,
  })
  if (status !== 201) throw new Error(text)
}
