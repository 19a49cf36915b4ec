/**
 * Calls to other servers over HTTPS: webhooks, and whatever else a stored object names by an address. Connections are
 * reused per destination. Nothing that the other side does costs more than its share: an answer is bounded in size and in
 * time (a byte a second does not prolong it), redirects are not followed, nothing is decompressed, and what was sent or
 * answered is never part of an error.
 *
 * Node's own `https` is used: docs/decisions/0023 says why.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, type AgentOptions, request } from 'node:https'
import { isIP } from 'node:net'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import { CallError, callErrorOf } from './call-error.ts'
import { type Credentials, headersOf } from './credentials.ts'
import { NamelessCertificateAgent } from './nameless-certificates.ts'

export interface Destination {
  /** A name, which the machine's resolver resolves, or an address. */
  readonly host: string
  readonly port: number
  /** The name that the other side's certificate must be valid for. */
  readonly serverName: string
  /** What the `Host` header says. */
  readonly hostHeader: string
  /** Certificates of the authorities that may vouch for it, as PEM; undefined: those that the machine trusts. */
  readonly authority: string | undefined
  readonly credentials: Credentials
}

export interface HttpsCall {
  readonly destination: Destination
  /** With the query. */
  readonly path: string
  /** JSON. */
  readonly body: string
  readonly timeoutMs: number
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

/** An answer with a status of success. */
export interface HttpsAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** An object may have 3 MiB; base64 makes 4 of them. */
const maxAnswerBytes = 5 * 1024 * 1024
/** Of all answers that are being read at the same time. */
const maxBufferedBytes = 64 * 1024 * 1024
/** All may stay open for the next calls: a new connection costs several times what a call does. */
const maxConnections = 64
const idleMs = 60_000
/** Of destinations with connections. */
const maxDestinations = 256

export class HttpsCaller {
  readonly #userAgent: string
  /** By destination; those used last come last. */
  readonly #agents = new Map<string, Agent>()
  readonly #keys = new WeakMap<Destination, string>()
  #buffered = 0

  constructor(userAgent: string) {
    this.#userAgent = userAgent
  }

  /** Sends the body with POST. Throws CallError where there is no answer of success in time. */
  async post(call: HttpsCall): Promise<HttpsAnswer> {
    const began = performance.now()
    try {
      return await this.#send(call, call.timeoutMs)
    } catch (error) {
      const left = call.timeoutMs - (performance.now() - began)
      if (!(error instanceof CallError) || left <= 0 || !this.#mend(call.destination, error)) throw error
      return await this.#send(call, left)
    }
  }

  /**
   * Whether a second try may help. The other side may close a connection that it has not heard from for a while just as it
   * is used again; and a certificate without names may be one that the authority has signed.
   */
  #mend(destination: Destination, { remedy }: CallError): boolean {
    if (remedy !== 'verify') return remedy === 'reconnect'
    const key = this.#keyOf(destination)
    const { authority } = destination
    if (authority === undefined || this.#agents.get(key) instanceof NamelessCertificateAgent) return false
    this.#agents.set(key, new NamelessCertificateAgent(agentOptions(destination), authority))
    return true
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  #send({ destination, path, body, signal }: HttpsCall, timeoutMs: number): Promise<HttpsAnswer> {
    signal?.throwIfAborted()
    const { host, port, serverName, hostHeader, credentials } = destination
    return new Promise((resolve, reject) => {
      const outgoing = request({
        ...{ host, port, path, method: 'POST', agent: this.#agentOf(destination) },
        // An address is not a name that could be asked for; certificates are compared with `host` then.
        servername: isIP(serverName) === 0 ? serverName : '',
        headers: {
          host: hostHeader,
          'user-agent': this.#userAgent,
          accept: 'application/json, */*',
          'accept-encoding': 'identity',
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          ...headersOf(credentials),
        },
      })
      let answered = false
      const settle = (end: () => void) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        end()
      }
      const fail = (error: CallError) => {
        settle(() => reject(error))
        outgoing.destroy()
      }
      const onAbort = () => fail(new CallError('aborted', 'the request was abandoned'))
      const timer = setTimeout(
        () => fail(new CallError('timeout', `no complete answer within ${Math.ceil(timeoutMs)} ms`)),
        timeoutMs,
      )
      signal?.addEventListener('abort', onAbort)
      outgoing.on('error', (error) => {
        const onStaleConnection = outgoing.reusedSocket && !answered
        fail(callErrorOf(error, { serverName, onStaleConnection }))
      })
      outgoing.on('response', (response) => {
        answered = true
        this.#read(response).then((answer) => settle(() => resolve(answer)), fail)
      })
      outgoing.end(body)
    })
  }

  /** With listeners: an iterator over the stream would cost as much as the rest of a call. */
  #read(response: IncomingMessage): Promise<HttpsAnswer> {
    const { statusCode: status = 0, headers } = response
    const fault = headFault(status, headers['content-encoding'])
    if (fault !== undefined) return Promise.reject(new CallError('answer', fault))
    const chunks: Buffer[] = []
    let size = 0
    return new Promise<HttpsAnswer>((resolve, reject) => {
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        this.#buffered += chunk.length
        chunks.push(chunk)
        if (size > maxAnswerBytes) reject(new CallError('answer', `the answer has more than ${maxAnswerBytes} bytes`))
        else if (this.#buffered > maxBufferedBytes)
          reject(new CallError('answer', 'too many large answers at the same time'))
      })
      response.on('end', () =>
        resolve({ status, contentType: headers['content-type'] ?? '', body: Buffer.concat(chunks) }),
      )
      response.on('close', () => {
        this.#buffered -= size
        reject(new CallError('connection', 'the connection was cut during the answer'))
      })
      response.on('error', () => {})
    })
  }

