/**
 * From a client config, or from the address of a server, to a client: what `orch/client` offers in Node.
 *
 * Without options the files are those that orchctl reads: all that $ORCHCONFIG or $KUBECONFIG lists, else
 * `~/.kube/config`, else what `orch up` wrote into this directory. The caller closes the client.
 */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Client } from '../requests/client.ts'
import { type ClientChoice, clientOver } from '../requests/client-over.ts'
import type { Transport } from '../requests/transport.ts'
import { parserFor } from './config-parser.ts'
import { HttpTransport, type HttpTransportOptions } from './http-transport.ts'
import { readClientConfig } from './kubeconfig.ts'
import { usualFiles } from './kubeconfig-files.ts'

/** Where the server is, and who the client is to it. What is said here counts before what the client config says. */
export interface ConnectOptions extends ClientChoice {
  /** The client config to read; several count as one, in which the first to name something wins. */
  readonly kubeconfig?: string | readonly string[]
  /** The context of the client config; the current one by default. */
  readonly context?: string
  /** The address of the server, such as https://127.0.0.1:6443. Alone it needs no client config. */
  readonly server?: string
  /** PEM of the authorities that the server's certificate may be signed by. */
  readonly authority?: string
  /** Whether any certificate of the server will do: for experiments alone. */
  readonly insecure?: boolean
  /** The name that the server's certificate must be for, where that is not the one in its address. */
  readonly serverName?: string
  /** The HTTP proxy on the way to the server, such as http://127.0.0.1:3128. */
  readonly proxy?: string
  /** A bearer token, or a function that is asked for it before every request. */
  readonly token?: string | (() => string | Promise<string>)
  /** PEM of the client's certificate and its key. */
  readonly certificate?: { readonly certificate: string; readonly key: string }
  /** Further headers of every request. */
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** The way to the server, in place of a connection: for a server in this process. */
  readonly transport?: Transport
}

/** Makes a client. A server that is not there fails the first request. */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  if (options.transport !== undefined) return clientOver(options.transport, options)
  const { transport, namespace } = await wayTo(options)
  const http = new HttpTransport(transport)
  return clientOver(http.send, { ...(namespace && { namespace }), ...options, onClose: () => http.close() })
}

interface Way {
  readonly transport: HttpTransportOptions
  readonly namespace?: string | undefined
}

async function wayTo(options: ConnectOptions): Promise<Way> {
  const { kubeconfig, context, server } = options
  const stated = statedIn(options)
  if (server !== undefined && kubeconfig === undefined && context === undefined)
    return { transport: { ...stated, server } }
  const files = kubeconfig === undefined ? filesOfUser() : [kubeconfig].flat().map((file) => resolve(file))
  const interactive = process.stdin.isTTY ?? false
  const config = readClientConfig({ files, parse: await parserFor(files), context, server, interactive })
  const saysWho = stated.token !== undefined || stated.certificate !== undefined
  const transport = saysWho ? anonymous(config.transport) : config.transport
  return { transport: { ...transport, ...stated }, namespace: config.namespace }
}

/** The same without the user: of two ways to say who one is, the one that the caller states counts alone. */
function anonymous(transport: HttpTransportOptions): HttpTransportOptions {
  const { token: _, certificate: _1, credentials: _2, headers = {}, ...rest } = transport
  const { authorization: _3, ...others } = headers
  return { ...rest, headers: others }
}

/** Of the options those that say how to connect, where they are given. */
function statedIn(options: ConnectOptions): Partial<HttpTransportOptions> {
  const { authority, insecure, serverName, proxy, certificate, headers, token } = options
  const stated = { authority, insecure, serverName, proxy, certificate, headers }
  const given = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined))
  return { ...given, ...(token === undefined ? {} : { token: typeof token === 'string' ? () => token : token }) }
}

function filesOfUser(): string[] {
  return usualFiles({ env: process.env, home: homedir(), directory: process.cwd() })
}
