// Creates the type declarations of the libraries (types/) with the compiler: `node scripts/declare.mjs`. The
// declarations of a library are in types/, under the path of its source in src/, together with all files to which they
// refer and no others. The built-in kinds are generated from their definitions (scripts/kind-types.ts).
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { libraries } from './bundle.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const kindsFile = 'client/requests/built-in-kinds.d.ts'

/** Creates the declarations in a directory, whose contents are replaced. */
export async function declare(directory = join(root, 'types')) {
  const fresh = `${root}/types.${process.pid}`
  try {
    compile(fresh)
    writeFileSync(join(fresh, kindsFile), (await load('kind-types.ts')).kindTypes(namesOfLibrary(fresh)))
    for (const file of readdirSync(fresh, { recursive: true })) if (file.endsWith('.d.ts')) nameOutputs(fresh, file)
    keepReachable(fresh)
    rmSync(directory, { recursive: true, force: true })
    renameSync(fresh, directory)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function compile(fresh) {
  const config = join(fresh, 'tsconfig.json')
  mkdirSync(fresh)
  writeFileSync(
    config,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        noCheck: true,
        outDir: '.',
        rootDir: '../src',
      },
      include: [],
      files: Object.values(libraries).map((entry) => `../${entry}`),
    }),
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout, error } = spawnSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the declarations cannot be made: ${error?.message ?? stdout}`)
}

// Loads a TypeScript script, because not every Node version that runs this script supports TypeScript.
async function load(script) {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join('scripts', script)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  })
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

// Returns the names that the client exports in addition to the kinds.
function namesOfLibrary(fresh) {
  const text = readFileSync(join(fresh, 'client/library/client-everywhere.d.ts'), 'utf8')
  return [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names]) =>
    names.split(',').map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/^.* as /, ''),
    ),
  )
}

// Imports in the sources refer to source files, which users do not have. Types from the definitions of kinds are
// written out in full.
function nameOutputs(fresh, file) {
  const path = join(fresh, file)
  const kinds = relative(dirname(file), kindsFile).replace(/\.d\.ts$/, '.js')
  const text = readFileSync(path, 'utf8')
    .replaceAll(/(from '\.[^']*|import\('\.[^']*|import\("\.[^"]*)\.ts(['"])/g, '$1.js$2')
    .replaceAll(/(from )'(?:\.\.\/)+api\/kinds\/[^']*'/g, `$1'${kinds.startsWith('.') ? kinds : `./${kinds}`}'`)
  writeFileSync(path, text)
}

function keepReachable(fresh) {
  const reached = new Set(
    Object.values(libraries).map((entry) => entry.replace(/^src\//, '').replace(/\.ts$/, '.d.ts')),
  )
  for (const file of reached) {
    const text = readFileSync(join(fresh, file), 'utf8')
    for (const [, target] of text.matchAll(/(?:from |import\()['"](\.[^'"]*)\.js['"]/g))
      reached.add(join(dirname(file), `${target}.d.ts`))
  }
  for (const file of readdirSync(fresh, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name)
    if (file.isFile() && !reached.has(relative(fresh, path))) rmSync(path)
  }
  for (const name of readdirSync(fresh)) if (isEmpty(join(fresh, name))) rmSync(join(fresh, name), { recursive: true })
}

function isEmpty(directory) {
  return existsSync(directory) && !readdirSync(directory, { recursive: true }).some((file) => file.endsWith('.d.ts'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await declare()
