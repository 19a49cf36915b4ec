/**
 * Passes requests of clients on to other servers over HTTPS, or over HTTP where the destination is plain: bodies and answers
 * are streamed, each at the pace of its reader, and are never held in memory. The time until the answer begins is bounded; how long it then goes on is for the
 * caller to bound, through the signal. Redirects are not followed, nothing is decompressed.
 *
 * A request that asks to switch protocols has a connection of its own, which is never used again, whatever is answered.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { readStream } from '../../base/concurrency/read-stream.ts'
import { CallError, callErrorOf } from './call-error.ts'
import { Connections, type Destination } from './connections.ts'

// Not imported: that would load all that this module can give, and so the whole of fetch.
const { Agent: PlainAgent, request: plainRequest } = process.getBuiltinModule('node:http')

/** A request that is passed on to another server. */
export interface RelayedRequest {
  readonly destination: Destination
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Alternating names and values, without those that this file decides: the host and how the body is framed. */
  readonly headers: readonly string[]
  readonly body: RelayedBody | undefined
  /** The protocols that the client asks to switch to, as in `Upgrade`. */
  readonly upgrade: string | undefined
  /** Whether the answer may go on for good: then `endStreams` ends it. */
  readonly isEndless: boolean
  /** How long the beginning of the answer may take. */
  readonly timeoutMs: number
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

export interface RelayedBody {
  readonly stream: Readable
  /** As the client announced it. */
  readonly length: number | undefined
  /** Once the stream has ended: whether that is where the client ended it. */
  readonly isWhole: () => boolean
}

/** What the other server answers, as it comes. */
export interface RelayedAnswer {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly body: Readable
  /** The connection, where the other side has switched protocols. */
  readonly switched: Duplex | undefined
}

/** Passes requests on to other servers, and streams their answers. */
export class HttpsRelay {
  readonly #connections = new Connections(Number.POSITIVE_INFINITY)
  readonly #streams = new Set<Readable | Duplex>()
  #isEnding = false

