/** From the address of a server to a client over `fetch`: what `orch/client` offers in browsers. */
import type { Client } from './client.ts'
import { type ClientChoice, clientOver } from './client-over.ts'
import { type FetchTransportOptions, fetchTransport } from './fetch-transport.ts'

/** Where the server is, and who the client is to it. */
export interface ConnectOptions extends ClientChoice, FetchTransportOptions {}

/** Makes a client. A server that is not there fails the first request. */
export async function connect(options: ConnectOptions): Promise<Client> {
  return clientOver(fetchTransport(options), options)
}
