// Builds the files of the console (dist/console/) from src/tools/console/page with esbuild: the page, its scripts and
// its styles. Each file is compressed, because the server sends it compressed (src/tools/console/files.ts), and has a
// hash of its content in its name. The page refers only to files in this directory, which contains nothing else.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const source = 'src/tools/console/page'

/** Returns the source files. */
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

/**
 * The best compression would take ten times as long and save only about a dozen kilobytes. In a checkout, every change
 * has to wait for the build.
 */
function compressed(contents) {
  return brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
}
