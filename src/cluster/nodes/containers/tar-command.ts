/**
 * The `tar` command of a simulated container, limited to what `kubectl cp` needs: `tar cf - PATH...` and `tar xf - [-C
 * DIRECTORY]`. Archives are untrusted. Their names cannot refer to files outside the container, and their sizes are
 * limited.
 */
import { posix } from 'node:path'
import { UsageError } from '../../../base/flags/flags.ts'
import { type Entry, endOfArchive, entryHeader, padding, TarReader } from '../../../wire/streaming/tar.ts'
import type { ContainerFiles, FileDescription } from './container-files.ts'
import { NoSpaceError } from './written-files.ts'

export interface TarPlace {
  readonly workDir: string
  readonly files: ContainerFiles
  readonly print: (data: Buffer) => Promise<void>
  readonly printError: (text: string) => Promise<void>
  readonly input: AsyncIterable<Buffer> | undefined
  readonly signal: AbortSignal
}

/** Maximum depth of directories in an archive. */
const maxDepth = 64

/** Runs the command and returns its exit code. */
export async function tar(args: readonly string[], place: TarPlace): Promise<number> {
  const { mode, directory, paths } = parseArguments(args)
  if (mode === 'c' && paths.length > 0) return await pack(paths, directory, place)
  if (mode === 'x') return await unpack(directory, place)
  await place.printError('tar: this container is simulated: use tar cf - PATH or tar xf - -C DIRECTORY\n')
  return 2
}

interface TarArguments {
  readonly mode: string
  readonly directory: string
  readonly paths: readonly string[]
}

/** Parses the arguments. The first argument contains flags even without a dash, as in `tar cf - a`. */
function parseArguments(args: readonly string[]): TarArguments {
  let mode = ''
  let directory = '.'
  const paths: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === '-') continue
    if (arg === '-C') directory = args[++i] ?? '.'
    else if (i > 0 && !arg.startsWith('-')) paths.push(arg)
    else if (!arg.startsWith('--')) mode = /[cx]/.exec(arg)?.[0] ?? mode
  }
  return { mode, directory, paths }
}

async function pack(paths: readonly string[], directory: string, place: TarPlace): Promise<number> {
  let code = 0
  if (paths.some((path) => path.startsWith('/')))
    await place.printError("tar: removing leading '/' from member names\n")
  for (const path of paths)
    if (
      !(await packPath(
        { path: posix.resolve(place.workDir, directory, path), name: memberName(path), depth: 0 },
        place,
      ))
    )
      code = 2
  await place.print(endOfArchive)
  return code
}

function memberName(path: string): string {
  return path.replace(/^\/+/, '') || '.'
}

/** A file to add to an archive. */
interface Member {
  readonly path: string
  readonly name: string
  readonly depth: number
}

/** Adds a file, or a directory and its files, to the archive. Returns false if the path does not exist. */
async function packPath({ path, name, depth }: Member, place: TarPlace): Promise<boolean> {
  const { files, print, printError, signal } = place
  const description = await files.describe(path)
  if (description === undefined) {
    await printError(`tar: ${name}: No such file or directory\n`)
    return false
  }
  await print(entryHeader(headerOf(name, description), 0))
  if (description.type === 'file') await packContent(path, description.size, place)
  else if (depth < maxDepth && !signal.aborted)
    for (const child of (await files.list(path)) ?? [])
      await packPath({ path: posix.join(path, child), name: posix.join(name, child), depth: depth + 1 }, place)
  return true
}

function headerOf(name: string, { type, mode, size }: FileDescription): Entry {
  return { name: type === 'directory' ? `${name}/` : name, type, mode, size }
}

/** Writes exactly as many bytes as the header specifies, even if the size of the file has changed in the meantime. */
async function packContent(path: string, size: number, { files, print }: TarPlace): Promise<void> {
  let remaining = size
  for await (const part of (await files.read(path)) ?? []) {
    await print(part.subarray(0, remaining))
    remaining -= Math.min(remaining, part.length)
  }
  await print(Buffer.concat([Buffer.alloc(remaining), padding(size)]))
}

async function unpack(directory: string, { workDir, files, input, printError, signal }: TarPlace): Promise<number> {
  const reader = new TarReader({
    entry: async ({ name, type, mode, size }) => {
      if (type !== 'file' && type !== 'directory') return undefined
      const content = files.create(posix.resolve(workDir, directory, name), { type, mode: mode & 0o777, size })
      if (content === undefined) throw new UsageError(`${name}: Read-only file system`)
      let at = 0
      return async (data) => {
        at += data.copy(content, at)
      }
    },
    end: async () => {},
  })
  try {
    for await (const chunk of input ?? []) {
      if (signal.aborted) return 130
      await reader.write(chunk)
    }
    await reader.end()
    return 0
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof NoSpaceError)) throw error
    await printError(`tar: ${error.message}\n`)
    return 2
  }
}
