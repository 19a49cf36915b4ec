/** Creates a client over `fetch` from the URL of a server, for `orch/client` in browsers. */
import type { Client } from './client.ts'
import { type ClientChoice, clientOver } from './client-over.ts'
import { type FetchTransportOptions, fetchTransport } from './fetch-transport.ts'

/** Server and credentials of a client. */
export interface ConnectOptions extends ClientChoice, FetchTransportOptions {}

/** Creates a client. If the server is unreachable, the first request fails. */
export async function connect(options: ConnectOptions): Promise<Client> {
  return clientOver(fetchTransport(options), options)
}
