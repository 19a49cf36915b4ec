/**
 * The files that a program consists of besides its own code: the code of its threads, the web console and lmdb's native
 * addon. In a checkout and in an installed package they are separate files. The single executable contains them as
 * assets (scripts/package/executable.mjs), whose names are relative to `dist/`.
 */
import { closeSync, constants, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAsset, getRawAsset, isSea } from 'node:sea'
import { getEnvironmentData, setEnvironmentData, Worker, type WorkerOptions } from 'node:worker_threads'

/** Whether this program runs from the single executable. */
export const isExecutable = isSea()

/** The code of a thread. */
export interface ThreadProgram {
  /** The `import.meta.url` of the module that starts the thread. */
  readonly importer: string
  /** The source file, relative to the importer. */
  readonly source: string
  /** The file in the bundle, relative to `dist/`. */
  readonly bundled: string
}

/** Name of the asset that starts the code of a thread in the executable (bin/executable.cjs). */
const launcher = 'executable.cjs'

/** Starts a thread. */
export function startThread({ importer, source, bundled }: ThreadProgram, options: WorkerOptions): Worker {
  if (!isExecutable) return new Worker(new URL(importer.endsWith('.ts') ? source : bundled, importer), options)
  const code = `const threadProgram = ${JSON.stringify(bundled)}\n${getAsset(launcher, 'utf8')}`
  return new Worker(code, { ...options, eval: true })
}

/** Reads a file of `dist/`. Fails with ENOENT if it does not exist. */
export async function readProgramFile(name: string, dist: URL): Promise<Buffer> {
  if (!isExecutable) return await readFile(new URL(name, dist))
  try {
    return Buffer.from(getRawAsset(name) as ArrayBuffer)
  } catch (cause) {
    throw Object.assign(new Error(`the executable does not contain ${name}`, { cause }), { code: 'ENOENT' })
  }
}

/** Key of the path of the addon, which all threads share. */
const addonKey = 'orch.addon'
const addonName = 'lmdb.node'

/**
 * Loads lmdb's native addon from the executable. The system can load it only from a file, so this writes a temporary
 * file and deletes its name at once: the file then exists as long as the process.
 */
export function loadAddon(): unknown {
  const loaded = { exports: {} }
  try {
    process.dlopen(loaded, addonPath())
  } catch (cause) {
    const hint = 'set TMPDIR to a writable directory that is not mounted with noexec'
    throw new Error(`cannot load the embedded store: ${(cause as Error).message}; ${hint}`, { cause })
  }
  return loaded.exports
}

function addonPath(): string {
  const known = getEnvironmentData(addonKey)
  if (typeof known === 'string') return known
  const path = `/proc/self/fd/${writeUnnamed(Buffer.from(getRawAsset(addonName) as ArrayBuffer))}`
  setEnvironmentData(addonKey, path)
  return path
}

/**
 * Writes a file without a name to the temporary directory, or to shared memory if that fails, as in a container with a
 * read-only root. Returns a descriptor of the file for reading.
 */
function writeUnnamed(content: Buffer): number {
  try {
    return writeUnnamedIn(tmpdir(), content)
  } catch {
    return writeUnnamedIn('/dev/shm', content)
  }
}

function writeUnnamedIn(parent: string, content: Buffer): number {
  const directory = mkdtempSync(join(parent, 'orch-'))
  const file = join(directory, addonName)
  try {
    const writing = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o500)
    for (let written = 0; written < content.length; ) written += writeSync(writing, content, written)
    closeSync(writing)
    const reading = openSync(file, 'r')
    unlinkSync(file)
    return reading
  } finally {
    rmdirSync(directory)
  }
}
