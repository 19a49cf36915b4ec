/** Opens the documentation site in Chromium, from the file system and from a server. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { accessibilityFaults, signIn, startConsoleBrowser } from '../support/console-page.ts'
import { serve } from '../support/in-process.ts'
import { buildOwnSite, buildTestSite } from './site.ts'

const narrow = { width: 400, height: 800 }
const wide = { width: 1280, height: 800 }
const site = buildTestSite({ after })
const browser = await startConsoleBrowser({ after })

function urlOf(name: string): string {
  return pathToFileURL(join(site.directory, name)).href
}

for (const { name, ...view } of [
  { name: 'in a wide window in light colors', viewport: wide, colorScheme: 'light' },
  { name: 'in a window of 400 pixels in dark colors', viewport: narrow, colorScheme: 'dark' },
] as const)
  test(`axe finds no accessibility violations on any page ${name}`, { timeout: 600_000 }, async () => {
    const page = await browser.open(urlOf('index.html'), view)
    const faults: string[] = []
    for (const path of site.pages) {
      await page.goto(urlOf(path))
      faults.push(...(await accessibilityFaults(page)).map((fault) => `${path}: ${fault}`))
    }
    assert.deepEqual(faults, [])
  })

test('no documentation page is wider than a 400-pixel window', async () => {
  const page = await browser.open(urlOf('index.html'), { viewport: narrow })
  const wider: string[] = []
  for (const name of site.pages) {
    await page.goto(urlOf(name))
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
    if (width > narrow.width) wider.push(`${name}: ${width} px`)
  }
  assert.deepEqual(wider, [])
})

test('the documentation search finds sections and links to them', async () => {
  const page = await browser.open(urlOf('docs/start/console.html'), { viewport: wide })
  await page.getByRole('searchbox').fill('downgrade')
  await page.getByRole('link', { name: 'Upgrading: Downgrade' }).click()
  await page.waitForURL(/upgrading\.html#downgrade$/)
  await page.getByRole('searchbox').fill('zyxwvu')
  await page.getByText('0 results').waitFor({ state: 'attached' })
})

test('the color scheme of the documentation site can be switched, and the choice is remembered', async () => {
  const page = await browser.open(urlOf('index.html'), { viewport: wide, colorScheme: 'light' })
  const light = await backgroundOf(page)
  await page.getByRole('button', { name: 'Dark or light' }).click()
  const dark = await backgroundOf(page)
  assert.notEqual(dark, light)
  await page.goto(urlOf('docs/README.html'))
  assert.equal(await backgroundOf(page), dark)
})

test('the chosen Kubernetes version replaces the version in commands', async () => {
  const page = await browser.open(urlOf('docs/reference/versions.html'), { viewport: wide })
  await page.getByText('--emulated-version=1.29', { exact: false }).first().waitFor()
  await page.getByLabel('Kubernetes').selectOption('1.33')
  await page.locator('pre', { hasText: '--emulated-version=1.33' }).first().waitFor()
  await page.goto(urlOf('docs/reference/versions.html'))
  await page.locator('pre', { hasText: '--emulated-version=1.33' }).first().waitFor()
})

test('the console links to the documentation, and the documentation search works when the server serves it', async () => {
  buildOwnSite()
  const server = await serve({ after }, ['--docs'])
  const console = await browser.open(`${server.url}/console/`, { viewport: wide })
  await signIn(console)
  const opening = console.context().waitForEvent('page')
  await console.getByRole('link', { name: 'Documentation' }).click()
  const page = await opening
  await page.getByRole('heading', { name: 'Documentation' }).waitFor()
  await page.getByRole('searchbox').fill('downgrade')
  await page.getByRole('link', { name: 'Upgrading: Downgrade' }).click()
  await page.getByRole('heading', { name: 'Downgrade', exact: true }).waitFor()
  assert.match(page.url(), /\/docs\/docs\/operate\/upgrading\.html#downgrade$/)
})

async function backgroundOf(page: Page): Promise<unknown> {
  return await page.evaluate('getComputedStyle(document.body).backgroundColor')
}
