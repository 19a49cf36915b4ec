/**
 * Asks another server over HTTPS for JSON. Answers are bounded in size and time, redirects are not followed, and nothing
 * that was sent or answered is part of an error.
 */
import { type Agent, request } from 'node:https'

/** A request to another server. */
export interface JsonQuestion {
  readonly url: string
  readonly agent: Agent
  /** Sent with POST, as JSON unless the headers say otherwise; left out: GET. */
  readonly body?: string
  readonly headers?: { readonly [name: string]: string }
}

/** The server answered, and not as it should: asking again would not help. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
}

const timeoutMs = 10_000
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
function ask({ url, agent, body, headers = {} }: JsonQuestion): Promise<Buffer> {
  const all = {
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
    accept: 'application/json',
    'accept-encoding': 'identity',
  }
  const signal = AbortSignal.timeout(timeoutMs)
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    agent,
    headers: all,
    signal,
  }
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(signal.aborted ? new BadAnswer(`the service took longer than ${timeoutMs} ms`) : error)
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
      answer.on('error', fail)
    })
    call.on('error', fail)
    call.end(body)
  })
}