  #agentOf(destination: Destination): Agent {
    const key = this.#keyOf(destination)
    const agent = this.#agents.get(key) ?? new Agent(agentOptions(destination))
    this.#agents.delete(key)
    this.#agents.set(key, agent)
    if (this.#agents.size > maxDestinations) this.#retire()
    return agent
  }

  #keyOf(destination: Destination): string {
    const key = this.#keys.get(destination) ?? keyOf(destination)
    this.#keys.set(destination, key)
    return key
  }

  /** The destination that was not used for longest: what is under way goes on, its connections are not used again. */
  #retire(): void {
    const [key = ''] = this.#agents.keys()
    const agent = this.#agents.get(key)
    this.#agents.delete(key)
    if (agent === undefined) return
    agent.maxFreeSockets = 0
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }
}

function headFault(status: number, encoding = 'identity'): string | undefined {
  if (status >= 300 && status < 400) return `the answer is a redirect (${status}), which is not followed`
  if (status < 200 || status > 206) return `the answer has the status ${status}`
  return encoding === 'identity' ? undefined : 'the answer is compressed, which was not asked for'
}

/** Destinations that share connections are alike in all that a connection is made with. */
function keyOf({ host, port, serverName, authority = '', credentials }: Destination): string {
  const { certificate, key } = credentials
  const hash = createHash('sha256')
  for (const part of [host, String(port), serverName, authority, certificate ?? '', key ?? ''])
    hash.update(`${part.length}:`).update(part)
  return hash.digest('base64')
}

function agentOptions({ authority, credentials: { certificate, key } }: Destination): AgentOptions {
  return {
    keepAlive: true,
    maxSockets: maxConnections,
    maxFreeSockets: maxConnections,
    timeout: idleMs,
    // Made once: reading the certificates for every connection would cost more than a call.
    secureContext: secureContextOf({
      // Whoever is named is trusted, also an authority that another has signed: so it is in kube-apiserver.
      ...(authority === undefined ? {} : { ca: authority, allowPartialTrustChain: true }),
      ...(certificate === undefined ? {} : { cert: certificate, key }),
    }),
  }
}

function secureContextOf(options: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(options)
  } catch {
    throw new CallError('tls', 'x509: the CA bundle or the client certificate cannot be read')
  }
}
