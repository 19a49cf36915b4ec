/**
 * The files of the console as the bundle has them (`dist/console`): compressed, under names that hold a hash of their
 * content. Nothing is read before a browser asks for it. What has a hash in its name is read once, however many ask for it:
 * nobody has to say who they are to do so.
 */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** A file, compressed with Brotli. */
export interface ConsoleFile {
  readonly name: string
  readonly type: string
  readonly brotli: Buffer
  readonly etag: string
}

/** The page itself, whose name says nothing of its content. */
export const indexName = 'index.html'

const types: { readonly [ending: string]: string } = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A name that the bundle could have: it cannot lead out of the directory. */
const fileName = /^[A-Za-z0-9][\w-]*\.(html|js|css|svg)$/

const kept = new Map<string, Promise<ConsoleFile | undefined>>()

/** The file of this name; undefined where the console has none such. */
export async function readConsoleFile(name: string): Promise<ConsoleFile | undefined> {
  if (name === indexName) return await read(name)
  const reading = kept.get(name) ?? read(name)
  kept.set(name, reading)
  const file = await reading.catch(() => undefined)
  if (file === undefined) kept.delete(name)
  return await reading
}

async function read(name: string): Promise<ConsoleFile | undefined> {
  const ending = fileName.exec(name)?.[1]
  if (ending === undefined) return undefined
  try {
    const brotli = await readFile(new URL(`${name}.br`, directory()))
    return { name, type: types[ending]!, brotli, etag: `"${hash('sha256', brotli, 'base64url').slice(0, 22)}"` }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** Beside the program in the bundle; tests run the sources, with the bundle of the checkout. */
function directory(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../../dist/console/' : './console/', import.meta.url)
}
