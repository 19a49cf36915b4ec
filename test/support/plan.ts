/**
 * What a run of some test files needs, read from their sources and from those in `test/` that they import: which
 * programs must be installed, and which files may share a process.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Times } from './times.ts'

const tests = dirname(import.meta.dirname)

interface Source {
  readonly path: string
  readonly text: string
  /** Files in `test/`. */
  readonly imports: readonly string[]
}

const sources = new Map<string, Source>()

function sourceOf(path: string): Source {
  const known = sources.get(path)
  if (known !== undefined) return known
  const text = readFileSync(path, 'utf8')
  const names = [...text.matchAll(/^(?:import|export|\}) .*'(\.{1,2}\/[^']+)'/gm)].map(([, name]) => name!)
  const imports = names.map((name) => join(dirname(path), name)).filter((file) => file.startsWith(tests))
  const source = { path, text, imports }
  sources.set(path, source)
  return source
}

/** A file, and the files in `test/` that it imports, itself or through others. */
function sourcesOf(file: string): readonly Source[] {
  const found = new Set([sourceOf(file)])
  for (const { imports } of found) for (const path of imports) found.add(sourceOf(path))
  return [...found]
}

/** Which of these commands a file runs, itself or by a tool that it imports: as in `spawn('etcd'`. */
export function commandsOf(file: string, commands: readonly string[]): readonly string[] {
  const used = sourcesOf(file)
  return commands.filter((command) => used.some(({ text }) => text.includes(`('${command}'`)))
}

/** What these measure is the heap of the process: they are not to meet what another file has left in it, so each begins one. */
const heap = join(import.meta.dirname, 'heap.ts')
/** What these measure is time: they come first in their processes, after none but each other. */
const effort = join(import.meta.dirname, 'effort.ts')

/** What a file takes of which nothing is known. */
const usualMs = 1_000

/**
 * Files that a process may begin with, in lists; those of the last may follow any. Of each list those come first that start
 * programs, since a start costs the more the larger the process has grown, and of these the ones that took longest.
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

function startsPrograms(file: string): boolean {
  return sourcesOf(file).some(({ text }) => text.includes("from 'node:child_process'"))
}

function uses(file: string, tool: string): boolean {
  return sourcesOf(file).some(({ path }) => path === tool)
}
