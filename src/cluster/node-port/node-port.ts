/**
 * The HTTPS port of a node, or of many simulated nodes in one process. The port serves logs, exec, attach, port-forward
 * and the list of pods. The client names the node through TLS SNI or in the `Host` header. If the port serves a single
 * node, the client may omit the name.
 *
 * The port rejects clients that are not admitted (`admit.ts`), and requests from web pages of other origins. `close`
 * ends all streams.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { errorFields } from '../../base/telemetry/log.ts'
import type { Reviewer } from '../../client/requests/reviews.ts'
import { foreignPageFault, originOf } from '../../wire/http/foreign-pages.ts'
import { valuesOf } from '../../wire/http/raw-headers.ts'
import { Admittance } from './admit.ts'
import type { Answer, PortCall, Refusal } from './port-call.ts'
import { answerRequest, answerUpgrade } from './routes.ts'
import type { NodeRuntime } from './runtime.ts'
import { ServingContexts, type ServingParts } from './serving-contexts.ts'

export interface NodePortParts extends Reviewer, ServingParts {
  readonly host: string
  /** Port number to listen on. 0 selects any free port. */
  readonly port: number
  /**
   * Returns the node with this name, or undefined if this port does not serve it. The name is empty if the client does
   * not specify a node.
   */
  readonly node: (name: string) => NodeRuntime | undefined
  /** Idle timeout of streams in milliseconds. */
  readonly idleMs: number
}

/** A running HTTPS server for the port of one or more nodes. */
export interface NodePort {
  readonly port: number
  /** Stops listening and ends all streams. */
  close(): Promise<void>
}

const maxConnections = 1024
/** Maximum time, in milliseconds, that a client may take to open the requested streams. */
const openMs = 30_000

/** Opens the port. Resolves once the server is listening, and rejects if it cannot listen. */
export async function openNodePort(parts: NodePortParts): Promise<NodePort> {
  const contexts = new ServingContexts(parts)
  const server = createServer({
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
    noDelay: true,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    handshakeTimeout: 10_000,
    SNICallback: (name, done) => {
      const node = parts.node(name)
      if (node?.isReachable === false) done(new Error('the node does not respond'))
      else if (node === undefined) done(new Error('this port does not serve that node'))
      else contexts.contextOf(name).then((context) => done(null, context), done)
    },
  })
  server.maxConnections = maxConnections
  const running = new RunningPort(parts, server)
  await listen(server, parts)
  const sole = parts.node('')
  if (sole !== undefined) void contexts.showByDefault(server, sole.name)
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      contexts.close()
      await running.close()
    },
  }
}

function listen(server: Server, { host, port }: NodePortParts): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve()
    })
  })
}

class RunningPort {
  readonly #parts: NodePortParts
  readonly #server: Server
  readonly #admittance: Admittance
  readonly #closing = new AbortController()
  /** Sockets that were upgraded. The HTTP server no longer tracks them, so `close` must end them separately. */
  readonly #switched = new Set<Duplex>()

  constructor(parts: NodePortParts, server: Server) {
    this.#parts = parts
    this.#server = server
    this.#admittance = new Admittance(parts, parts.clock)
    server.on('request', (request, response) => void this.#request(request, response).catch(this.#onError))
    server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head).catch(this.#onError))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const socket of this.#switched) socket.destroy()
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  readonly #onError = (error: unknown) => {
    this.#parts.log.error('request to the node agent failed', errorFields(error))
  }

  async #request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const over = new AbortController()
    const stop = () => over.abort()
    response.on('close', stop)
    this.#closing.signal.addEventListener('abort', stop)
    try {
      const call = await this.#admit(request, over.signal)
      await send(response, 'status' in call ? call : await answerRequest(call))
    } catch (error) {
      if (response.headersSent) response.destroy()
      else await send(response, { status: 500, text: 'internal error' })
      throw error
    } finally {
      this.#closing.signal.removeEventListener('abort', stop)
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const over = new AbortController()
    this.#switched.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      over.abort()
      this.#switched.delete(socket)
    })
    try {
      if (head.length > 0) socket.unshift(head)
      const call = await this.#admit(request, over.signal)
      const refusal = 'status' in call ? call : await answerUpgrade(call, socket)
      if (refusal !== undefined) refuseUpgrade(socket, refusal)
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  async #admit(request: IncomingMessage, signal: AbortSignal): Promise<PortCall | Refusal> {
    const { node: find, idleMs, clock } = this.#parts
    const fault = pageFault(request)
    if (fault !== undefined) return { status: 403, text: `forbidden: ${fault}` }
    const name = nodeNameOf(request)
    const node = find(name) ?? (name === '' || isBare(request) ? find('') : undefined)
    if (node === undefined)
      return { status: 404, text: 'specify a node that this port serves, in the TLS server name or in the Host header' }
    if (!node.isReachable) return { status: 503, text: 'the node does not respond' }
    const url = new URL(request.url ?? '/', 'https://node')
    // Authorization uses the path as sent, and routing uses the parsed path, so the two must be equal.
    if (url.pathname !== pathOf(request)) return { status: 400, text: 'the path is not in canonical form' }
    const { status, text } = await this.#admittance.judge(request, node.name)
    if (status !== 200) return { status, text }
    return { node, request, url, signal, idleMs, openMs, now: () => clock.now() }
  }
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split(/[?#]/, 1)[0]!
}

/**
 * Returns the reason to reject a request that may come from a web page of another origin. A browser presents the user's
 * client certificate for requests from any page.
 */
function pageFault({ method = '', headers, rawHeaders }: IncomingMessage): string | undefined {
  return foreignPageFault({
    method,
    isUpgrade: headers.upgrade !== undefined,
    ownOrigin: originOf('https', headers.host ?? ''),
    valuesOf: (name) => valuesOf(rawHeaders, name),
  })
}

function nodeNameOf({ socket, headers }: IncomingMessage): string {
  const { servername } = socket as TLSSocket & { servername?: string | false }
  return servername || (headers.host ?? '').replace(/:\d+$/, '')
}

/**
 * Whether only the `Host` header names the node. The header may simply contain the address that the client connected
 * to.
 */
function isBare({ socket }: IncomingMessage): boolean {
  return !(socket as TLSSocket & { servername?: string | false }).servername
}

async function send(response: ServerResponse, { status, headers = {}, text, parts }: Answer): Promise<void> {
  const type = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  response.writeHead(status, { ...type, ...challenge, 'cache-control': 'no-store', ...headers })
  if (parts === undefined) {
    response.end(text ?? '')
    return
  }
  response.flushHeaders()
  for await (const part of parts) {
    if (response.destroyed) return
    if (!response.write(part)) await drained(response)
  }
  response.end()
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

/** Sends an ordinary response instead of 101 and closes the connection. */
function refuseUpgrade(socket: Duplex, { status, text, headers = {} }: Refusal): void {
  const lines = Object.entries({ ...headers, ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}) })
  const head = [
    `HTTP/1.1 ${status} Refused`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
  socket.resume()
}
