/** Tests the console in a real browser, page by page, and its files and one-time link over plain HTTP. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { generateKey } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import { noHeaders } from '../../../src/apiserver/authn/authenticator.ts'
import { ConsoleAccess, newConsoleSecrets } from '../../../src/tools/console/access.ts'
import { readConsoleFile } from '../../../src/tools/console/files.ts'
import { bundleIfStale } from '../../support/bundle.ts'
import {
  accessibilityFaults,
  type ConsoleBrowser,
  goTo,
  pressWhenReady,
  signIn,
  startConsoleBrowser,
  workPages,
} from '../../support/console-page.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { type Restartable, serve, serveUp } from '../../support/in-process.ts'
import { long, longTest } from '../../support/long.ts'

const shared = endOfFile()
let server: Restartable
let admin: HttpClient
let browser: ConsoleBrowser

before(async () => {
  await bundleIfStale('orch')
  server = await serveUp(shared, ['--console-link=true', '--nodes=1'])
  admin = server.client()
  browser = await startConsoleBrowser(shared)
})

const inDefault = '/api/v1/namespaces/default'
const configMap = (name: string, data: { [key: string]: string } = {}, metadata = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data,
})

/** Applies a ConfigMap as a field manager. */
async function applyAs(manager: string, name: string, data: { [key: string]: string }): Promise<void> {
  const { status, text } = await admin.send(`${inDefault}/configmaps/${name}?fieldManager=${manager}&force=true`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    raw: JSON.stringify(configMap(name, data)),
  })
  assert.ok(status < 300, text)
}

