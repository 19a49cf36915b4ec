/** `npm run docs`: builds the documentation as a static site in `site/`, which the server serves at `/docs/`. */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { emulatedVersions } from '../../src/api/versions/emulated-version.ts'

const path = './build.mjs'
const { buildSite } = (await import(path)) as {
  buildSite: (directory: string, versions: readonly string[]) => string[]
}
// The site is built next to site/ and then renamed, so that a server never sees a partial site.
const site = join(import.meta.dirname, '../../site')
const fresh = `${site}.${process.pid}`
const pages = buildSite(fresh, emulatedVersions)
rmSync(site, { recursive: true, force: true })
renameSync(fresh, site)
console.log(`${pages.length} pages in site/: open site/index.html`)
