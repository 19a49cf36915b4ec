/**
 * Opens the console in a real browser, headless Chromium controlled by playwright, and collects the errors on its
 * pages.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { Ending } from './server.ts'

export interface ConsoleBrowser {
  /** Opens the console in a separate browser context. If the page reports errors, the test fails when it ends. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  /** Returns and clears the errors that pages have reported, for tests that cause errors on purpose. */
  takeFaults(): string[]
}

/** The browser does not verify certificates, because it does not trust the test CA. */
export async function startConsoleBrowser(t: Ending): Promise<ConsoleBrowser> {
  const { chromium } = await import('playwright-core')
  const browser: Browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--renderer-process-limit=1'],
  })
  let faults: string[] = []
  t.after(async () => {
    await browser.close()
    assert.deepEqual(faults, [], 'errors of the page')
  })
  return {
    open: async (url, options = {}) => {
      const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(60_000)
      const { origin } = new URL(url)
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== origin) faults.push(`a request to another host: ${request.url()}`)
      })
      page.on('pageerror', ({ message }) => faults.push(message))
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
      await page.goto(url)
      return page
    },
    takeFaults: () => {
      const taken = faults
      faults = []
      return taken
    },
  }
}

/** Signs in to the console with a token. */
export async function signIn(page: Page, token = 'admin-token'): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByLabel('Token').press('Enter')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** Navigates within the console without a reload, because a reload would sign the user out. */
export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
}

const axe = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Returns the accessibility faults that axe finds, one line per violated rule. axe must not load the style sheets
 * again, because the browser forbids this for pages from a file system.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(`if (!globalThis.axe) { ${axe()} }`)
  const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'], preload: false })`)
  const { violations } = found as { violations: { id: string; nodes: { html: string }[] }[] }
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
}

/** Presses a button with the keyboard once the button is enabled. A key press on a disabled button has no effect. */
export async function pressWhenReady(button: Locator): Promise<void> {
  await button.and(button.page().locator(':enabled')).press('Enter')
}

/** Returns the visible controls of a page that never get the focus with Tab. */
export async function unreachableByTab(page: Page): Promise<string[]> {
  const wanted = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((each) => each.checkVisibility() && !each.disabled && each.tabIndex >= 0)`
  await page.evaluate(`{
    globalThis.reached = new Set()
    document.addEventListener('focusin', ({ target }) => reached.add(target))
    document.activeElement.blur()
  }`)
  const count = Number(await page.evaluate(`${wanted}.length`))
  // The first press of Tab may focus any element, and scrollable elements can also get the focus.
  for (let i = 0; i < count + 15; i++) await page.keyboard.press('Tab')
  return (await page.evaluate(
    `${wanted}.filter((each) => !reached.has(each)).map((each) => each.outerHTML.slice(0, 200))`,
  )) as string[]
}

/** Names of the operations pages. Parsed from the source, because Node.js cannot load the components. */
export const workPages: readonly string[] = [
  ...readFileSync(new URL('../../src/tools/console/page/operations/all.ts', import.meta.url), 'utf8').matchAll(
    /^ {2}\{ name: '(\w+)'/gm,
  ),
].map(([, name]) => name as string)
