/**
 * Asks another server over HTTPS for JSON. Answers are bounded in size and time, redirects are not followed, and nothing
 * that was sent or answered is part of an error.
 */
import { type Agent, request } from 'node:https'
import { isOwnLimit } from '../../base/limits/own-limits.ts'

/** A request to another server. */
export interface JsonQuestion {
  readonly url: string
  readonly agent: Agent
  /** Sent with POST, as JSON unless the headers say otherwise; left out: GET. */
  readonly body?: string
  readonly headers?: { readonly [name: string]: string }
  /** How long to wait for a connection, and then for the answer. Defaults to ten seconds. */
  readonly timeoutMs?: number
}

/** The server answered, and not as it should: asking again would not help. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
}

/** All connections of the agent were in use: a limit of this server, which says nothing about the other one. */
export class NoFreeConnection extends Error {
  override readonly name = 'NoFreeConnection'
}

const defaultTimeoutMs = 10_000
const maxAnswer = 1024 * 1024

/** Sends a request over HTTPS and reads the answer as JSON, within limits. */
export async function askForJson(question: JsonQuestion): Promise<unknown> {
  const body = await ask(question)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // The error of the parser quotes what it read.
    throw new BadAnswer('the service did not answer with JSON')
  }
}

/** Sends a request of which nobody reads the answer: it only must be one of success. */
export async function tellJson(question: JsonQuestion): Promise<void> {
  await ask(question)
}

/** The body of an answer of success. */
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
    // Rejects by itself: a call that has no connection yet emits no error before it gets one.
    const fail = (error: Error) => {
      reject(error)
      call.destroy()
    }
    const late = () => fail(new BadAnswer(`the service took longer than ${timeoutMs} ms`))
    const noConnection = () => fail(new NoFreeConnection(`no free connection within ${timeoutMs} ms`))
    let timer = setTimeout(noConnection, timeoutMs)
    // The service has all of its time, however long the call waited for a connection.
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
