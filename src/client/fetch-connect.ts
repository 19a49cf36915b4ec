/** From the address of a server to a client over `fetch`: what `orch/client` offers in browsers. */
import { Client, type ClientOptions } from './client.ts'
import { type FetchTransportOptions, fetchTransport } from './fetch-transport.ts'

/** Where the server is, and who the client is to it. */
export type ConnectOptions = ClientOptions & FetchTransportOptions

/** Makes a client. Nothing is sent yet: a server that is not there fails the first request. */
export async function connect({ userAgent, timeoutMs, form, ...rest }: ConnectOptions): Promise<Client> {
  return new Client(fetchTransport(rest), { ...(userAgent && { userAgent }), ...(timeoutMs && { timeoutMs }), form })
}
