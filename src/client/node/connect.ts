/**
 * Creates a client from a kubeconfig or from the URL of a server, for `orch/client` in Node.js.
 *
 * Without options, the function reads the same kubeconfig as orchctl. The first source that exists is used: the files
 * in $ORCHCONFIG, the files in $KUBECONFIG, `~/.kube/config`, or the file that `orch up` wrote below the current
 * directory. The caller closes the client.
 */
import { resolve } from 'node:path'
import type { Client } from '../requests/client.ts'
import { type ClientChoice, clientOver } from '../requests/client-over.ts'
import type { Transport } from '../requests/transport.ts'
import { parserFor } from './config-parser.ts'
import { HttpTransport, type HttpTransportOptions } from './http-transport.ts'
import { readClientConfig } from './kubeconfig.ts'
import { processEnvironment, usualFiles } from './kubeconfig-files.ts'

/** Server and credentials of a client. These options override the kubeconfig. */
export interface ConnectOptions extends ClientChoice {
  /** Path of the kubeconfig. Multiple files are merged. The first file that sets a value takes precedence. */
  readonly kubeconfig?: string | readonly string[]
  /** Context of the kubeconfig. Defaults to the current context. */
  readonly context?: string
  /** URL of the server, such as https://127.0.0.1:6443. With this option alone, no kubeconfig is read. */
  readonly server?: string
  /** CA certificates for verifying the server, in PEM format. */
  readonly authority?: string
  /** Whether to skip verification of the server's certificate. Intended only for experiments. */
  readonly insecure?: boolean
  /** Name to verify in the server's certificate, if it differs from the host in the URL. */
  readonly serverName?: string
  /** URL of an HTTP proxy, such as http://127.0.0.1:3128. */
  readonly proxy?: string
  /** Bearer token, or a function that returns the token before every request. */
  readonly token?: string | (() => string | Promise<string>)
  /** Client certificate and key in PEM format. */
  readonly certificate?: { readonly certificate: string; readonly key: string }
  /** Additional headers for every request. */
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** Transport to use instead of a connection, for a server in this process. */
  readonly transport?: Transport
}

/** Creates a client. If the server is unreachable, the first request fails. */
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

/** Removes the kubeconfig's credentials from the options, because the caller's credentials replace all of them. */
function anonymous(transport: HttpTransportOptions): HttpTransportOptions {
  const { token: _, certificate: _1, credentials: _2, headers = {}, ...rest } = transport
  const { authorization: _3, ...others } = headers
  return { ...rest, headers: others }
}

/** Returns the connection options that are set. */
function statedIn(options: ConnectOptions): Partial<HttpTransportOptions> {
  const { authority, insecure, serverName, proxy, certificate, headers, token } = options
  const stated = { authority, insecure, serverName, proxy, certificate, headers }
  const definedOptions = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined))
  return {
    ...definedOptions,
    ...(token === undefined ? {} : { token: typeof token === 'string' ? () => token : token }),
  }
}

function filesOfUser(): string[] {
  return usualFiles(processEnvironment())
}
