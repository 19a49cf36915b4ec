/** Admission webhooks for tests: a real HTTPS server in a separate process, and the calls that it received. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AlternativeNames } from '../../src/api/pki/names.ts'
import type { HttpClient } from './http-client.ts'
import { makeServerIdentity } from './identities.ts'
import type { Ending } from './server.ts'

export interface WebhookCall {
  readonly path: string
  readonly query: string
  readonly host: string
  readonly authorization?: string
  readonly certificate?: string
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any review
  readonly review: any
}

export interface WebhooksOptions {
  /** Host names in the certificate of the server. */
  readonly names?: AlternativeNames
  /** Whether to create a compression bomb, which takes a moment. */
  readonly bomb?: boolean
}

export class Webhooks {
  readonly calls: WebhookCall[] = []
  readonly base: string
  /** CA certificate in PEM format, encoded in base64. */
  readonly caBundle: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, { port, authority }: { port: number; authority: string }) {
    this.#child = child
    this.base = `https://127.0.0.1:${port}`
    this.caBundle = Buffer.from(authority).toString('base64')
    child.on('message', ({ call }: { call?: Omit<WebhookCall, 'review'> }) => {
      if (call === undefined) return
      let review: unknown
      try {
        review = JSON.parse(call.text)
      } catch {}
      this.calls.push({ ...call, review })
    })
  }

  static async start(t: Ending, options: WebhooksOptions = {}): Promise<Webhooks> {
    const { names = { dns: [], ips: ['127.0.0.1'] }, bomb = false } = options
    const { certificate, key, authority } = await makeServerIdentity(names)
    // Without the empty `execArgv`, the flags of this process would load the test runner in the child process.
    const child = fork(join(import.meta.dirname, 'webhook-program.ts'), bomb ? ['--bomb'] : [], { execArgv: [] })
    t.after(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    child.send({ cert: certificate, key })
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    return new Webhooks(child, { port, authority })
  }

  get port(): number {
    return Number(new URL(this.base).port)
  }

  /** Closes the port. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  clientConfig(path: string) {
    return { url: `${this.base}${path}`, caBundle: this.caBundle }
  }

  /** Returns the paths that have been called since the previous call of this method. */
  taken(): string[] {
    return this.calls.splice(0).map(({ path }) => path)
  }
}

export const configMaps = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
export const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }

/** Returns a webhook for new ConfigMaps in namespaces whose label `hooked` has the given value. */
export function webhook(webhooks: Webhooks, path: string, more: object = {}, hooked = 'yes') {
  return {
    name: `w${Math.random().toString(36).slice(2, 10)}.example.com`,
    clientConfig: webhooks.clientConfig(path),
    rules: [configMaps],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    namespaceSelector: { matchLabels: { hooked } },
    ...more,
  }
}

type Sort = 'mutating' | 'validating'

export function configurationPath(sort: Sort, name = ''): string {
  return `/apis/admissionregistration.orch.io/v1/${sort}webhookconfigurations${name && '/'}${name}`
}

/** Creates or replaces a webhook configuration. Resolves once the configuration is in effect on this server. */
export async function configure(client: HttpClient, sort: Sort, name: string, webhooks: readonly object[]) {
  await client.delete(configurationPath(sort, name))
  const answer = await client.post(configurationPath(sort), { metadata: { name }, webhooks })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer
}

export async function unconfigure(client: HttpClient, sort: Sort, name: string): Promise<void> {
  await client.delete(configurationPath(sort, name))
}
