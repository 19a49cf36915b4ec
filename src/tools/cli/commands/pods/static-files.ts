/**
 * Serves files of a directory for `orchctl proxy --www`. Nothing outside the directory is served, even through links.
 * The response for a directory is its index.html, or a listing if there is no index.html.
 */
import { createReadStream } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { UsageError } from '../../../../base/flags/flags.ts'
import { codeOf } from '../../../../base/text/errors.ts'

const types: { readonly [ending: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.gif': 'image/gif',
  '.wasm': 'application/wasm',
}

/** Sends the file at a path within the served directory. */
export type ServeFile = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>

/** Returns a function that serves the files of a directory. Throws UsageError if the directory does not exist. */
export async function filesIn(directory: string): Promise<ServeFile> {
  const root = await realpath(directory).catch((error: unknown) => {
    throw new UsageError(`--www: cannot read ${directory}: ${codeOf(error)}`)
  })
  return async ({ method = 'GET', url = '' }, response, path) => {
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
    const file = await resolveFile(root, path)
    if (file === undefined) return void response.writeHead(404).end('404 page not found\n')
    const isDirectory = (await stat(file)).isDirectory()
    // Browsers resolve relative links correctly only if the path of a directory ends with a slash.
    if (isDirectory && path !== '' && !path.endsWith('/'))
      return void response.writeHead(301, { location: `${url.split('?')[0]}/` }).end()
    const index = isDirectory ? await resolveFile(root, `${path}index.html`) : undefined
    if (isDirectory && index === undefined) await sendList(response, file)
    else await sendFile(response, index ?? file, method)
  }
}

/**
 * Returns the file at a path, with links resolved. Returns undefined if the file does not exist or is outside the
 * directory.
 */
async function resolveFile(root: string, path: string): Promise<string | undefined> {
  const words = decoded(path)
  if (words === undefined || words.includes('\0')) return undefined
  try {
    const file = await realpath(join(root, words))
    return file === root || file.startsWith(root.endsWith(sep) ? root : root + sep) ? file : undefined
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    // The path contains a character that no file name can have, such as NUL.
    return undefined
  }
}

async function sendFile(response: ServerResponse, file: string, method: string): Promise<void> {
  const fileStat = await stat(file)
  if (!fileStat.isFile()) return void response.writeHead(404).end('404 page not found\n')
  response.writeHead(200, {
    'content-type': types[extname(file).toLowerCase()] ?? 'application/octet-stream',
    'content-length': fileStat.size,
    'last-modified': fileStat.mtime.toUTCString(),
    'x-content-type-options': 'nosniff',
  })
  if (method === 'HEAD' || fileStat.size === 0) return void response.end()
  await pipeline(createReadStream(file, { end: fileStat.size - 1 }), response)
}

async function sendList(response: ServerResponse, directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort()
  const lines = names.map(
    (name) => `<a href="${encodeURIComponent(name).replace('%2F', '/')}">${escapeHtml(name)}</a>\n`,
  )
  response.writeHead(200, { 'content-type': types['.html'] }).end(`<pre>\n${lines.join('')}</pre>\n`)
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