describe('console files', () => {
  test('the console page allows only its own resources, and browsers can cache its files forever', async () => {
    const page = await admin.get('/console/', { 'accept-encoding': 'br' })
    assert.equal(page.status, 200)
    const policy = page.headers['content-security-policy']!
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
      assert.ok(String(policy).includes(rule), rule)
    assert.doesNotMatch(String(policy), /unsafe|https?:|\*/)
    const { 'x-content-type-options': sniff, 'referrer-policy': referrer, 'cache-control': kept } = page.headers
    assert.deepEqual([sniff, referrer, kept], ['nosniff', 'no-referrer', 'no-cache'])
    const html = brotliDecompressSync(page.bytes).toString()
    assert.doesNotMatch(html, /<script>|<style|\son\w+=|https?:\/\//)
    const [script] = /main-\w+\.js/.exec(html)!
    const file = await admin.get(`/console/${script}`)
    assert.deepEqual(
      [file.status, file.headers['content-type'], file.headers['cache-control'], file.headers['content-encoding']],
      [200, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', undefined],
    )
    const again = await admin.get(`/console/${script}`, { 'if-none-match': String(file.headers.etag) })
    assert.deepEqual([again.status, again.text], [304, ''])
  })

  test('the compressed size of all console files is below 300 kB in total', () => {
    const files = readdirSync(new URL('../../../dist/console/', import.meta.url), { withFileTypes: true })
    const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
    assert.ok(sizes.length >= 4)
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 300_000, sizes.join(', '))
  })

  test('a console file is read from disk only once, however often it is requested', async () => {
    const [name = ''] = /[\w-]+\.js/.exec((await admin.get('/console/')).text) ?? []
    const files = await Promise.all([readConsoleFile(name), readConsoleFile(name)])
    assert.ok(files[0])
    assert.equal(files[1]?.brotli, files[0].brotli)
    assert.equal((await readConsoleFile(name))?.brotli, files[0].brotli)
  })
  test('unknown paths below /console/ are not found, and the console can be disabled', async () => {
    const statuses = async (client: HttpClient, method: string, paths: readonly string[]) =>
      await Promise.all(paths.map(async (path) => (await client.send(path, { method })).status))
    const odd = ['/console/../orch.cjs', '/console/%2e%2e/orch.cjs', '/console/a/b.js', '/console/main.js', '/consoles']
    assert.deepEqual(await statuses(admin, 'GET', ['/console', ...odd]), [308, 400, 400, 404, 404, 404])
    assert.deepEqual(await statuses(admin, 'POST', ['/console/', '/console/session']), [405, 401])
    assert.deepEqual(await statuses(admin, 'GET', ['/console/session']), [405])
    const off = await serve(shared, ['--console=false'])
    assert.deepEqual(await statuses(off.client(), 'GET', ['/console/', '/console']), [404, 404])
  })

  test('a sign-in link is valid only once and for ten minutes, and the session is valid for eight hours on the same server', () => {
    const clock = { now: () => time, monotonic: () => time }
    let time = 1_000_000
    const secrets = newConsoleSecrets(clock)
    const access = new ConsoleAccess(secrets, clock)
    const worker = new ConsoleAccess(structuredClone(secrets), clock)
    const ask = (token: string, asked = access) => {
      const connection = {}
      return asked.authenticate({
        authorization: `Bearer ${token}`,
        certificate: undefined,
        headers: noHeaders,
        connection,
      })
    }
    assert.equal(access.exchange('wrong'), undefined)
    const { token } = worker.exchange(access.link)!
    assert.equal(access.exchange(access.link), undefined)
    assert.equal((ask(token) as { user: { name: string } }).user.name, 'orch-admin')
    assert.deepEqual([ask(`${token}x`), ask('other')], [{ result: 'refused' }, { result: 'none' }])
    const [, expires, mac] = token.split('.') as [string, string, string]
    assert.deepEqual(ask(`orch-console.${Number(expires) + 1}.${mac}`), { result: 'refused' })
    assert.deepEqual(ask(token, new ConsoleAccess(newConsoleSecrets(clock), clock)), { result: 'refused' })
    time += 8 * 3_600_000
    assert.deepEqual(ask(token), { result: 'refused' })
    const late = new ConsoleAccess(newConsoleSecrets(clock), clock)
    time += 10 * 60_000
    assert.equal(late.exchange(late.link), undefined)
  })
})

describe('the console in a browser', () => {
  let page: Page

  test('the console link that orch up prints signs in once and is immediately removed from the URL', async () => {
    const [, link] = /See: {2}(\S+)/.exec(server.output())!
    page = await browser.open(link!)
    await page.getByText('orch-admin').waitFor()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('Kubernetes 1.23').waitFor()
    assert.match(page.url(), /#\/$/)
    await goTo(page, '#/operations/access')
    assert.doesNotMatch(page.url(), /link=/)
    const secret = /#link=(.*)/.exec(link!)![1]
    const again = await admin.send('/console/session', { method: 'POST', headers: { authorization: `Link ${secret}` } })
    assert.equal(again.status, 401)
  })

  test('a console page opened before discovery is complete shows its content afterwards', async () => {
    const page = await browser.open(`${server.url}/console/`)
    const known = Promise.withResolvers<void>()
    await page.route(/\/api\/v1$/, async (route) => {
      await known.promise
      await route.continue()
    })
    await signIn(page)
    await goTo(page, '#/operations/quotas')
    await page.getByRole('heading', { name: 'Quotas' }).waitFor()
    known.resolve()
    await page.getByText('There are no quotas').waitFor()
    await page.context().close()
  })

  test('a console table shows writes by other clients, and can be filtered, sorted and opened with the keyboard', async () => {
    await admin.post(`${inDefault}/configmaps`, configMap('first', {}, { labels: { app: 'web' } }))
    await goTo(page, '#/list/core/v1/configmaps?namespace=default')
    await page.getByRole('link', { name: 'first', exact: true }).waitFor()
    await admin.post(`${inDefault}/configmaps`, configMap('second'))
    await page.getByRole('link', { name: 'second', exact: true }).waitFor()
    await admin.delete(`${inDefault}/configmaps/second`)
    await page.getByRole('link', { name: 'second', exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Labels').fill('app=web')
    await page.getByLabel('Labels').press('Enter')
    await page.getByText('1 object', { exact: true }).waitFor()
    assert.match(page.url(), /labels=app%3Dweb/)
    await page.getByRole('link', { name: 'first', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'first' }).waitFor()
  })

  test('for a conflicting edit, the console names the field owner, and applies the edit if the user takes over the field', async () => {
    await applyAs('deployer', 'shared', { colour: 'red', size: '1' })
    await goTo(page, '#/object/core/v1/configmaps/default/shared?tab=form')
    const colour = page.getByRole('textbox', { name: 'colour' })
    await colour.fill('blue')
    await page.getByRole('button', { name: 'Review the changes' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Others own fields that you changed').waitFor()
    await dialog.getByRole('listitem').filter({ hasText: 'is owned by deployer' }).waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Apply' }).isDisabled(), true)
    await dialog.getByRole('button', { name: 'Take it over' }).press('Enter')
    await dialog.getByText('Taken over from their owners: .data.colour').waitFor()
    await pressWhenReady(dialog.getByRole('button', { name: 'Apply' }))
    await dialog.waitFor({ state: 'detached' })
    const { body } = await admin.get(`${inDefault}/configmaps/shared`)
    assert.deepEqual(body.data, { colour: 'blue', size: '1' })
    const owner = body.metadata.managedFields.find(({ manager }: { manager: string }) => manager === 'console')
    assert.deepEqual(owner.fieldsV1, { 'f:data': { 'f:colour': {} } })
    await goTo(page, '#/object/core/v1/configmaps/default/shared?tab=yaml')
    await page
      .getByRole('row', { name: /colour: blue/ })
      .getByText('console')
      .waitFor()
    await page
      .getByRole('row', { name: /size: "1"/ })
      .getByText('deployer')
      .waitFor()
  })

  test('YAML in the console can be edited with the keyboard, and removing a field of another manager sends a patch', async () => {
    await page.getByRole('button', { name: 'Edit' }).press('Enter')
    const editor = page.getByLabel('The object as YAML')
    await editor.focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText(
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shared\n  namespace: default\ndata:\n  colour: green\n',
    )
    await page.getByRole('button', { name: 'Review the changes' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Remove them as well').check()
    await pressWhenReady(dialog.getByRole('button', { name: 'Apply' }))
    await dialog.waitFor({ state: 'detached' })
    const { body } = await admin.get(`${inDefault}/configmaps/shared`)
    assert.deepEqual(body.data, { colour: 'green' })
  })

  test('the console shows the history of an object and can revert a change', async () => {
    const { body } = await admin.get('/apis/ops.orch.io/v1')
    const isServed = body.resources.some(({ name }: { name: string }) => name === 'objecthistories')
    await goTo(page, '#/object/core/v1/configmaps/default/shared')
    await page.getByRole('tab', { name: 'Overview' }).waitFor()
    assert.equal(await page.getByRole('tab', { name: 'History' }).count(), isServed ? 1 : 0)
    if (!isServed) return
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Go back to this state' }).first().press('Enter')
    const dialog = page.getByRole('dialog')
    await pressWhenReady(dialog.getByRole('button', { name: 'Apply' }))
    await dialog.waitFor({ state: 'detached' })
    assert.notEqual((await admin.get(`${inDefault}/configmaps/shared`)).body.data.colour, 'green')
  })

  test("the console decodes a certificate request, checks it against its signer's rules and can approve it", async () => {
    const pem = makeRequest({ commonName: 'ada', organizations: ['developers'] }, generateKey())
    const spec = {
      signerName: 'orch.io/apiserver-client',
      usages: ['client auth'],
      request: Buffer.from(pem).toString('base64'),
    }
    const sent = {
      apiVersion: 'certificates.orch.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'ada' },
      spec,
    }
    const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'
    assert.equal((await admin.post(requests, sent)).status, 201)
    await goTo(page, '#/operations/certificates')
    const card = page.getByRole('region', { name: 'Request ada' })
    await card.getByText('The usages are allowed for clients').waitFor()
    assert.deepEqual(await card.getByText('Broken').count(), 0)
    await card.getByText('developers').waitFor()
    await card.getByText('EC P-256').waitFor()
    await card.getByRole('button', { name: 'Approve' }).press('Enter')
    await card.getByText('Issued').waitFor()
    const { body } = await admin.get(`${requests}/ada`)
    assert.equal(body.status.conditions[0].type, 'Approved')
  })

  test('the console displays markup and control characters in names and texts literally', async () => {
    const hostile = '<img src=x onerror="globalThis.broken=1">\u202e\u0007\u001b[31m'
    const annotations = { note: hostile, long: 'x'.repeat(200_000) }
    assert.equal(
      (await admin.post(`${inDefault}/configmaps`, configMap('hostile', { text: hostile }, { annotations }))).status,
      201,
    )
    await goTo(page, '#/object/core/v1/configmaps/default/hostile')
    await page.getByText('<img src=x onerror="globalThis.broken=1"><U+202E>␇␛[31m').first().waitFor()
    await page.getByText('(200,000 characters)').waitFor()
    await goTo(page, '#/object/core/v1/configmaps/default/hostile?tab=yaml')
    await page.getByText('<img src=x').first().waitFor()
    assert.equal(await page.evaluate('globalThis.broken'), undefined)
    assert.equal(await page.locator('main img').count(), 0)
  })

  test('the console hides the values of a Secret until the user reveals them', async () => {
    await admin.post(`${inDefault}/secrets`, { metadata: { name: 'password' }, stringData: { password: 'hunter2' } })
    await goTo(page, '#/object/core/v1/secrets/default/password?tab=yaml')
    await page.getByText('••••••••').waitFor()
    assert.equal(await page.getByText('aHVudGVyMg==').count(), 0)
    await page.getByRole('button', { name: 'Show the secret values' }).press('Enter')
    await page.getByText('aHVudGVyMg==').waitFor()
  })

  test('the console overview of a Secret lists its keys with their sizes', async () => {
    await admin.post(`${inDefault}/secrets`, { metadata: { name: 'keys' }, stringData: { password: 'hunter2' } })
    await goTo(page, '#/object/core/v1/secrets/default/keys')
    const card = page.locator('.card', { hasText: 'Data' })
    await card.getByText('password 7 B').waitFor()
    assert.equal(await card.getByText('hunter2').count(), 0)
    await card.getByRole('button', { name: 'Show the secret values' }).press('Enter')
    await card.getByText('hunter2').waitFor()
  })

  test('the console sidebar groups kinds by task, and custom resources separately', async () => {
    const sideBar = page.getByRole('navigation', { name: 'Pages' })
    assert.deepEqual(
      (await sideBar.locator('summary').allTextContents()).filter((each) => each !== 'Custom'),
      ['Workloads', 'Network', 'Storage', 'Configuration', 'Access', 'Cluster'],
    )
    const workloads = sideBar.locator('details', { hasText: 'Workloads' }).getByRole('link')
    assert.deepEqual((await workloads.allTextContents()).slice(0, 4), ['Pod', 'Deployment', 'StatefulSet', 'DaemonSet'])
  })

  test('the console overview lists a failing Deployment, and the page of the Deployment shows replicas and images', async () => {
    const labels = { app: 'stuck' }
    const container = { name: 'c', image: 'registry.example/stuck:1', resources: { requests: { cpu: '1000' } } }
    const spec = {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    }
    const { status, text } = await admin.post('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'stuck' },
      spec,
    })
    assert.equal(status, 201, text)
    await goTo(page, '#/')
    const attention = page.locator('.card', { hasText: 'Needs attention' })
    await attention.getByText('has 0 of 2 replicas available').waitFor()
    await page.locator('.card', { hasText: 'Latest warnings' }).getByText('FailedScheduling').first().waitFor()
    await attention.getByRole('link', { name: 'default/stuck', exact: true }).press('Enter')
    const summary = page.locator('.card', { hasText: 'Summary' })
    await summary.getByText('2 desired, 2 updated, 0 available').waitFor()
    await summary.getByText('registry.example/stuck:1').waitFor()
  })

  test('in the Event table of the console, the age of an Event links to the Event, but the name does not', async () => {
    await goTo(page, '#/list/core/v1/events?namespace=default')
    const row = page.getByRole('row').filter({ hasText: 'FailedScheduling' }).first()
    await row.waitFor()
    const [first] = await row.getByRole('rowheader').locator('time').allTextContents()
    assert.match(first!, /^\d+[smh]/)
  })

  test('a console page that is 400 pixels wide shows the status and age of each Pod', async () => {
    await goTo(page, '#/list/core/v1/pods?namespace=default')
    await page
      .getByRole('link', { name: /^stuck-/ })
      .first()
      .waitFor()
    await page.setViewportSize({ width: 400, height: 800 })
    const row = page.getByRole('row').filter({ hasText: 'stuck-' }).first()
    for (const text of [row.getByText('Pending'), row.locator('td.age')]) {
      await text.waitFor()
      const box = (await text.boundingBox())!
      assert.ok(box.x >= 0 && box.x + box.width <= 400, JSON.stringify(box))
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  test('the console page of a Pod has a log and a shell', async () => {
    const spec = { containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', 'echo started; sleep 3600'] }] }
    assert.equal((await admin.post(`${inDefault}/pods`, { metadata: { name: 'shell' }, spec })).status, 201)
    await goTo(page, '#/object/core/v1/pods/default/shell')
    await page.locator('.card', { hasText: 'Containers' }).getByText('Running', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Logs' }).click()
    await page.getByText('Following').waitFor()
    await page.getByRole('tab', { name: 'Terminal' }).click()
    await page.getByLabel('Input').fill('echo $HOSTNAME; false')
    await page.getByLabel('Input').press('Enter')
    await page
      .getByLabel('Terminal output')
      .getByText(/\nshell\n/)
      .waitFor()
    await page.getByLabel('Input').fill('exit')
    await page.getByLabel('Input').press('Enter')
    await page.getByText('The shell has ended').waitFor()
  })

  test('the command palette of the console opens a kind, a page or an object', async () => {
    await page.keyboard.press('Control+k')
    await page.getByLabel('Jump to', { exact: true }).fill('cm default/shared')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'shared' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Jump to', { exact: true }).fill('quot')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Quotas' }).waitFor()
  })

  test('a long console table renders only the visible rows, and the End key moves to the last row', {
    timeout: 300_000,
  }, async () => {
    const many = long ? 10_000 : 120
    const names = Array.from({ length: many }, (_, i) => `row-${String(i).padStart(5, '0')}`)
    await admin.post('/api/v1/namespaces', { metadata: { name: 'many' } })
    for (let i = 0; i < many; i += 100)
      await Promise.all(
        names.slice(i, i + 100).map(async (name) => {
          const { status } = await admin.post('/api/v1/namespaces/many/configmaps', { metadata: { name } })
          assert.equal(status, 201)
        }),
      )
    await goTo(page, '#/list/core/v1/configmaps?namespace=many')
    // Every namespace contains the CA certificate.
    await page.getByText(`${(many + 1).toLocaleString('en')} objects`).waitFor()
    assert.ok((await page.locator('tbody tr').count()) < 100)
    await page.getByRole('link', { name: names[0]! }).focus()
    await page.evaluate(`{
      globalThis.focusLosses = 0
      const observer = new MutationObserver(() => document.activeElement === document.body && focusLosses++)
      observer.observe(document.querySelector('tbody'), { childList: true })
    }`)
    await page.keyboard.press('End')
    await page.getByRole('link', { name: names.at(-1)! }).waitFor()
    assert.match(String(await page.evaluate('document.activeElement.textContent')), /^row-/)
    assert.equal(await page.evaluate('focusLosses'), 0)
    await page.getByLabel('Name contains').fill('00042')
    await page.getByText('1 object,').waitFor()
  })

  test('the console reports a removed kind and a restarted server, and recovers', async () => {
    const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
    const schema = { openAPIV3Schema: { type: 'object' } }
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }
    assert.equal((await admin.post(definitions, definition)).status, 201)
    await goTo(page, '#/list/example.com/v1/widgets')
    await page.getByRole('heading', { name: 'Widget' }).waitFor()
    await admin.delete(`${definitions}/widgets.example.com`)
    await page.getByText('The server does not serve widgets').waitFor()
    await admin.post(definitions, definition)
    await page.getByRole('heading', { name: 'Widget', exact: true }).waitFor()

    await goTo(page, '#/list/core/v1/configmaps?namespace=default')
    await page.getByText('Live').waitFor()
    await server.stop()
    await page.getByText('The server does not answer').waitFor()
    await server.restart()
    admin = server.client()
    // The session that was started through the link belongs to the previous process.
    await page.getByText('Your session has ended').waitFor()
    await signIn(page)
    await page.getByText('Live').waitFor()
    browser.takeFaults()
  })

  longTest('the page continues without a sign-in if a restarted server still accepts the session', async () => {
    await server.stop()
    await page.getByText('The server does not answer').waitFor()
    await server.restart()
    admin = server.client()
    await admin.post(`${inDefault}/configmaps`, configMap('after-restart'))
    await page.getByRole('link', { name: 'after-restart' }).waitFor()
    browser.takeFaults()
  })

  longTest('a page reports a broken watch until a new watch is open', async () => {
    await goTo(page, '#/operations/namespaces')
    await page.getByText(/in use$/).waitFor()
    await server.stop()
    const failure = page.getByRole('main').getByText('No answer')
    await failure.waitFor()
    await server.restart()
    admin = server.client()
    await failure.waitFor({ state: 'detached' })
    browser.takeFaults()
  })

  test('the console shows an explanation to a user without permission', async () => {
    const rbac = { apiGroup: 'rbac.authorization.orch.io' }
    const rules = [{ verbs: ['create'], apiGroups: ['ops.orch.io'], resources: ['accessexplanations'] }]
    const paths = `/apis/${rbac.apiGroup}/v1`
    await admin.post(`${paths}/clusterroles`, { metadata: { name: 'asks-why' }, rules })
    const binding = {
      metadata: { name: 'asks-why' },
      roleRef: { ...rbac, kind: 'ClusterRole', name: 'asks-why' },
      subjects: [{ ...rbac, kind: 'User', name: 'bob' }],
    }
    assert.equal((await admin.post(`${paths}/clusterrolebindings`, binding)).status, 201)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, 'bob-token')
    await goTo(page, '#/list/core/v1/secrets')
    await page.getByText('You may not do this').waitFor()
    await page.getByRole('button', { name: 'Why?' }).press('Enter')
    await page.getByText('The smallest rule that would allow it').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page)
    browser.takeFaults()
  })

  test('axe finds no accessibility violations in the light and dark themes of the console', {
    timeout: 300_000,
  }, async () => {
    const object = '#/object/core/v1/configmaps/default/shared'
    const some = [`${object}?tab=form`]
    const others = workPages.map((each) => `#/operations/${each}`)
    const places = long
      ? ['#/', '#/list/core/v1/configmaps', ...some, object, `${object}?tab=yaml`, `${object}?tab=relations`, ...others]
      : some
    for (const colorScheme of long ? (['light', 'dark'] as const) : (['dark'] as const)) {
      await page.emulateMedia({ colorScheme })
      for (const place of places) {
        await goTo(page, place)
        await page.getByRole('heading', { level: 1 }).waitFor()
        assert.deepEqual(await accessibilityFaults(page), [], `${place} in ${colorScheme}`)
      }
    }
  })
})
