/**
 * Implements `orchctl proxy`, which serves the API on a local port with the user's credentials. The proxy is intended
 * for use on the local machine only.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { posix, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { flag, type OptionsOf, refusedFlag, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { messageOf } from '../../../../base/text/errors.ts'
import { asksForServiceWorker, canChange, foreignPageFault, originOf } from '../../../../wire/http/foreign-pages.ts'
import { valuesOf } from '../../../../wire/http/raw-headers.ts'
import { type Connection, withConnection } from '../../connection/connect.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { type Context, defineCommand, refuseWords } from '../../program/command.ts'
import type { ServeFile } from './static-files.ts'

const flags = {
  port: flag({
    name: 'port',
    letter: 'p',
    value: 'PORT',
    default: '8001',
    read: readPort,
    help: 'local port; 0 for any free port',
  }),
  address: flag({
    name: 'address',
    value: 'ADDRESS',
    default: '127.0.0.1',
    read: text,
    help: 'local address to listen on',
  }),
  unixSocket: flag({
    name: 'unix-socket',
    letter: 'u',
    value: 'FILE',
    read: text,
    help: 'Unix socket to listen on instead of a port',
  }),
  disableFilter: toggle({
    name: 'disable-filter',
    help: 'disable all request filters (insecure): anyone who can reach the port can act as you',
  }),
  www: flag({ name: 'www', letter: 'w', value: 'DIR', read: text, help: 'directory with additional files to serve' }),
  wwwPrefix: flag({
    name: 'www-prefix',
    letter: 'P',
    value: 'PATH',
    default: '/static/',
    read: readPrefix,
    help: 'path prefix under which the files in --www are served',
  }),
  keepalive: refusedFlag('keepalive', 'the keep-alive period for server connections is not configurable', {
    value: 'TIME',
    accepted: '0s',
  }),
  apiPrefix: flag({
    name: 'api-prefix',
    value: 'PATH',
    default: '/',
    read: text,
    help: 'path prefix under which the API is served',
  }),
  acceptHosts: flag({
    name: 'accept-hosts',
    value: 'PATTERN,...',
    default: '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$',
    read: text,
    help: 'regular expressions for host names to accept',
  }),
  acceptPaths: flag({
    name: 'accept-paths',
    value: 'PATTERN,...',
    default: '^.*',
    read: text,
    help: 'regular expressions for paths to accept',
  }),
  rejectPaths: flag({
    name: 'reject-paths',
    value: 'PATTERN,...',
    default: '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach',
    read: text,
    help: 'regular expressions for paths to reject, even if --accept-paths accepts them',
  }),
  rejectMethods: flag({
    name: 'reject-methods',
    value: 'PATTERN,...',
    default: '^$',
    read: text,
    help: 'regular expressions for HTTP methods to reject, such as POST,PUT,PATCH',
  }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const proxyCommand = defineCommand({
  name: 'proxy',
  forms: ['[flags]'],
  about: `Serve the API on a local port without TLS, as the kubeconfig user. Press Ctrl-C to stop.

Anyone who can reach the port acts as the kubeconfig user, so do not expose the port beyond this machine. To protect
you from malicious web pages, orchctl rejects requests for host names other than those of this machine, and rejects
writes from pages of other origins. Protocol upgrades are not forwarded.`,
  examples: [
    'orchctl proxy',
    'orchctl proxy --port=0 --reject-methods=POST,PUT,PATCH,DELETE',
    'orchctl proxy --www=site --www-prefix=/site/',
  ],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    const allows = options.disableFilter ? () => true : await filterOf(options)
    if (options.disableFilter && options.unixSocket === '')
      context.err('Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious\n')
    const files = await staticFiles(context, options)
    await withConnection(context, options, async (connection) => {
      const server = createServer((request, response) => {
        const prefix = options.apiPrefix.replace(/\/$/, '')
        const call = { request, response, prefix, allows, files, isFiltered: !options.disableFilter }
        answer(connection, call).catch((error) => {
          if (!response.headersSent) response.writeHead(502)
          response.end(`${messageOf(error)}\n`)
        })
      })
      context.out(`Starting to serve on ${await listen(server, options)}\n`)
      if (!context.signal.aborted) await once(context.signal, 'abort')
      server.close()
      server.closeAllConnections()
    })
  },
})

interface StaticFiles {
  readonly prefix: string
  readonly serve: ServeFile
}

async function staticFiles({ directory }: Context, { www, wwwPrefix }: Options): Promise<StaticFiles | undefined> {
  if (www === '') return undefined
  const { filesIn } = await import('./static-files.ts')
  return { prefix: wwwPrefix, serve: await filesIn(resolve(directory, www)) }
}

/** Normalizes a prefix such as `/static/` to start and end with a slash. */
function readPrefix(value: string): string {
  return `/${value}/`.replaceAll(/\/{2,}/g, '/')
}

/** Starts listening and returns the address of the listener. */
async function listen(server: Server, { port, address, unixSocket }: Options): Promise<string> {
  if (unixSocket === '') server.listen(port, address)
  else server.listen(unixSocket)
  await once(server, 'listening').catch((error: unknown) => {
    throw new UsageError(`cannot listen on ${unixSocket || `${address}:${port}`}: ${messageOf(error)}`)
  })
  const boundAddress = server.address() as AddressInfo | string
  if (typeof boundAddress === 'string') return boundAddress
  return `${boundAddress.family === 'IPv6' ? `[${boundAddress.address}]` : boundAddress.address}:${boundAddress.port}`
}

