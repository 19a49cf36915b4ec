/** Creates a client over a transport, with retries and a user agent, for users of `orch/client`. */
import { version } from '../../api/model/version.ts'
import { Client, type ClientOptions } from './client.ts'
import { withRetries } from './retries.ts'
import type { Transport } from './transport.ts'

/** Options that users can set for any client, regardless of its transport. */
export interface ClientChoice {
  /** User agent, whose first word is the default field manager of writes. */
  readonly userAgent?: string
  /** Request timeout in milliseconds. Defaults to 70 seconds. Watches are not limited. */
  readonly timeoutMs?: number
  /**
   * Namespace for callers that do not specify one. Defaults to the namespace of the kubeconfig. The client itself does
   * not use this namespace.
   */
  readonly namespace?: string
  /** Whether to retry requests if the server sends `Retry-After`. Defaults to true. */
  readonly retries?: boolean
}

/** Creates a client over a transport. */
export function clientOver(send: Transport, { retries = true, ...options }: ClientChoice & ClientOptions): Client {
  return new Client(retries ? withRetries(send) : send, { userAgent: `orch-client/${version}`, ...options })
}
