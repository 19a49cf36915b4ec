// Makes the console's files (dist/console/) from src/tools/console/page, with esbuild: the page, its scripts and its styles, each
// under a name with a hash of its content, and each compressed, as the server sends them (src/tools/console/files.ts).
// Promises: the page names nothing that is not beside it, and nothing else is left in the directory.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const source = 'src/tools/console/page'

/** Returns the files that it was made of. */
export async function bundleConsole(root, outdir) {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: `${source}/main.tsx` },
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    charset: 'utf8',
    loader: { '.svg': 'file' },
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  mkdirSync(outdir, { recursive: true })
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }))
  const named = (begin, ending) => files.find(({ name }) => name.startsWith(begin) && name.endsWith(ending)).name
  const page = readFileSync(join(root, source, 'index.html'), 'utf8')
    .replace('main.js', named('main-', '.js'))
    .replace('main.css', named('main-', '.css'))
    .replace('icon.svg', named('icon-', '.svg'))
  for (const { name, contents } of [...files, { name: 'index.html', contents: Buffer.from(page) }])
    writeFileSync(join(outdir, `${name}.br`), compressed(contents))
  return [...Object.keys(metafile.inputs), `${source}/index.html`]
}

/** The best compression takes ten times as long, for a dozen kilobytes less; in a checkout every change waits for it. */
function compressed(contents) {
  return brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
}
