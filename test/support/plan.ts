/**
 * Reads the sources of test files, and of their imports in `test/`, to determine which programs a test run must install
 * and which files may share a process.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Times } from './times.ts'
import { pathOf } from './versions.ts'

const tests = dirname(import.meta.dirname)

interface Source {
  readonly path: string
  readonly text: string
  /** The files in `test/` that a file imports. */
  readonly imports: readonly string[]
}

const sources = new Map<string, Source>()

function sourceOf(file: string): Source {
  const path = pathOf(file)
  const existing = sources.get(path)
  if (existing !== undefined) return existing
  const text = readFileSync(path, 'utf8')
  const names = [...text.matchAll(/^(?:import|export|\}) .*'(\.{1,2}\/[^']+)'/gm)].map(([, name]) => name!)
  const imports = names.map((name) => join(dirname(path), name)).filter((file) => file.startsWith(tests))
  const source = { path, text, imports }
  sources.set(path, source)
  return source
}

/** Returns a file, and the files in `test/` that it imports directly or indirectly. */
function sourcesOf(file: string): readonly Source[] {
  const found = new Set([sourceOf(file)])
  for (const { imports } of found) for (const path of imports) found.add(sourceOf(path))
  return [...found]
}

/** Returns those commands in the list that a file or its imports run, for example with `spawn('etcd'`. */
export function commandsOf(file: string, commands: readonly string[]): readonly string[] {
  const used = sourcesOf(file)
  return commands.filter((command) => used.some(({ text }) => text.includes(`('${command}'`)))
}

/**
 * Files that measure the heap of the process. Each of these files needs a new process, without leftovers from other
 * files.
 */
const heap = join(import.meta.dirname, 'heap.ts')
/**
 * Files that measure time. They run before all other files in their process, so that only files of the same type
 * precede them.
 */
const effort = join(import.meta.dirname, 'effort.ts')

/** Assumed run time, in milliseconds, of a file whose run time is not known. */
const usualMs = 1_000

/**
 * Groups the files into lists. A process may start with any of these lists. Files in the last list may run after any
 * other file. In each list, files that start programs come first, because starting a program becomes slower as the
 * process grows. Slower files come before faster ones.
 */
export function inLists(files: readonly string[], times: Times): readonly string[][] {
  const byTime = files.toSorted((a, b) => (times[b] ?? usualMs) - (times[a] ?? usualMs))
  const starting = new Set(byTime.filter(startsPrograms))
  const sorted = [...starting, ...byTime.filter((file) => !starting.has(file))]
  const alone = sorted.filter((file) => uses(file, heap))
  const measuring = sorted.filter((file) => uses(file, effort) && !alone.includes(file))
  const others = sorted.filter((file) => !alone.includes(file) && !measuring.includes(file))
  return [...alone.map((file) => [file]), measuring, others]
}

/** Whether a file or its imports start programs. */
export function startsPrograms(file: string): boolean {
  return sourcesOf(file).some(({ text }) => text.includes("from 'node:child_process'"))
}

function uses(file: string, tool: string): boolean {
  return sourcesOf(file).some(({ path }) => path === tool)
}
