/** `connect` for `orch/client` in Node.js. Supports content types that need more code than the client itself. */

import { type ConnectOptions as ConnectionOptions, connect as connectClient } from '../node/connect.ts'
import type { Client } from '../requests/client.ts'
import { ServerDomain } from '../requests/domain.ts'

/** Options for connecting to a server: its address, the credentials and the encoding of objects. */
export interface ConnectOptions extends ConnectionOptions {
  /**
   * The encoding of objects. `protobuf` encodes built-in kinds in Protobuf, which is smaller and reduces the load on
   * the server. Types without Protobuf use JSON. The client first requests the API groups of the server.
   */
  readonly form?: 'json' | 'protobuf'
}

/**
 * Creates a client. If the server is unreachable, the first request fails. With `form: 'protobuf'`, the creation of the
 * client fails.
 */
export async function connect({ form = 'json', ...options }: ConnectOptions = {}): Promise<Client> {
  const client = await connectClient(options)
  if (form === 'json') return client
  try {
    const domain = await new ServerDomain((path, how) => client.read(path, how)).find(undefined)
    const { protobufFor } = await import('./protobuf.ts')
    return client.withForm(protobufFor(domain))
  } catch (error) {
    client.close()
    throw error
  }
}
