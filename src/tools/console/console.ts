/**
 * Serves the console under `/console/`: its files, and the exchange of the one-time link for a session. This pipeline
 * step runs before authentication, because the page must load before a user can sign in. The files are public and
 * contain no cluster data. The page uses only the API, with the identity of the signed-in user.
 */
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { unauthorized } from '../../api/model/api-error.ts'
import { notAllowed } from '../../apiserver/http/dispatch.ts'
import type { Step } from '../../apiserver/http/pipeline.ts'
import type { Exchange } from '../../apiserver/http/request/exchange.ts'
import { sendPageNotFound, sendText } from '../../apiserver/http/response/responses.ts'
import { sharedUnpacking } from '../../base/collections/shared-unpacking.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { ConsoleAccess } from './access.ts'
import { type ConsoleFile, indexName, readConsoleFile } from './files.ts'
import { sendUnchanged, setPageHeaders } from './page-response.ts'

const root = '/console'
/** The console's scripts never create HTML from strings, so they need no Trusted Types policy. */
const noTrustedTypes = "'none'"

export interface ConsoleParts {
  /** Verifies one-time links. Undefined if this process printed no link. */
  readonly access: ConsoleAccess | undefined
  /** Whether the server also serves the documentation. If so, the page links to it. */
  readonly hasDocumentation: boolean
  readonly log: Log
}

/** Returns a step that handles requests for the console and passes on all other requests. */
export function serveConsole({ access, hasDocumentation, log }: ConsoleParts): Step {
  return (exchange) => {
    const { info, transport } = exchange
    if (info.resource || !info.path.startsWith(root)) return
    const name = info.path.slice(root.length)
    if (name !== '' && !name.startsWith('/')) return
    setPageHeaders(exchange, noTrustedTypes)
    if (name === '/session') return beginSession(exchange, access, log)
    if (transport.method !== 'GET' && transport.method !== 'HEAD') throw notAllowed()
    if (name === '/settings') return sendSettings(exchange, { hasDocumentation })
    return name === '' ? redirect(exchange) : sendFile(exchange, name.slice(1) || indexName)
  }
}

/** The path must end in a slash, because the page refers to its files with relative URLs. */
function redirect(exchange: Exchange): void {
  exchange.setHeader('location', `${root}/`)
  sendText(exchange, 308, `the console is at ${root}/\n`)
}

/** Sends the settings that the console needs before a user signs in. */
function sendSettings(exchange: Exchange, settings: Pick<ConsoleParts, 'hasDocumentation'>): void {
  exchange.setHeader('cache-control', 'no-store')
  exchange.send(200, 'application/json', Buffer.from(JSON.stringify(settings)))
}

/**
 * Exchanges the secret for a session. The secret is sent in a header, so that neither the URL nor a body contains it.
 */
function beginSession(exchange: Exchange, access: ConsoleAccess | undefined, log: Log): void {
  if (exchange.transport.method !== 'POST') throw notAllowed()
  const [, link = ''] = /^Link ([\w-]{1,100})$/.exec(exchange.headers.one('authorization') ?? '') ?? []
  const session = access?.exchange(link)
  if (session === undefined) throw unauthorized()
  log.info('a client used the one-time console link', { address: exchange.transport.peer.address })
  exchange.setHeader('cache-control', 'no-store')
  exchange.send(200, 'application/json', Buffer.from(JSON.stringify(session)))
}

async function sendFile(exchange: Exchange, name: string): Promise<void> {
  const file = await readConsoleFile(name)
  if (file === undefined) return sendPageNotFound(exchange)
  const isPage = file.name === indexName
  exchange.setHeader('etag', file.etag)
  exchange.setHeader('vary', 'Accept-Encoding')
  exchange.setHeader('cache-control', isPage ? 'no-cache' : 'public, max-age=31536000, immutable')
  if (exchange.headers.first('if-none-match') === file.etag) return sendUnchanged(exchange)
  await sendContent(exchange, file)
}

const unpack = sharedUnpacking(promisify<Buffer, Buffer>(brotliDecompress))

/** Sends a file. All browsers accept Brotli over TLS. Other clients receive the uncompressed file. */
async function sendContent(exchange: Exchange, { type, brotli }: ConsoleFile): Promise<void> {
  if (!/\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(exchange.headers.all('accept-encoding').join(',')))
    return exchange.send(200, type, await unpack(brotli))
  exchange.setHeader('content-encoding', 'br')
  return exchange.send(200, type, brotli)
}
