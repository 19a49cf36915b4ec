/**
 * Serves the bundled console files (`dist/console`), which are compressed. All files except the page itself have a hash
 * in their names. These files are read from disk only once, because unauthenticated clients can request them.
 */
import { hash } from 'node:crypto'
import { readProgramFile } from '../../base/files/program-files.ts'

/** A bundled file, compressed with Brotli. */
export interface ConsoleFile {
  readonly name: string
  readonly type: string
  readonly brotli: Buffer
  readonly etag: string
}

/** Name of the page itself. Unlike other files, it contains no hash. */
export const indexName = 'index.html'

const types: { readonly [ending: string]: string } = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Matches the names of bundled files. Such a name cannot point to another directory. */
const fileName = /^[A-Za-z0-9][\w-]*\.(html|js|css|svg)$/

const filesByPath = new Map<string, Promise<ConsoleFile | undefined>>()

/** Returns the file with this name, or undefined if there is no such file. */
export async function readConsoleFile(name: string): Promise<ConsoleFile | undefined> {
  if (name === indexName) return await read(name)
  const reading = filesByPath.get(name) ?? read(name)
  filesByPath.set(name, reading)
  const file = await reading.catch(() => undefined)
  if (file === undefined) filesByPath.delete(name)
  return await reading
}

async function read(name: string): Promise<ConsoleFile | undefined> {
  const ending = fileName.exec(name)?.[1]
  if (ending === undefined) return undefined
  try {
    const brotli = await readProgramFile(`console/${name}.br`, directory())
    return { name, type: types[ending]!, brotli, etag: `"${hash('sha256', brotli, 'base64url').slice(0, 22)}"` }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** Returns the directory of the bundled console. Tests run from sources and use the bundle of the checkout. */
function directory(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../../dist/' : './', import.meta.url)
}
