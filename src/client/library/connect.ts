/** `connect` of `orch/client` in Node: that of the client, and the forms of documents that need more than the client. */

import { type ConnectOptions as ConnectionOptions, connect as connectClient } from '../node/connect.ts'
import type { Client } from '../requests/client.ts'
import { ServerDomain } from '../requests/domain.ts'

/** Where the server is, who the client is to it, and in which form objects travel. */
export interface ConnectOptions extends ConnectionOptions {
  /**
   * `protobuf`: built-in kinds travel in Protobuf, which is smaller and cheaper for the server; what has no such form is
   * JSON. The server is asked for its groups first.
   */
  readonly form?: 'json' | 'protobuf'
}

/** Makes a client. A server that is not there fails the first request, or this where `form` is `protobuf`. */
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
