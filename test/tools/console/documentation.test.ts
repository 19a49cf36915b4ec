/** Tests the documentation that the server serves at /docs. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../../../src/base/flags/flags.ts'
import { openDocumentation } from '../../../src/tools/console/documentation.ts'
import { buildOwnSite } from '../../docs/site.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { serve } from '../../support/in-process.ts'

const shared = endOfFile()

before(buildOwnSite)

test('the server serves the documentation to clients without credentials', async () => {
  const client = (await serve(shared, ['--docs'])).client('')
  const { status, headers, text } = await client.get('/docs/')
  assert.equal(status, 200)
  assert.match(text, /<h1/)
  const policy = String(headers['content-security-policy'])
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", 'trusted-types orch-docs'])
    assert.ok(policy.includes(rule), rule)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  const unchanged = await client.send('/docs/', { headers: { 'if-none-match': String(headers.etag) } })
  assert.deepEqual([unchanged.status, unchanged.text], [304, ''])
})

test('every documentation file is served with its content type', async () => {
  const client = (await serve(shared, ['--docs'])).client()
  const types = {
    '/docs/docs/operate/backup.html': 'text/html; charset=utf-8',
    '/docs/assets/site.css': 'text/css; charset=utf-8',
    '/docs/assets/search-index.js': 'text/javascript; charset=utf-8',
    '/docs/docs/images/growth.svg': 'image/svg+xml',
    '/docs/docs/images/console-overview.png': 'image/png',
    '/docs/deploy/monitoring/alerts.yaml': 'text/plain; charset=utf-8',
  }
  for (const [path, type] of Object.entries(types)) {
    const { status, headers } = await client.get(path)
    assert.deepEqual([path, status, headers['content-type']], [path, 200, type])
  }
})

test('paths below /docs/ serve only files of the documentation site', async () => {
  const client = (await serve(shared, ['--docs'])).client()
  const statuses = {
    '/docs': 308,
    '/docs/../package.json': 400,
    '/docs/%2e%2e/package.json': 400,
    '/docs/..%2fpackage.json': 404,
    '/docs//etc/passwd': 404,
    '/docs/docs': 404,
    '/docs/docs/': 404,
    '/docs/index.html/x.html': 404,
    '/docs/none.html': 404,
    '/docs/.git/config.txt': 404,
    [`/docs/${'a/'.repeat(2_000)}a.html`]: 404,
    '/docsx': 404,
  }
  for (const [path, status] of Object.entries(statuses))
    assert.deepEqual([path, (await client.get(path)).status], [path, status])
  assert.equal((await client.send('/docs/', { method: 'POST' })).status, 405)
})

test('the console links to the documentation only if the server serves it', async () => {
  for (const [flag, hasDocumentation] of [
    ['--docs=true', true],
    ['--docs=auto', true],
    ['--docs=false', false],
  ] as const) {
    const client = (await serve(shared, [flag])).client()
    const { body, headers } = await client.get('/console/settings')
    assert.deepEqual([flag, body, headers['cache-control']], [flag, { hasDocumentation }, 'no-store'])
    assert.equal((await client.get('/docs/')).status, hasDocumentation ? 200 : 404)
  }
})

test('if the site has not been built, --docs=true is rejected, and --docs=auto serves nothing', async () => {
  const empty = pathToFileURL(`${import.meta.dirname}/none/dist/`)
  assert.equal(await openDocumentation('auto', empty), undefined)
  await assert.rejects(openDocumentation('true', empty), (error) => {
    assert.ok(error instanceof UsageError)
    assert.match(error.message, /--docs: the documentation site has not been built: run "npm run docs"/)
    return true
  })
})
