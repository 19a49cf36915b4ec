// Makes the declarations of what users import (types/), with the compiler: `node scripts/declare.mjs`.
// Promises: what a library declares lies in types/ under the path that its source has in src/, with all that it names.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { libraries } from './bundle.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const fresh = join(root, `types.${process.pid}`)

try {
  compile()
  removeUnnamed()
  for (const file of declarations()) nameOutputs(file)
  rmSync(join(root, 'types'), { recursive: true, force: true })
  renameSync(fresh, join(root, 'types'))
} finally {
  rmSync(fresh, { recursive: true, force: true })
}

function compile() {
  const config = join(fresh, 'tsconfig.json')
  mkdirSync(fresh)
  writeFileSync(
    config,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: { noEmit: false, declaration: true, emitDeclarationOnly: true, outDir: '.', rootDir: '../src' },
      include: [],
      files: Object.values(libraries).map((entry) => `../${entry}`),
    }),
  )
  const { status, stdout, error } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', config],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(`the declarations cannot be made: ${error?.message ?? stdout}`)
  rmSync(config)
}

function declarations() {
  return readdirSync(fresh, { recursive: true })
    .filter(isDeclaration)
    .map((file) => join(fresh, file))
}

function isDeclaration(file) {
  return file.endsWith('.d.ts')
}

// The compiler declares every source that it has read. What no library names, on whatever way, is none of its users'.
function removeUnnamed() {
  const named = new Set(Object.values(libraries).map((entry) => join(fresh, entry.slice('src/'.length, -'.ts'.length))))
  for (const file of named) for (const other of importsOf(`${file}.d.ts`)) named.add(join(dirname(file), other))
  for (const file of declarations()) if (!named.has(file.slice(0, -'.d.ts'.length))) rmSync(file)
  for (const room of readdirSync(fresh))
    if (!readdirSync(join(fresh, room), { recursive: true }).some(isDeclaration))
      rmSync(join(fresh, room), { recursive: true })
}

function importsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(/(?:from '|import\(')(\.[^']*)\.ts'/g)].map((found) => found[1])
}

// In the sources imports name the sources; users have none.
function nameOutputs(file) {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.[^']*|import\('\.[^']*)\.ts'/g, "$1.js'"))
}
