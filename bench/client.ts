/**
 * A small HTTP/2 client for requests that the load tools cannot send: single requests, and watches whose events are
 * timed.
 */
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { type Side, token } from './servers.ts'

const newline = 10

export class Client {
  readonly #session: ClientHttp2Session
  readonly #authorization: string

  static async connect({ origin }: Side, bearer = token): Promise<Client> {
    const session = connect(origin, { rejectUnauthorized: false })
    await once(session, 'connect')
    return new Client(session, bearer)
  }

  private constructor(session: ClientHttp2Session, bearer: string) {
    this.#session = session
    this.#authorization = `Bearer ${bearer}`
  }

  send(method: string, path: string, body: string): Promise<void> {
    const headers = {
      ':method': method,
      ':path': path,
      'content-type': 'application/json',
      authorization: this.#authorization,
    }
    return new Promise((resolve, reject) => {
      const stream = this.#session.request(headers, { endStream: body === '' })
      let status = 0
      stream.on('response', (answer) => (status = Number(answer[':status'])))
      stream.on('error', reject)
      stream.on('close', () =>
        status >= 200 && status < 300
          ? resolve()
          : reject(new Error(`${method} ${path} was answered with ${status || 'nothing'}`)),
      )
      if (body !== '') stream.end(body)
      stream.resume()
    })
  }

  /**
   * Calls `onEvents` for each chunk, with the size of the chunk and the number of events that end in it. Resolves when
   * the response begins.
   */
  async watch(
    path: string,
    onEvents: (count: number, bytes: number) => void,
    accept = 'application/json',
  ): Promise<void> {
    const stream = this.#session.request({ ':path': path, authorization: this.#authorization, accept })
    const count = accept === 'application/json' ? linesIn : frameCounter()
    stream.on('data', (chunk: Buffer) => onEvents(count(chunk), chunk.length))
    const [answer] = await once(stream, 'response')
    if (answer[':status'] !== 200) throw new Error(`${path} was answered with ${answer[':status']}`)
  }

  close(): void {
    this.#session.destroy()
  }
}

function linesIn(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) count++
  return count
}

const lengthBytes = 4

/**
 * Counts the frames that end in each chunk of a stream. A frame consists of a four-byte length, followed by that many
 * bytes of data.
 */
function frameCounter(): (chunk: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let count = 0
    while (rest.length >= lengthBytes && rest.length >= lengthBytes + rest.readUInt32BE(0)) {
      rest = rest.subarray(lengthBytes + rest.readUInt32BE(0))
      count++
    }
    return count
  }
}
