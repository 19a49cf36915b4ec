/**
 * A real HTTPS service that authenticates tokens and requires a client certificate. The test sets the response for each
 * token. Unknown tokens are invalid.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import {
  authorityExtensions,
  certificatesIn,
  type OpensslCertificate,
  serverExtensions,
} from './openssl-certificates.ts'
import type { Ending } from './server.ts'

export interface TokenReview {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: { readonly token: string; readonly audiences?: string[] }
}

export interface Asked {
  readonly review: TokenReview
  readonly by: string | undefined
  readonly path: string | undefined
}

export type Answer = (review: TokenReview, response: ServerResponse) => void

export class TokenService {
  readonly asked: Asked[] = []
  readonly answers = new Map<string, Answer>()
  readonly directory: string
  readonly make: ReturnType<typeof certificatesIn>
  readonly authority: OpensslCertificate
  readonly #server: ReturnType<typeof createServer>

  private constructor(t: Ending) {
    this.directory = mkdtempSync(join(tmpdir(), 'orch-webhook-'))
    this.make = certificatesIn(this.directory)
    this.authority = this.make({ subject: '/CN=services', extensions: authorityExtensions })
    const { certificate: cert, key } = this.make({
      subject: '/CN=service',
      issuer: this.authority,
      extensions: serverExtensions,
    })
    const options = { cert, key, ca: this.authority.certificate, requestCert: true, rejectUnauthorized: true }
    this.#server = createServer(options, (request, response) => void this.#answer(request, response))
    t.after(async () => {
      this.#server.closeAllConnections()
      this.#server.close()
      rmSync(this.directory, { recursive: true, force: true })
    })
  }

  static async start(t: Ending): Promise<TokenService> {
    const service = new TokenService(t)
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    return service
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  countOf(token: string): number {
    return this.asked.filter(({ review }) => review.spec.token === token).length
  }

  /** Writes a kubeconfig for this client certificate and returns the flag that refers to the file. */
  config(client: OpensslCertificate, change: (text: string) => string = (text) => text): string {
    const file = join(this.directory, 'webhook.kubeconfig')
    const text = `apiVersion: v1
kind: Config
clusters: [{name: s, cluster: {server: "https://127.0.0.1:${this.port}/authenticate?a=b", certificate-authority: ${this.authority.certificateFile}}}]
users: [{name: u, user: {client-certificate: ${client.certificateFile}, client-key: ${client.keyFile}}}]
contexts: [{name: c, context: {cluster: s, user: u}}]
current-context: c
`
    writeFileSync(file, change(text))
    return `--authentication-token-webhook-config-file=${file}`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    const review: TokenReview = JSON.parse(text)
    const by = (request.socket as TLSSocket).getPeerX509Certificate()?.subject
    this.asked.push({ review, by, path: request.url })
    const answer = this.answers.get(review.spec.token) ?? says({ authenticated: false })
    answer(review, response)
  }
}

export const says =
  (status: object, over: object = {}): Answer =>
  (review, response) =>
    response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, ...over, status }))
