/**
 * A service that this server asks over HTTPS, as a file in the form of a client config (kubeconfig) says: where it is, by
 * which authority it is known, and who to be there. Answers are bounded, redirects are not followed, and a call that
 * failed on its way is tried once more.
 */
import { Agent, request } from 'node:https'
import { UsageError } from '../base/flags.ts'
import type { HttpTransportOptions } from '../client/node/http-transport.ts'
import { readClientConfig } from '../client/node/kubeconfig.ts'
import { ConfigError } from '../client/node/kubeconfig-files.ts'
import type { Json, JsonObject } from '../model/json.ts'

export interface WebhookService {
  /** Gives the answer; throws where there is none that can be read. */
  post(body: JsonObject): Promise<Json>
  close(): void
}

const timeoutMs = 10_000
const maxAnswer = 1024 * 1024
const tries = 2

/** Throws UsageError where the file is of no use. */
export function webhookService(flag: string, file: string): WebhookService {
  const options = optionsOf(flag, file)
  const { authority, certificate } = options
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 32,
    ...(authority === undefined ? {} : { ca: authority }),
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
  })
  return {
    post: async (body) => {
      const text = JSON.stringify(body)
      for (let attempt = 1; ; attempt++) {
        try {
          return await send(options, agent, text)
        } catch (error) {
          if (attempt === tries || error instanceof BadAnswer) throw error
        }
      }
    },
    close: () => agent.destroy(),
  }
}

function optionsOf(flag: string, file: string): HttpTransportOptions {
  try {
    const { transport } = readClientConfig({ files: [file] })
    if (!transport.server.startsWith('https://')) throw new ConfigError(`${file}: the service must be at https://`)
    return transport
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(`--${flag}: ${error.message}`, { cause: error })
    throw error
  }
}

/** The service answered, and not as it should: asking again would not help. */
class BadAnswer extends Error {}

async function send({ server, token }: HttpTransportOptions, agent: Agent, body: string): Promise<Json> {
  const bearer = await token?.()
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  }
  return await new Promise((resolve, reject) => {
    const call = request(
      server,
      { method: 'POST', agent, headers, signal: AbortSignal.timeout(timeoutMs) },
      (answer) => {
        const chunks: Buffer[] = []
        let size = 0
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length
          chunks.push(chunk)
          if (size > maxAnswer) call.destroy(new BadAnswer(`the service answered with more than ${maxAnswer} bytes`))
        })
        answer.on('end', () => {
          try {
            resolve(read(answer.statusCode ?? 0, Buffer.concat(chunks)))
          } catch (error) {
            reject(error)
          }
        })
        answer.on('error', reject)
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

function read(status: number, body: Buffer): Json {
  if (status < 200 || status > 299) throw new BadAnswer(`the service answered ${status}`)
  try {
    return JSON.parse(body.toString('utf8')) as Json
  } catch (error) {
    throw new BadAnswer('the service did not answer with JSON', { cause: error })
  }
}
