/**
 * A real OpenID Connect provider (the `oidc-provider` package) over TLS, with a certificate from its own CA. Users log
 * in without a password. `login` follows the same steps as a browser, from the first redirect to the ID token. `sign`
 * creates tokens that no provider would issue but that are signed with the provider's key.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Agent, createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importJWK, type JWK, SignJWT } from 'jose'
import type Provider from 'oidc-provider'
import {
  authorityExtensions,
  certificatesIn,
  type OpensslCertificate,
  serverExtensions,
} from './openssl-certificates.ts'
import type { Ending } from './server.ts'

const { default: OidcProvider } = await loadQuietly()

export const clientId = 'orch-client'
export const clientSecret = 'canary-client-secret'
const redirectUri = 'https://127.0.0.1/callback'

export interface Account {
  readonly sub: string
  readonly [claim: string]: unknown
}

export class OpenidProvider {
  readonly directory = mkdtempSync(join(tmpdir(), 'orch-openid-'))
  readonly authority: OpensslCertificate
  readonly accounts = new Map<string, Account>()
  /** Paths requested by clients. */
  readonly paths: string[] = []
  /** Handles requests in place of the provider. Undefined if the provider handles them itself. */
  instead: RequestListener | undefined
  readonly #server: Server
  #handle: RequestListener = () => {}
  #provider!: Provider
  #keys: JWK[] = []

  private constructor() {
    const make = certificatesIn(this.directory)
    this.authority = make({ subject: '/CN=openid-authority', extensions: authorityExtensions })
    const own = make({ subject: '/CN=openid', issuer: this.authority, extensions: serverExtensions })
    this.#server = createServer({ cert: own.certificate, key: own.key }, (incoming, response) => {
      this.paths.push(incoming.url ?? '')
      ;(this.instead ?? this.#handle)(incoming, response)
    })
  }

  static async start(t: Ending, algorithms: readonly string[] = ['RS256']): Promise<OpenidProvider> {
    const provider = new OpenidProvider()
    await provider.listen(0)
    provider.rotate(algorithms)
    t.after(async () => {
      await provider.stop()
      rmSync(provider.directory, { recursive: true, force: true })
    })
    return provider
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.port = port === 0 ? (this.#server.address() as AddressInfo).port : port
  }

  port = 0

  get issuer(): string {
    return `https://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  /** Replaces all keys of the provider. */
  rotate(algorithms: readonly string[] = ['RS256']): void {
    this.#keys = algorithms.map(makeKey)
    this.#provider = quietly(
      () =>
        new OidcProvider(this.issuer, {
          clients: [
            {
              client_id: clientId,
              client_secret: clientSecret,
              redirect_uris: [redirectUri],
              grant_types: ['authorization_code', 'refresh_token'],
            },
          ],
          jwks: { keys: this.#keys },
          cookies: { keys: ['a key of the test'] },
          claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups', 'team', 'hd'] },
          conformIdTokenClaims: false,
          pkce: { required: () => false },
          features: { devInteractions: { enabled: false } },
          interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
          findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => this.accounts.get(id) }),
          ttl: {
            AccessToken: 60,
            AuthorizationCode: 60,
            IdToken: 3600,
            Grant: 60,
            Interaction: 60,
            RefreshToken: 60,
            Session: 60,
          },
        }),
    )
    const callback = this.#provider.callback()
    this.#handle = (incoming, response) => {
      if (incoming.url?.startsWith('/interaction/')) void this.#interact(incoming, response)
      else callback(incoming, response)
    }
  }

  /** Responds to the requests for which `answer` returns a value. The response is this value as JSON. */
  answerJson(answer: (path: string) => object | undefined): void {
    this.instead = (incoming, response) => {
      const value = answer(incoming.url ?? '')
      if (value === undefined) this.#handle(incoming, response)
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    }
  }

  /** Returns an ID token for the given account. */
  async login(account: Account): Promise<string> {
    return (await this.#login(account, 'openid email groups')).id_token
  }

  /** Returns an ID token and a single-use refresh token. */
  async loginForLong(account: Account): Promise<{ idToken: string; refreshToken: string }> {
    const tokens = await this.#login(account, 'openid email groups offline_access')
    return { idToken: tokens.id_token, refreshToken: tokens.refresh_token }
  }

  async #login(account: Account, scope: string): Promise<{ id_token: string; refresh_token: string }> {
    this.accounts.set(account.sub, account)
    const agent = new Agent({ ca: this.authority.certificate })
    const query = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      scope,
      nonce: randomUUID(),
      redirect_uri: redirectUri,
      login_hint: account.sub,
      prompt: 'consent',
    })
    const code = await this.#followToCode(`${this.issuer}/auth?${query}`, agent)
    const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri }).toString()
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
    const { text } = await send(`${this.issuer}/token`, agent, {
      body,
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    })
    return JSON.parse(text)
  }

  /** Returns a token with the given claims, signed with the first key or with another key. */
  async sign(claims: object, header: object = {}, key: JWK = this.#keys[0]!): Promise<string> {
    const { alg = 'RS256', kid } = key
    const signer = new SignJWT(claims as Record<string, unknown>)
    return await signer.setProtectedHeader({ alg, ...(kid && { kid }), ...header }).sign(await importJWK(key, alg))
  }

  get keys(): readonly JWK[] {
    return this.#keys
  }

  async #followToCode(first: string, agent: Agent): Promise<string> {
    const cookies = new Map<string, string>()
    let url = first
    for (let hops = 0; hops < 10; hops++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const { headers, text } = await send(url, agent, { headers: { cookie } })
      for (const line of headers['set-cookie'] ?? []) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
        cookies.set(name!, value!)
      }
      if (headers.location === undefined) throw new Error(`the provider does not go on: ${text.slice(0, 300)}`)
      url = new URL(headers.location, url).href
      const code = url.startsWith(redirectUri) ? new URL(url).searchParams.get('code') : undefined
      if (code) return code
    }
    throw new Error('the provider redirects for ever')
  }

  /** Logs in. Any account may log in, and consents to everything. */
  async #interact(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await this.#provider.interactionDetails(incoming, response)
    const accountId = params.login_hint ?? ''
    const grant = new this.#provider.Grant({ accountId, clientId: params.client_id })
    grant.addOIDCScope(params.scope)
    const result = { login: { accountId }, consent: { grantId: await grant.save() } }
    await this.#provider.interactionFinished(incoming, response, result)
  }
}

/** Runs a function while suppressing warnings that do not matter in a test. */
function quietly<T>(run: () => T): T {
  const { info, warn } = console
  Object.assign(console, { info: () => {}, warn: () => {} })
  try {
    return run()
  } finally {
    Object.assign(console, { info, warn })
  }
}

export function makeKey(alg: string): JWK {
  const { privateKey } = alg.startsWith('ES')
    ? generateKeyPairSync('ec', { namedCurve: `P-${alg.slice(2)}` })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...(privateKey.export({ format: 'jwk' }) as JWK), alg, use: 'sig', kid: randomUUID() }
}

function send(
  url: string,
  agent: Agent,
  { body, headers = {} }: { body?: string; headers?: { [name: string]: string } },
): Promise<{ headers: IncomingMessage['headers']; text: string }> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk))
      answer.on('end', () => resolve({ headers: answer.headers, text }))
    })
    asking.on('error', reject)
    asking.end(body)
  })
}

/** Loads the provider without its warning that the pinned Node.js is not an LTS release. */
async function loadQuietly(): Promise<typeof import('oidc-provider')> {
  const { warn } = console
  const others: unknown[][] = []
  console.warn = (...args) => void (String(args[0]).includes('Unsupported runtime') || others.push(args))
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
    for (const args of others) console.warn(...args)
  }
}
