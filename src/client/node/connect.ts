/**
 * From a client config, or from the address of a server, to a client: what `orch/client` offers in Node.
 *
 * Without options the files are those that kubectl would read: $ORCHCONFIG or $KUBECONFIG, `~/.kube/config`, and else
 * what `orch up` wrote into this directory. Whoever connects also closes.
 */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { Client, type ClientOptions } from '../client.ts'
import type { Transport } from '../transport.ts'
import { parserFor } from './config-parser.ts'
import { HttpTransport, type HttpTransportOptions } from './http-transport.ts'
import { readClientConfig } from './kubeconfig.ts'
import { usualFiles } from './kubeconfig-files.ts'

/** Where the server is, and who the client is to it. */
export interface ConnectOptions extends ClientOptions, Partial<HttpTransportOptions> {
  /** The client config to read; several count as one, in which the first to name something wins. */
  readonly kubeconfig?: string | readonly string[]
  /** The context of the client config; the current one by default. */
  readonly context?: string
  /** The way to the server, in place of a connection: for a server in this process. */
  readonly transport?: Transport
}

/** Makes a client. Nothing is sent yet: a server that is not there fails the first request. */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { kubeconfig, context, transport, userAgent, timeoutMs, form, server, ...rest } = options
  const clientOptions = { ...(userAgent && { userAgent }), ...(timeoutMs && { timeoutMs }), form }
  if (transport !== undefined) return new Client(transport, clientOptions)
  if (server !== undefined && kubeconfig === undefined && context === undefined)
    return over(new HttpTransport({ ...rest, server }), clientOptions)
  const files = kubeconfig === undefined ? filesOfUser() : [kubeconfig].flat().map((file) => resolve(file))
  const interactive = process.stdin.isTTY ?? false
  const config = readClientConfig({ files, parse: await parserFor(files), context, server, interactive })
  return over(new HttpTransport({ ...config.transport, ...rest }), { ...clientOptions, namespace: config.namespace })
}

function filesOfUser(): string[] {
  return usualFiles({ env: process.env, home: homedir(), directory: process.cwd() })
}

function over(transport: HttpTransport, options: ClientOptions): Client {
  return new Client(transport.send, { ...options, onClose: () => transport.close() })
}
