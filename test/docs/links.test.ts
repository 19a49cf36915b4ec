/**
 * Checks the documentation and monitoring files: links resolve, the index links every page, and the dashboard and the
 * alerts use only metrics that the server exposes.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { after, test } from 'node:test'
import { serveUp } from '../support/in-process.ts'
import { root } from '../support/server.ts'

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
  'test/BUGS.md',
  'test/clients/README.md',
].map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }))

test('every relative link in the documentation points to an existing file and heading', () => {
  const broken = pages.flatMap(({ name, text }) =>
    linksOf(text)
      .filter((link) => !leadsSomewhere(name, link))
      .map((link) => `${name}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('the index page links to every page in docs, and README.md links to the index page', () => {
  const linked = new Set(targetsOf('docs/README.md'))
  const missing = pages
    .map(({ name }) => name)
    .filter((name) => /^docs\/(?!README|decisions\/)/.test(name) && !linked.has(name))
  assert.deepEqual(missing, [])
  assert.ok(targetsOf('README.md').includes('docs/README.md'))
  const decisions = new Set(targetsOf('docs/decisions/README.md'))
  const unlisted = readdirSync(join(root, 'docs/decisions'))
    .filter((name) => name !== 'README.md')
    .filter((name) => !decisions.has(join('docs/decisions', name)))
  assert.deepEqual(unlisted, [])
})

test('the dashboard and the alerts use metrics that the server exposes', async () => {
  const server = await serveUp({ after })
  const scraped = (await server.client('admin-token').get('/metrics')).text
  const shown = new Set([...scraped.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string))
  const asked = ['dashboard.json', 'alerts.yaml'].flatMap((file) =>
    metricsIn(readFileSync(join(root, 'deploy/monitoring', file), 'utf8')),
  )
  assert.ok(asked.length > 30, `only ${asked.length} metrics were found`)
  assert.deepEqual(
    [...new Set(asked)].filter((name) => !shown.has(name) && name !== 'up'),
    [],
  )
})

function targetsOf(name: string): string[] {
  const page = pages.find((each) => each.name === name)
  assert.ok(page, `there is no ${name}`)
  return linksOf(page.text).map((link) => join(dirname(name), link.replace(/#.*/, '')))
}

/** Returns the relative links outside code. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, 'code')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link as string)
    .filter((link) => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', heading] = link.split('#')
  const target = file === '' ? join(root, page) : resolve(root, dirname(page), file)
  if (relative(root, target).startsWith('..') || !existsSync(target)) return false
  return heading === undefined || headingsOf(readFileSync(target, 'utf8')).includes(heading)
}

/** Returns the anchors of headings, as GitHub generates them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    (title as string)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
}

/**
 * Returns the metric names that are followed by labels in the text. The parts of a histogram map to the histogram's
 * name.
 */
function metricsIn(text: string): string[] {
  return [...text.matchAll(/([a-z][a-z0-9_]+)\{job=/g)].map(([, name]) => (name as string).replace(/_bucket$/, ''))
}