  /** Resolves when the answer has begun. Throws CallError where it does not begin in time. */
  async send(relayed: RelayedRequest): Promise<RelayedAnswer> {
    const began = performance.now()
    try {
      return await this.#send(relayed, relayed.timeoutMs)
    } catch (error) {
      const left = relayed.timeoutMs - (performance.now() - began)
      // A body that has been sent once cannot be sent again, and a write may have happened.
      const mayRepeat = relayed.body === undefined && (relayed.method === 'GET' || relayed.method === 'HEAD')
      const isUnsent = error instanceof CallError && error.remedy === 'verify'
      if (!(error instanceof CallError) || left <= 0 || !(mayRepeat || isUnsent)) throw error
      if (!this.#connections.mend(relayed.destination, error)) throw error
      return await this.#send(relayed, left)
    }
  }

  /** Ends tunnels, and answers that may go on for good; further ones end as they begin. */
  endStreams(): void {
    this.#isEnding = true
    for (const stream of this.#streams) stream.destroy()
  }

  close(): void {
    this.endStreams()
    this.#connections.close()
  }

  #own({ body, switched }: RelayedAnswer): void {
    const stream = switched ?? body
    if (this.#isEnding) stream.destroy()
    this.#streams.add(stream)
    stream.on('close', () => this.#streams.delete(stream))
  }

  #send(relayed: RelayedRequest, timeoutMs: number): Promise<RelayedAnswer> {
    const { signal, destination, upgrade } = relayed
    if (signal.aborted) throw abandoned()
    return new Promise((resolve, reject) => {
      const outgoing = this.#open(relayed)
      const begin = (answer: RelayedAnswer) => {
        clearTimeout(timer)
        if (answer.switched !== undefined || relayed.isEndless) this.#own(answer)
        resolve(answer)
      }
      const fail = (error: CallError) => {
        clearTimeout(timer)
        reject(error)
        outgoing.destroy()
      }
      const onAbort = () => fail(abandoned())
      const timer = setTimeout(
        () => fail(new CallError('timeout', `no answer within ${Math.ceil(timeoutMs)} ms`)),
        timeoutMs,
      )
      signal.addEventListener('abort', onAbort)
      outgoing.on('close', () => signal.removeEventListener('abort', onAbort))
      outgoing.on('error', (error) => {
        fail(callErrorOf(error, { serverName: destination.serverName, isRepeatable: false }))
      })
      outgoing.on('response', (response) => begin(answerOf(response, undefined)))
      outgoing.on('upgrade', (response, socket, head) => {
        const why = upgrade === undefined ? 'nobody asked to switch protocols' : upgradeFault(response, upgrade)
        if (why !== undefined) {
          socket.destroy()
          fail(new CallError('answer', why))
          return
        }
        if (head.length > 0) socket.unshift(head)
        signal.removeEventListener('abort', onAbort)
        begin(answerOf(response, socket))
      })
      sendBody(outgoing, relayed, fail)
    })
  }

  #open({ destination, method, path, headers: passed, body, upgrade }: RelayedRequest): ClientRequest {
    const { host, port, serverName, hostHeader, plain } = destination
    const headers = [
      ...['host', hostHeader],
      ...passed,
      ...framing(method, body),
      ...(upgrade === undefined ? [] : ['connection', 'Upgrade', 'upgrade', upgrade]),
    ]
    if (plain !== undefined) return plainRequest({ host, port, path, method, headers, agent: plainAgent(plain) })
    const agent =
      upgrade === undefined ? this.#connections.agentOf(destination) : this.#connections.singleUseAgent(destination)
    return request({
      ...{ host, port, path, method, agent, headers },
      // An address is not a name that could be asked for; certificates are compared with `host` then.
      servername: isIP(serverName) === 0 ? serverName : '',
    })
  }
}

/** For one connection: what is behind it may be gone by the next request. */
function plainAgent(plain: NonNullable<Destination['plain']>): Agent {
  const agent = new PlainAgent({ keepAlive: false })
  return plain === 'tcp' ? agent : Object.assign(agent, { createConnection: plain })
}

function abandoned(): CallError {
  return new CallError('aborted', 'the request was abandoned')
}

function answerOf(response: IncomingMessage, switched: Duplex | undefined): RelayedAnswer {
  // An answer that breaks off is noticed by its reader.
  response.on('error', () => {})
  return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body: response, switched }
}

/** Says how long the body is in one way and no other, so that nothing after it can pass for another request. */
function framing(method: string, body: RelayedBody | undefined): string[] {
  if (body === undefined) return method === 'GET' || method === 'HEAD' ? [] : ['content-length', '0']
  return body.length === undefined ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)]
}

/** The other side may choose only what was asked for. */
function upgradeFault({ headers }: IncomingMessage, asked: string): string | undefined {
  const wanted = asked.split(',').map((protocol) => protocol.trim().toLowerCase())
  const chosen = (headers.upgrade ?? '').trim().toLowerCase()
  return wanted.includes(chosen) ? undefined : 'the protocol was switched to one that nobody asked for'
}

/** A body that breaks off, or is not as long as announced, ends the request: half of one could pass for the whole. */
function sendBody(outgoing: ClientRequest, { body }: RelayedRequest, fail: (error: CallError) => void): void {
  if (body === undefined) {
    outgoing.end()
    return
  }
  const { stream, length, isWhole } = body
  let sent = 0
  let ended = false
  const breakOff = () => {
    if (!ended) fail(new CallError('aborted', 'the body broke off before its end'))
  }
  const onData = (chunk: Buffer) => {
    sent += chunk.length
    if (sent > (length ?? sent)) breakOff()
    else if (!outgoing.write(chunk)) {
      stream.pause()
      outgoing.once('drain', () => stream.resume())
    }
  }
  const onEnd = () => {
    if (!isWhole() || sent !== (length ?? sent)) return breakOff()
    ended = true
    outgoing.end()
  }
  readStream(stream, { onData, onEnd, onBreak: breakOff })
  // What nobody takes any more is read to its end, so that the client gets to read the answer.
  outgoing.on('close', () => {
    stream.off('data', onData)
    if (!ended) stream.resume()
    ended = true
  })
}
