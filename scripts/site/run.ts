/** `npm run docs`: builds the documentation as a static site in `site/`. */
import { join } from 'node:path'
import { emulatedVersions } from '../../src/api/versions/emulated-version.ts'

const path = './build.mjs'
const { buildSite } = (await import(path)) as {
  buildSite: (directory: string, versions: readonly string[]) => string[]
}
const pages = buildSite(join(import.meta.dirname, '../../site'), emulatedVersions)
console.log(`${pages.length} pages in site/: open site/index.html`)
