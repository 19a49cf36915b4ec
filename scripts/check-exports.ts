/**
 * Checks that every function, class and constant that src/ exports is imported by another file in src/, the tests, the
 * benchmarks or the scripts. A type may be exported even if no other file imports it, because it may occur in the
 * signature of another export. Also checks that every export, including types, has a doc comment if another folder
 * imports it. Reads the sources as text rather than as a syntax tree. A file that is imported as a whole or at run time
 * counts as used.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { roomOf } from './layers.ts'

const root = dirname(import.meta.dirname)
const files = globSync(['{src,test,bench,scripts}/**/*.{ts,tsx,mjs}'], { cwd: root })
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))

const declared = /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class) ([\w$]+)/gm
const declaredOrType =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) ([\w$]+)([^\n]*)/gm
const listed = /^export \{([^}]*)\}/gm
const namedImport = /(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?\{([^}]*)\}\s*from\s*'(\.[^']+)'/g
const whole =
  /(?:\bimport\s+(?:type\s+)?\*\s*as\s+[\w$]+\s+from|\bexport\s+\*\s+from|\bimport\(|new URL\()\s*'(\.[^']+)'/g

/** Files of the public libraries, such as `orch/client`. All exports of these files count as used. */
const { libraries } = (await import(new URL('./bundle.mjs', import.meta.url).href)) as {
  readonly libraries: { readonly [name: string]: string }
}

/** The exports that other files import, each identified by file and name. */
const used = new Set<string>()
const usedElsewhere = new Set<string>()
const usedWhole = new Set<string>(Object.values(libraries))
for (const [file, text] of texts) {
  const target = (path: string) => normalize(join(dirname(file), path))
  for (const [, names = '', path = ''] of text.matchAll(namedImport))
    for (const name of namesIn(names)) {
      used.add(`${target(path)} ${name.from}`)
      if (isInSrc(file) && roomOf(file.slice(4)) !== roomOf(target(path).slice(4)))
        usedElsewhere.add(`${target(path)} ${name.from}`)
    }
  for (const [, path = ''] of text.matchAll(whole)) usedWhole.add(target(path))
}

const faults = [...texts].flatMap(([file, text]) => {
  if (!file.startsWith('src/') || usedWhole.has(file)) return []
  return exportsOf(text).flatMap((name) => (used.has(`${file} ${name}`) ? [] : [`${file}: nobody imports ${name}`]))
})
const undocumented = [...texts].flatMap(([file, text]) => (isInSrc(file) ? undocumentedIn(file, text) : []))
faults.push(...undocumented.map((name) => `${name} has no doc comment, and another folder uses it`))
for (const fault of faults) console.error(fault)
console.log(`${files.length} files checked`)
process.exitCode = faults.length > 0 ? 1 : 0

function isInSrc(file: string): boolean {
  return file.startsWith('src/')
}

/**
 * Kind definitions need no comment because they have a `doc` text. Neither do the keys of stored types, which are named
 * after their types.
 */
function undocumentedIn(file: string, text: string): string[] {
  const isDefinition = /^ = (?:defineKind|defineVersion|ObjectOf<|InferFields<|Infer<|s\.object|storedType)/
  return [...text.matchAll(declaredOrType)].flatMap(({ index, 1: name = '', 2: rest = '' }) => {
    const isDocumented = text.slice(0, index).endsWith('*/\n') || isDefinition.test(rest)
    return isDocumented || !usedElsewhere.has(`${file} ${name}`) ? [] : [`${file}: ${name}`]
  })
}

function exportsOf(text: string): string[] {
  const inLists = [...text.matchAll(listed)].flatMap(([, names = '']) => namesIn(names).map(({ to }) => to))
  return [...[...text.matchAll(declared)].map(([, name = '']) => name), ...inLists]
}

/** Parses `type a, b as c`, where c is the local name of b. */
function namesIn(names: string): { from: string; to: string }[] {
  return names
    .split(',')
    .map((name) => name.trim().replace(/^type\s+/, ''))
    .filter((name) => name !== '')
    .map((name) => {
      const [from = '', to = from] = name.split(/\s+as\s+/)
      return { from, to }
    })
}
