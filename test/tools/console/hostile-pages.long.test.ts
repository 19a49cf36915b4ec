/**
 * Tests hostile pages in a real browser that has the administrator's client certificate: a page from another origin,
 * and a page that a hostile aggregated server sends through this server. Neither of them can act on behalf of the
 * administrator.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { AggregatedServer, giveService } from '../../support/aggregated.ts'
import { bundleIfStale } from '../../support/bundle.ts'
import { type ConsoleBrowser, startConsoleBrowser } from '../../support/console-page.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { asIssuer, makeIdentity, pairOf } from '../../support/identities.ts'
import { startOrchctl } from '../../support/orchctl.ts'
import { configMaps } from '../../support/paths.ts'
import { type ReachedNode, reachedNode } from '../../support/reached-node.ts'
import { until, untilTrue } from '../../support/until.ts'

const shared = endOfFile()
let reached: ReachedNode
let browser: ConsoleBrowser
/** URLs of the server, of orchctl proxy, and of the page from another origin. */
let own = ''
let proxy = ''
let evil = ''

before(async () => {
  await bundleIfStale('orch')
  reached = await reachedNode(shared)
  const { api, addPod } = reached
  own = api.server.url
  await addPod('web')
  const backend = await AggregatedServer.start(shared)
  await giveService(api.client)
  assert.equal((await api.client.post('/apis/apiregistration.k8s.io/v1/apiservices', backend.apiService())).status, 201)
  await until(
    () => api.client.get('/apis/a.example.com/v1/echo'),
    ({ status }) => status === 200,
  )
  const running = startOrchctl(['proxy', '--port=0'], { env: { KUBECONFIG: reached.kubeconfig } })
  shared.after(async () => {
    running.stop()
    await running.ended
  })
  await untilTrue(async () => /serve on \S+\n/.test(running.stdout()))
  proxy = `http://${/serve on (\S+)\n/.exec(running.stdout())![1]}`
  evil = await startEvilPage()
  browser = await startConsoleBrowser(shared)
})

/** Starts an empty page on another port of this machine under the name of another site. */
async function startEvilPage(): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>evil'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  shared.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

/** Opens a page as the administrator, with a client certificate in the browser. */
async function openAsAdmin(url: string): Promise<Page> {
  const issuer = asIssuer(pairOf(reached.api, 'ca'))
  const { certificate, key } = await makeIdentity({
    commonName: 'root',
    organizations: ['system:masters'],
    usages: ['client auth'],
    issuer,
  })
  const clientCertificates = [{ origin: own, cert: Buffer.from(certificate), key: Buffer.from(key) }]
  return await browser.open(url, { clientCertificates })
}

async function isStored(name: string): Promise<boolean> {
  return (await reached.api.client.get(`${configMaps}/${name}`)).status === 200
}

/** Returns code that writes without reading the response. An untyped Blob is sent without a preflight request. */
const writeBlindly = (to: string, name: string) => `
  fetch(${JSON.stringify(to + configMaps)}, {
    method: 'POST',
    mode: 'no-cors',
    credentials: 'include',
    body: new Blob([${JSON.stringify(JSON.stringify({ metadata: { name } }))}]),
  }).then(() => 'sent', (error) => String(error))`

/** Runs a program in a container and returns how the connection ended. */
const execute = (marker: string) => `
  new Promise((resolve) => {
    const query = new URLSearchParams({ container: 'c', stdout: 'true' })
    for (const word of ['touch', ${JSON.stringify(marker)}]) query.append('command', word)
    const url = ${JSON.stringify(own)}.replace('https', 'wss') + '/api/v1/namespaces/default/pods/web/exec?' + query
    const socket = new WebSocket(url, 'v4.channel.k8s.io')
    socket.onclose = ({ code }) => resolve(code)
  })`

test('a page from another origin cannot write or run commands, either with a certificate or through orchctl proxy', {
  timeout: 120_000,
}, async () => {
  const page = await openAsAdmin(`${evil}/`)
  const marker = join(reached.api.directory, 'evil-ran')
  assert.equal(await page.evaluate(writeBlindly(own, 'evil-direct')), 'sent')
  assert.equal(await page.evaluate(writeBlindly(proxy, 'evil-proxied')), 'sent')
  assert.equal(await page.evaluate(execute(marker)), 1006)
  assert.deepEqual([await isStored('evil-direct'), await isStored('evil-proxied')], [false, false])
  assert.equal(existsSync(marker), false)
  browser.takeFaults()
  await page.context().close()
})

test("a page from the same origin can write and run commands with the browser's certificate", {
  timeout: 120_000,
}, async () => {
  const page = await openAsAdmin(`${own}/console/`)
  const write = (name: string) => `
    fetch(${JSON.stringify(configMaps)}, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ${JSON.stringify(JSON.stringify({ metadata: { name } }))},
    }).then(({ status }) => status)`
  assert.equal(await page.evaluate(write('own')), 201)
  assert.equal(await page.evaluate(writeBlindly('', 'own-untyped')), 'sent')
  assert.equal(await isStored('own-untyped'), false)
  const marker = join(reached.api.directory, 'own-ran')
  assert.equal(await page.evaluate(execute(marker)), 1000)
  assert.equal(existsSync(marker), true)
  await page.context().close()
  const proxied = await browser.open(`${proxy}/console/`)
  assert.equal(await proxied.evaluate(write('own-proxied')), 201)
  browser.takeFaults()
  await proxied.context().close()
})

test('a page from an aggregated server can neither run scripts nor install a service worker', {
  timeout: 120_000,
}, async () => {
  for (const [origin, open] of [[own, openAsAdmin] as const, [proxy, browser.open] as const]) {
    const page = await open(`${origin}/apis/a.example.com/v1/takeover`)
    await page.getByText('relayed').waitFor()
    // No script runs in this page, so check the page's effect from another page in which scripts do run.
    assert.equal(await page.title(), 'relayed')
    await page.goto(`${origin}/console/`)
    const register = `navigator.serviceWorker.register('/apis/a.example.com/v1/worker', { scope: '/' })
      .then(() => 'installed', (error) => error.name)`
    assert.notEqual(await page.evaluate(register), 'installed')
    assert.equal(await page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)'), 0)
    assert.equal(await isStored('taken-over'), false, origin)
    browser.takeFaults()
    await page.context().close()
  }
})
