/** `npm run docs`: builds the documentation as a static site in `site/`, which the server serves at `/docs/`. */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { emulatedVersions } from '../../src/api/versions/emulated-version.ts'

const path = './build.mjs'
const { buildSite } = (await import(path)) as {
  buildSite: (directory: string, versions: readonly string[]) => string[]
}
// Build the site next to site/ and then rename it, so that a server never sees a partial site.
const site = join(import.meta.dirname, '../../site')
const fresh = `${site}.${process.pid}`
const pages = buildSite(fresh, emulatedVersions)
rmSync(site, { recursive: true, force: true })
renameSync(fresh, site)
console.log(`${pages.length} pages in site/: open site/index.html`)
