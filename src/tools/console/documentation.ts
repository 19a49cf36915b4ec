/**
 * Serves the documentation site (`npm run docs`) under `/docs/`. Like the console's step, this pipeline step runs
 * before authentication, because the files are public and contain no cluster data. They are part of the npm package and
 * of the single executable.
 */
import { hash } from 'node:crypto'
import { notAllowed } from '../../apiserver/http/dispatch.ts'
import type { Step } from '../../apiserver/http/pipeline.ts'
import type { Exchange } from '../../apiserver/http/request/exchange.ts'
import { sendPageNotFound, sendText } from '../../apiserver/http/response/responses.ts'
import { readProgramFile } from '../../base/files/program-files.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { sendUnchanged, setPageHeaders } from './page-response.ts'

const root = '/docs'
const indexName = 'index.html'

/** The Trusted Types policy that the pages use to load the search index (scripts/site/assets/site.js). */
const trustedTypesPolicy = 'orch-docs'

/**
 * Returns the step that serves the site, or undefined if the site is not served. With `auto`, the site is served if it
 * is installed. With `true`, a missing site is an error.
 */
export async function openDocumentation(
  when: 'auto' | 'true' | 'false',
  dist = distDirectory(),
): Promise<Step | undefined> {
  if (when === 'false') return undefined
  const site = new Site(dist)
  if ((await site.read(indexName)) !== undefined) return serveSite(site)
  if (when === 'auto') return undefined
  throw new UsageError('--docs: the documentation site has not been built: run "npm run docs" in the checkout')
}

/** Returns the directory that contains `site/`. Tests run from sources and use the site of the checkout. */
function distDirectory(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../../dist/' : './', import.meta.url)
}

function serveSite(site: Site): Step {
  return (exchange) => {
    const { info, transport } = exchange
    if (info.resource || !info.path.startsWith(root)) return
    const name = info.path.slice(root.length)
    if (name !== '' && !name.startsWith('/')) return
    setPageHeaders(exchange, trustedTypesPolicy)
    if (transport.method !== 'GET' && transport.method !== 'HEAD') throw notAllowed()
    return name === '' ? redirect(exchange) : sendFile(exchange, site, name.slice(1) || indexName)
  }
}

/** The path must end in a slash, because the pages refer to other files with relative URLs. */
function redirect(exchange: Exchange): void {
  exchange.setHeader('location', `${root}/`)
  sendText(exchange, 308, `the documentation is at ${root}/\n`)
}

async function sendFile(exchange: Exchange, site: Site, name: string): Promise<void> {
  const file = await site.read(name)
  if (file === undefined) return sendPageNotFound(exchange)
  exchange.setHeader('etag', file.etag)
  exchange.setHeader('cache-control', 'no-cache')
  if (exchange.headers.first('if-none-match') === file.etag) return sendUnchanged(exchange)
  return exchange.send(200, file.type, file.content)
}

interface SiteFile {
  readonly type: string
  readonly content: Buffer
  readonly etag: string
}

const types: { readonly [ending: string]: string } = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
}

/** Content type of files with an unlisted extension, such as YAML examples. */
const textType = 'text/plain; charset=utf-8'

/** Matches the paths of files in the site. No directory name begins with a dot, so a path cannot escape the site. */
const filePath = /^(?:[A-Za-z0-9][\w-]*\/)*[A-Za-z0-9][\w.-]*\.([a-z]+)$/

/**
 * Serves files of the site from memory. Caching prevents unauthenticated clients from causing repeated disk reads. The
 * whole site takes a few megabytes.
 */
class Site {
  readonly #dist: URL
  readonly #files = new Map<string, Promise<SiteFile | undefined>>()

  constructor(dist: URL) {
    this.#dist = dist
  }

  /** Returns the file with this path, or undefined if there is no such file. */
  async read(path: string): Promise<SiteFile | undefined> {
    const reading = this.#files.get(path) ?? this.#readFile(path)
    this.#files.set(path, reading)
    const file = await reading.catch(() => undefined)
    if (file === undefined) this.#files.delete(path)
    return await reading
  }

  async #readFile(path: string): Promise<SiteFile | undefined> {
    const ending = filePath.exec(path)?.[1]
    if (ending === undefined) return undefined
    try {
      const content = await readProgramFile(`../site/${path}`, this.#dist)
      const etag = `"${hash('sha256', content, 'base64url').slice(0, 22)}"`
      return { type: types[ending] ?? textType, content, etag }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'EISDIR' && code !== 'ENOTDIR') throw error
      return undefined
    }
  }
}
