/** A plain HTTPS client for tests, which sends exactly what the test passes and returns exactly what it receives. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { createSecureContext } from 'node:tls'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly bytes: Buffer
  /** The body, parsed as JSON. Throws if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any response
  readonly body: any
}

type Headers = { readonly [name: string]: string }

export interface Sent {
  readonly method?: string
  readonly headers?: Headers
  readonly body?: unknown
  readonly raw?: string | Buffer
}

export interface WatchEvent {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any event
  readonly object: any
}

export class HttpClient {
  readonly #agent: Agent
  readonly #options: { readonly port: number; readonly token: string }

  constructor(options: { port: number; token: string; ca: string; cert?: string; key?: string }) {
    this.#options = options
    const { ca, cert, key } = options
    // The certificate is parsed once rather than for each connection.
    const secureContext = createSecureContext({ ca, ...(cert && key ? { cert, key } : {}) })
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64, secureContext })
  }

  get(path: string, headers?: { readonly [name: string]: string }): Promise<Answer> {
    return this.send(path, headers ? { headers } : {})
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.send(path, { method: 'POST', body })
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.send(path, { method: 'PUT', body })
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.send(path, { method: 'DELETE', ...(body === undefined ? {} : { body }) })
  }

  async send(path: string, sent: Sent = {}): Promise<Answer> {
    const response = await this.#open(path, sent)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const text = bytes.toString('utf8')
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      bytes,
      get body() {
        return JSON.parse(text)
      },
    }
  }

  /**
   * Yields the events of a watch until the server ends the watch or the signal aborts. The signal may also abort the
   * connection attempt.
   */
  async *watch(path: string, signal: AbortSignal, headers: Headers = {}): AsyncGenerator<WatchEvent> {
    try {
      yield* this.#events(path, signal, headers)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async *#events(path: string, signal: AbortSignal, headers: Headers): AsyncGenerator<WatchEvent> {
    const response = await this.#open(path, { headers }, signal)
    if (response.statusCode !== 200) {
      response.destroy()
      const code = `HTTP_${response.statusCode}`
      throw Object.assign(new Error(`the watch was answered with ${response.statusCode}`), { code })
    }
    let rest = ''
    for await (const chunk of response) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) yield JSON.parse(line)
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #open(
    path: string,
    { method = 'GET', headers = {}, body, raw }: Sent,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const all = {
      ...(this.#options.token === '' ? {} : { authorization: `Bearer ${this.#options.token}` }),
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      ...headers,
    }
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: this.#options.port,
          method,
          path,
          headers: all,
          agent: this.#agent,
          ...(signal ? { signal } : {}),
        },
        resolve,
      )
      outgoing.on('error', reject)
      outgoing.end(payload)
    })
  }
}
