/**
 * Provides access to the files of this program other than its main code: the code of its threads, the web console and
 * the native addon of lmdb. In a checkout or an installed package, they are ordinary files. The single executable
 * contains them as assets, whose names are relative to `dist/` (scripts/package/executable.mjs).
 */
import { closeSync, constants, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAsset, getRawAsset, isSea } from 'node:sea'
import { getEnvironmentData, setEnvironmentData, Worker, type WorkerOptions } from 'node:worker_threads'

/** Whether this program runs as the single executable. */
export const isExecutable = isSea()

/** Location of a thread's code, both in the sources and in the bundle. */
export interface ThreadProgram {
  /** `import.meta.url` of the module that starts the thread. */
  readonly importer: string
  /** Path of the source file, relative to the module that starts the thread. */
  readonly source: string
  /** The name of the file in `dist/`. */
  readonly bundled: string
}

/** Name of the asset that contains the entry point for threads (bin/executable.cjs). */
const launcher = 'executable.cjs'

/** Starts a worker thread that runs this program. */
export function startThread({ importer, source, bundled }: ThreadProgram, options: WorkerOptions): Worker {
  if (importer.endsWith('.ts')) return new Worker(new URL(source, importer), options)
  if (!isExecutable) return new Worker(new URL('../bin/thread.cjs', importer), { ...options, argv: [bundled] })
  const code = `const threadProgram = ${JSON.stringify(bundled)}\n${getAsset(launcher, 'utf8')}`
  return new Worker(code, { ...options, eval: true })
}

/** Reads a file in `dist/`. Fails with ENOENT if the file does not exist. */
export async function readProgramFile(name: string, dist: URL): Promise<Buffer> {
  if (!isExecutable) return await readFile(new URL(name, dist))
  try {
    return Buffer.from(getRawAsset(name) as ArrayBuffer)
  } catch (cause) {
    throw Object.assign(new Error(`the executable does not contain ${name}`, { cause }), { code: 'ENOENT' })
  }
}

/** Key under which the threads of the process share the path of the addon. */
const addonKey = 'orch.addon'
const addonName = 'lmdb.node'

/**
 * Loads the native addon of lmdb. In the single executable, the addon is an asset, but the operating system can load it
 * only from a file. It is therefore written to a temporary file that is unlinked immediately and disappears with the
 * process.
 */
export function loadAddon(importer: string): unknown {
  if (!isExecutable) return loadInstalledAddon(createRequire(importer))
  const loaded = { exports: {} }
  try {
    process.dlopen(loaded, addonPath())
  } catch (cause) {
    const hint = 'set TMPDIR to a writable directory that is not mounted with noexec'
    throw new Error(`cannot load the embedded store: ${(cause as Error).message}; ${hint}`, { cause })
  }
  return loaded.exports
}

/**
 * Loads the addon from the installed package: the one built with the package (scripts/bundle.mjs) or, on other
 * platforms, the one in an optional npm dependency.
 */
function loadInstalledAddon(require: NodeJS.Require): unknown {
  const platform = `${process.platform}-${process.arch}`
  const files = ['node.napi.glibc.node', 'node.napi.musl.node', 'node.napi.node']
  const addons = [`./lmdb-${platform}.node`, ...files.map((file) => `@lmdb/lmdb-${platform}/${file}`)]
  const failures: string[] = []
  for (const addon of addons)
    try {
      return require(addon)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') failures.push((error as Error).message)
    }
  const reason =
    failures[0] ?? `install the package with its optional dependencies, which include @lmdb/lmdb-${platform}`
  throw new Error(`cannot load the embedded store: ${reason}`)
}

function addonPath(): string {
  const known = getEnvironmentData(addonKey)
  if (typeof known === 'string') return known
  const path = `/proc/self/fd/${writeUnnamed(Buffer.from(getRawAsset(addonName) as ArrayBuffer))}`
  setEnvironmentData(addonKey, path)
  return path
}

/**
 * Writes content to an unnamed file in the temporary directory or, if that fails (as in a container with a read-only
 * root), in shared memory. Returns a file descriptor for reading.
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
