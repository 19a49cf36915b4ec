/** A client over a transport as users of `orch/client` get it: with retries, and with a name of its own. */
import { version } from '../../api/model/version.ts'
import { Client, type ClientOptions } from './client.ts'
import { withRetries } from './retries.ts'
import type { Transport } from './transport.ts'

/** What users choose of their client, however it is connected. */
export interface ClientChoice {
  /** What the client calls itself. Its first word is the manager of fields that are written without naming one. */
  readonly userAgent?: string
  /** How long an answer may take; 70 seconds by default. Watches are not bound by it. */
  readonly timeoutMs?: number
  /** The namespace to work in; that of the client config by default. The client only keeps it. */
  readonly namespace?: string
  /** Whether requests are repeated when the server asks for that with `Retry-After`; true by default. */
  readonly retries?: boolean
}

/** Makes a client over a transport. */
export function clientOver(send: Transport, { retries = true, ...options }: ClientChoice & ClientOptions): Client {
  return new Client(retries ? withRetries(send) : send, { userAgent: `orch-client/${version}`, ...options })
}
