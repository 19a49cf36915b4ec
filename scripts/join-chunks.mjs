// Makes one script of the ES modules ("chunks") into which esbuild splits a program: the modules that a start evaluates,
// and one chunk for each set of modules that a dynamic import adds to them. Each chunk becomes a function that runs on
// its first import. V8 neither compiles, caches nor allocates the functions of a chunk that has not run.
//
// A chunk reads the exports of other chunks when it starts. This is safe because esbuild puts modules that import each
// other into the same chunk, and because no module of ours exports a variable and assigns it later.
import { basename } from 'node:path'

// As in Node, a dynamic import takes effect after the code that is running, such as the program's own chunk. V8 rejects
// `import()` in the script itself, so a module of Node is imported with `require`.
const helpers = `const __once = (make) => { let made; return () => (made ??= make()) };
  const __import = (chunk) => Promise.resolve().then(chunk);
  const __importNode = async (name) => {
    const module = require(name);
    return Object.create(module, { default: { value: module } });
  };`

/** Returns the text of a script that runs the chunk named `entry`. */
export function joinChunks(outputFiles, entry) {
  const chunks = outputFiles.map(({ path, text }) => {
    const name = functionOf(basename(path))
    return `const ${name} = __once(() => {\n${asFunctionBody(text)}\n});`
  })
  const other = /\bimport\(".*/.exec(chunks.join('\n'))
  if (other !== null) throw new Error(`cannot join a dynamic import of a module outside the program: ${other[0]}`)
  return `${helpers}\n${chunks.join('\n')}\n${functionOf(entry)}();`
}

function functionOf(file) {
  return `__chunk_${file.replace(/\W/g, '_')}`
}

// esbuild starts each statement on a line of its own unless it is told to remove white space.
function asFunctionBody(text) {
  return text
    .replace(/^import (\w+), \{/gm, 'import {default as $1, ')
    .replace(/^import (?:\* as )?(\w+) from "([^"]+)";$/gm, (_, name, source) => `const ${name} = ${load(source)};`)
    .replace(/^import \{([^}]*)\} from "([^"]+)";$/gm, (_, names, source) => constants(names, source))
    .replace(/^import "([^"]+)";$/gm, (_, source) => `${load(source)};`)
    .replace(/\bimport\("(\.\/[^"]+)"\)/g, (_, source) => `__import(${functionOf(basename(source))})`)
    .replace(/\bimport\("(node:[^"]+)"\)/g, '__importNode("$1")')
    .replace(/^export \{([^}]*)\};$/gm, (_, names) => `return {${names.replace(/([\w$]+) as ([\w$]+)/g, '$2: $1')}};`)
}

function constants(names, source) {
  // The default export of a module of Node is the module.
  const [, whole] = /\bdefault as (\w+)/.exec(names) ?? []
  if (whole === undefined || isChunk(source)) return `const {${names.replaceAll(' as ', ': ')}} = ${load(source)};`
  return `const ${whole} = ${load(source)};${constants(names.replace(/\bdefault as \w+,?/, ''), source)}`
}

function load(source) {
  return isChunk(source) ? `${functionOf(basename(source))}()` : `require("${source}")`
}

function isChunk(source) {
  return source.startsWith('./')
}

/**
 * An esbuild plugin for a program of several chunks. Every dynamic import also imports the program, so that all modules
 * that the program imports statically are in one chunk.
 */
export function inOneChunk(entry) {
  return {
    name: 'one chunk for the modules of a start',
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /./ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === 'resolving') return undefined
        const found = await resolve(path, { kind, resolveDir, importer, pluginData: 'resolving' })
        return found.external || found.errors.length > 0 ? found : { path: found.path, namespace: 'later' }
      })
      onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
        contents: `import ${JSON.stringify(entry)}; export * from ${JSON.stringify(path)}`,
        resolveDir: '/',
      }))
    },
  }
}
