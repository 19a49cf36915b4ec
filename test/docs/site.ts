/** Builds the documentation site in a temporary directory for a test, and in this checkout. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emulatedVersions } from '../../src/api/versions/emulated-version.ts'
import { root } from '../support/server.ts'

const { buildSite } = (await import(join(root, 'scripts/site/build.mjs'))) as {
  buildSite: (directory: string, versions: readonly string[]) => string[]
}

export interface TestSite {
  readonly directory: string
  /** Paths of all pages below the directory. */
  readonly pages: readonly string[]
}

export function buildTestSite(t: { after(run: () => void): void }): TestSite {
  const directory = mkdtempSync(join(tmpdir(), 'orch-site-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return { directory, pages: buildSite(directory, emulatedVersions) }
}

/** Builds the site of this checkout, so that servers in this process can serve it. */
export function buildOwnSite(): void {
  execFileSync(process.execPath, [join(root, 'scripts/site/run.ts')])
}
