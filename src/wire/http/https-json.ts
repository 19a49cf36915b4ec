/**
 * Requests JSON from another server over HTTPS. Responses are limited in size and time, redirects are not followed, and
 * error messages contain no request or response data.
 */
import { type Agent, request } from 'node:https'
import { isOwnLimit } from '../../base/limits/own-limits.ts'

/** A request to another server. */
export interface JsonQuestion {
  readonly url: string
  readonly agent: Agent
  /** Sent with POST, as JSON unless the headers say otherwise. If omitted, the method is GET. */
  readonly body?: string
  readonly headers?: { readonly [name: string]: string }
  /** Timeout for getting a connection, and again for the response, in milliseconds. Defaults to ten seconds. */
  readonly timeoutMs?: number
}

/** The server's response was unacceptable, so a retry would not help. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
}

/** All connections of the agent were in use. This is a limit of this server and says nothing about the other one. */
export class NoFreeConnection extends Error {
  override readonly name = 'NoFreeConnection'
}

const defaultTimeoutMs = 10_000
const maxAnswer = 1024 * 1024

/** Sends a request over HTTPS and parses the response as JSON. */
export async function askForJson(question: JsonQuestion): Promise<unknown> {
  const body = await ask(question)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // The parser's error would quote the response.
    throw new BadAnswer('the service did not answer with JSON')
  }
}

/** Sends a request whose response body is ignored. Throws unless the status is a success. */
export async function tellJson(question: JsonQuestion): Promise<void> {
  await ask(question)
}

/** Returns the body of a successful response. */
function ask({ url, agent, body, headers = {}, timeoutMs = defaultTimeoutMs }: JsonQuestion): Promise<Buffer> {
  const all = {
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
    accept: 'application/json',
    'accept-encoding': 'identity',
  }
  const options = { method: body === undefined ? 'GET' : 'POST', agent, headers: all }
  return new Promise((resolve, reject) => {
    const call = request(url, options, (answer) => {
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        chunks.push(chunk)
        if (size > maxAnswer) call.destroy(new BadAnswer(`the service answered with more than ${maxAnswer} bytes`))
      })
      answer.on('end', () => {
        const { statusCode = 0 } = answer
        if (statusCode >= 200 && statusCode < 300) resolve(Buffer.concat(chunks))
        else reject(new BadAnswer(`the service answered ${statusCode}`))
      })
      answer.on('error', reject)
    })
    // Rejects directly, because a request without a connection emits no error until it gets one.
    const fail = (error: Error) => {
      reject(error)
      call.destroy()
    }
    const late = () => fail(new BadAnswer(`the service took longer than ${timeoutMs} ms`))
    const noConnection = () => fail(new NoFreeConnection(`no free connection within ${timeoutMs} ms`))
    let timer = setTimeout(noConnection, timeoutMs)
    // The server gets the full timeout, however long the request waited for a connection.
    call.on('socket', () => {
      clearTimeout(timer)
      timer = setTimeout(late, timeoutMs)
    })
    call.on('close', () => clearTimeout(timer))
    call.on('error', (error: NodeJS.ErrnoException) =>
      reject(isOwnLimit(error) ? new NoFreeConnection(`no connection can be opened (${error.code})`) : error),
    )
    call.end(body)
  })
}
