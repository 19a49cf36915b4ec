/**
 * A webhook service called over HTTPS. A kubeconfig file specifies its address, CA and credentials. Response sizes are
 * limited, redirects are not followed, and a call that fails in transit is retried once.
 */
import type { Json, JsonObject } from '../../api/json/json.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { parseConfigYaml } from '../../client/node/config-yaml.ts'
import type { HttpTransportOptions } from '../../client/node/http-transport.ts'
import { type ClientConfig, readClientConfig } from '../../client/node/kubeconfig.ts'
import { ConfigError } from '../../client/node/kubeconfig-files.ts'
import { UrlConnections } from '../../wire/http/client/url-connections.ts'
import { askForJson, BadAnswer, type JsonQuestion, NoFreeConnection, tellJson } from '../../wire/http/https-json.ts'
import type { Reloading } from '../flags/reloading.ts'

export interface WebhookService {
  /**
   * Sends a JSON request and returns the response body. Throws if there is no valid response. `headers` are sent in
   * addition to those in the kubeconfig. The timeout applies to each attempt.
   */
  post(body: JsonObject, headers?: Headers, timeoutMs?: number): Promise<Json>
  /**
   * Sends a JSON text without retries. The response must have a success status. The body of the response is ignored.
   */
  tell(text: string): Promise<void>
  close(): void
}

type Headers = { readonly [name: string]: string }

const tries = 2

/**
 * Opens the service. The kubeconfig file and the files that it names may change while the server is running. Throws
 * UsageError if a file is invalid.
 */
export function webhookService(flag: string, file: string, reloading: Reloading): WebhookService {
  let stopFollowing = () => {}
  const open = (): Opened => {
    const { files } = readConfig(flag, file)
    stopFollowing()
    stopFollowing = reloading.follow(flag, files, () => {
      const before = current
      current = open()
      before.connections.close()
    })
    // Read the configuration again, because the files may have changed before the server started watching them.
    return openConfig(readConfig(flag, file).transport)
  }
  let current = open()
  return {
    post: async (body, headers = {}, timeoutMs = undefined) => {
      const text = JSON.stringify(body)
      for (let attempt = 1; ; attempt++) {
        try {
          const question = await questionOf(current, text)
          return (await askForJson({
            ...question,
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
            headers: { ...headers, ...question.headers },
          })) as Json
        } catch (error) {
          if (attempt === tries || error instanceof BadAnswer || error instanceof NoFreeConnection) throw error
        }
      }
    },
    tell: async (text) => tellJson(await questionOf(current, text)),
    close: () => {
      stopFollowing()
      current.connections.destroy()
    },
  }
}

/** The parsed kubeconfig, and connections made with it. */
interface Opened {
  readonly options: HttpTransportOptions
  readonly connections: UrlConnections
}

function openConfig(options: HttpTransportOptions): Opened {
  const { authority, certificate } = options
  return { options, connections: new UrlConnections({ authority, certificate, maxConnections: 32 }) }
}

function readConfig(flag: string, file: string): ClientConfig {
  try {
    const config = readClientConfig({ files: [file], parse: parseConfigYaml })
    if (!config.transport.server.startsWith('https://'))
      throw new ConfigError(`${file}: the server URL must begin with https://`)
    if (config.transport.credentials !== undefined)
      throw new ConfigError(`${file}: exec and auth-provider are not supported: use a token or a certificate`)
    if (config.transport.proxy !== undefined) throw new ConfigError(`${file}: proxy-url is not supported`)
    if (config.transport.headers?.['impersonate-user'] !== undefined)
      throw new ConfigError(`${file}: impersonation (as) is not supported`)
    return config
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(`--${flag}: ${error.message}`, { cause: error })
    throw error
  }
}

async function questionOf({ options, connections }: Opened, body: string): Promise<JsonQuestion> {
  const { server, token, headers } = options
  const bearer = await token?.()
  const authorization = bearer === undefined ? headers?.authorization : `Bearer ${bearer}`
  const sentHeaders = authorization === undefined ? {} : { authorization: String(authorization) }
  return { url: server, connections, body, headers: sentHeaders }
}