function readPort(value: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : -1
  if (port < 0 || port > 65_535) throw new UsageError(`${JSON.stringify(value)} is not a port`)
  return port
}

interface Filters {
  readonly acceptHosts: string
  readonly acceptPaths: string
  readonly rejectPaths: string
  readonly rejectMethods: string
}

type Allows = (request: { host: string; path: string; method: string }) => boolean

/**
 * Returns a function that decides which requests the proxy forwards. Its patterns are matched in linear time, so that
 * no request can block the proxy.
 */
async function filterOf(filters: Filters): Promise<Allows> {
  const { RE2JS } = await import('re2js')
  const anyOf = (patterns: string) => {
    const compiled = patterns.split(',').map((pattern) => {
      try {
        return RE2JS.compile(pattern)
      } catch (error) {
        throw new UsageError(`${JSON.stringify(pattern)} is not a regular expression: ${messageOf(error)}`)
      }
    })
    return (value: string) => compiled.some((pattern) => pattern.test(value))
  }
  const hosts = anyOf(filters.acceptHosts)
  const paths = anyOf(filters.acceptPaths)
  const noPaths = anyOf(filters.rejectPaths)
  const noMethods = anyOf(filters.rejectMethods)
  return ({ host, path, method }) => hosts(host) && paths(path) && !noPaths(path) && !noMethods(method)
}

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly prefix: string
  readonly allows: Allows
  readonly files: StaticFiles | undefined
  /** Whether to reject requests that may come from web pages of other origins. */
  readonly isFiltered: boolean
}

/** Headers that are not forwarded: hop-by-hop headers, and headers that the user's credentials replace. */
const dropped = new Set([
  ...['authorization', 'connection', 'host', 'keep-alive', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'content-length', 'http2-settings'],
])
/** Matches headers that a browser sends about the requesting page. The API server has no use for them. */
const isOfPage = (name: string) => name === 'origin' || name.startsWith('sec-fetch-')
const maxBody = 64 * 1024 * 1024

async function answer({ send }: Connection, call: Call): Promise<void> {
  const { request, response, prefix, allows, files } = call
  const { url = '/', method = 'GET', headers } = request
  const host = (headers.host ?? '').replace(/:\d+$/, '')
  const path = url.split('?')[0]!
  // The server decodes the path, so the filters must check the decoded path.
  const isFile = files !== undefined && path.startsWith(files.prefix)
  const decoded = isFile ? path : decodedPath(path)
  if (decoded === undefined) return void response.writeHead(400).end('the path is not properly percent-encoded\n')
  if (!allows({ host, path: decoded, method })) return void response.writeHead(403).end('<h3>Unauthorized</h3>\n')
  const clean = cleanPath(path)
  if (clean !== path) return void response.writeHead(301, { location: clean + url.slice(path.length) }).end()
  if (isFile) return await files.serve(request, response, path.slice(files.prefix.length))
  if (!url.startsWith(`${prefix}/`)) return void response.writeHead(404).end('404 page not found\n')
  const refusal = call.isFiltered ? pageRefusal(request) : undefined
  if (refusal !== undefined) return void response.writeHead(refusal.status, plainText).end(`${refusal.text}\n`)
  const clientGone = new AbortController()
  response.once('close', () => clientGone.abort())
  const body = await requestBody(request)
  const answered = await send({
    method,
    path: url.slice(prefix.length),
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => !dropped.has(name) && !isOfPage(name))
        .map(([name, value]) => [name, String(value)]),
    ),
    body,
    signal: clientGone.signal,
  })
  const passed = Object.entries(answered.headers).filter(([name]) => !dropped.has(name) && !name.startsWith(':'))
  response.writeHead(answered.status, Object.fromEntries(passed))
  await pipeline(Readable.from(answered.body), response)
}

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }

/**
 * Returns the reason why the proxy rejects a request caused by a web page, or undefined if the request is allowed. The
 * server cannot decide this, because it receives every request with the user's credentials and without the headers
 * about the page.
 */
function pageRefusal(request: IncomingMessage): { readonly status: number; readonly text: string } | undefined {
  const { method = 'GET', headers, rawHeaders } = request
  const page = {
    method,
    isUpgrade: headers.upgrade !== undefined,
    ownOrigin: originOf('http', headers.host ?? ''),
    valuesOf: (name: string) => valuesOf(rawHeaders, name),
  }
  if (asksForServiceWorker(page)) return { status: 403, text: 'service workers are not allowed' }
  const fault = foreignPageFault(page)
  if (fault !== undefined) return { status: 403, text: `forbidden: ${fault}` }
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  const isBrowser = Object.keys(headers).some((name) => name.startsWith('sec-fetch-'))
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (!canChange(page) || !hasBody || !isBrowser || mediaType.trim() !== '') return undefined
  return { status: 415, text: 'a browser must send a body with its Content-Type' }
}

/** Returns the decoded path, or undefined if the encoding is invalid or would hide a slash from the filters. */
function decodedPath(path: string): string | undefined {
  if (/%2f|%5c/i.test(path)) return undefined
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** Removes empty segments, `.` and `..`, which could otherwise bypass the patterns. */
function cleanPath(path: string): string {
  return posix.normalize(path.replaceAll(/^\/*/g, '/'))
}

async function requestBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBody) throw new UsageError(`the request body must not exceed ${maxBody} bytes`)
    chunks.push(chunk)
  }
  return size === 0 ? undefined : Buffer.concat(chunks)
}
