/** All pages of the user documentation. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/server.ts'

/** User documentation, whose commands run in tests. Commands for developers of this project are excluded. */
export const userPages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'))
    .map((name) => join('docs', name)),
].sort()

/** Pages whose commands take the longest, because they back up, upgrade and package servers. */
export const operatorPages: readonly string[] = userPages.filter((name) => name.startsWith('docs/operate/'))

/** Pages that new users read first. Their commands also run in the short variant of the tests. */
export const firstPages: readonly string[] = ['README.md', 'docs/start/first-five-minutes.md']

/** Pages whose examples need the toolchains of other languages. */
export const languagePages: readonly string[] = ['go', 'java', 'python'].map(
  (name) => `docs/test-an-operator/${name}.md`,
)

/** Pages that explain how to do something. The other pages explain concepts or are references. */
export const taskPages: readonly string[] = userPages.filter((name) =>
  /^docs\/(?:start|coming-from|test-an-operator|run-for-a-team|secure|extend|operate)\//.test(name),
)
