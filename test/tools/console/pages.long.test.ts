/**
 * Tests the operations pages in a real browser, each with its own objects. Also tests the other ways of signing in, and
 * pages whose watch falls behind, whose credentials expire, or whose user has few permissions.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { generateKey } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import type { ControlEntry } from '../../../src/apiserver/admission/controls/all.ts'
import { controlsOf } from '../../../src/server/flags/admission-controls.ts'
import { bundleIfStale } from '../../support/bundle.ts'
import {
  accessibilityFaults,
  type ConsoleBrowser,
  goTo,
  signIn,
  startConsoleBrowser,
  unreachableByTab,
  workPages,
} from '../../support/console-page.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { pairOf } from '../../support/identities.ts'
import { type Restartable, serve, serveUp } from '../../support/in-process.ts'
import { startUp } from '../../support/server.ts'
import { untilTrue } from '../../support/until.ts'
import { configure, Webhooks, webhook } from '../../support/webhooks.ts'

const shared = endOfFile()
const timeout = 300_000
let server: Restartable
let admin: HttpClient
let browser: ConsoleBrowser
let page: Page

before(async () => {
  await bundleIfStale('orch')
  server = await serveUp(shared)
  admin = server.client()
  browser = await startConsoleBrowser(shared)
  page = await browser.open(`${server.url}/console/`)
  await signIn(page)
})

const create = async (path: string, object: object) => {
  const { status, body, text } = await admin.post(path, object)
  assert.equal(status, 201, text)
  return body
}
const patch = async (path: string, change: object) => {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const { status, text } = await admin.send(path, { method: 'PATCH', headers, raw: JSON.stringify(change) })
  assert.equal(status, 200, text)
}
const inDefault = '/api/v1/namespaces/default'
const rbac = { apiGroup: 'rbac.authorization.orch.io' }

describe('operations pages of the console', { timeout }, () => {
  test('the console page for certificate requests shows the result of each rule, and a request can be denied with the keyboard', async () => {
    const pem = makeRequest({ commonName: 'mallory', organizations: ['system:nodes'] }, generateKey())
    const spec = {
      signerName: 'orch.io/apiserver-client',
      usages: ['server auth'],
      request: Buffer.from(pem).toString('base64'),
    }
    const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'
    await create(requests, { metadata: { name: 'mallory' }, spec })
    await goTo(page, '#/operations/certificates')
    const card = page.getByRole('region', { name: 'Request mallory' })
    await card.getByText('The subject has at most one common name').waitFor()
    await card.getByText(/Broken The usages are allowed for clients: .*"client auth" is missing/).waitFor()
    await card.getByRole('button', { name: 'Deny' }).press('Enter')
    await card.getByText('Denied', { exact: true }).waitFor()
    const { body } = await admin.get(`${requests}/mallory`)
    assert.deepEqual([body.status.conditions[0].type, body.status.certificate], ['Denied', undefined])
  })

  test('a console page with many objects shows the first objects, and all objects on request', async () => {
    const names = Array.from({ length: 2_100 }, (_, i) => `many-${String(i).padStart(4, '0')}`)
    for (let i = 0; i < names.length; i += 50)
      await Promise.all(names.slice(i, i + 50).map((name) => create(`${inDefault}/secrets`, { metadata: { name } })))
    await goTo(page, '#/list/core/v1/secrets?namespace=default&sort=-Name')
    await page.getByText(/^500 of 2,1\d\d objects/).waitFor()
    await page.getByRole('link', { name: 'many-2099' }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByText(/^2,1\d\d objects/).waitFor()
  })

  test('the console page for access shows who may perform an action, and why another user may not', async () => {
    await create(`/apis/${rbac.apiGroup}/v1/clusterroles`, {
      metadata: { name: 'pod-reader' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    })
    await create(`/apis/${rbac.apiGroup}/v1/clusterrolebindings`, {
      metadata: { name: 'carol-reads' },
      roleRef: { ...rbac, kind: 'ClusterRole', name: 'pod-reader' },
      subjects: [{ ...rbac, kind: 'User', name: 'carol' }],
    })
    await goTo(page, '#/operations/access')
    await page.getByLabel('Verb').selectOption('get')
    await page.getByLabel('Resource').selectOption('/pods')
    await page.getByRole('button', { name: 'Who can?' }).press('Enter')
    const row = page.getByRole('row').filter({ hasText: 'carol' })
    await row.getByText('ClusterRole/pod-reader').waitFor()
    await page.getByLabel('Verb').selectOption('delete')
    await page.getByLabel('User (empty: you)').fill('carol')
    await page.getByRole('button', { name: 'May they, and why?' }).press('Enter')
    await page.getByText('Not allowed').waitFor()
    await page.getByText('of ClusterRole/pod-reader by ClusterRoleBinding/carol-reads: it lacks verb').waitFor()
    await page.getByText('verbs: [delete]').waitFor()
  })

  test('the console page for admission shows active plugins, circuit breakers with their last error, and the result of a dry run', async () => {
    const webhooks = await Webhooks.start(shared)
    await create('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })
    const clientConfig = { url: 'https://127.0.0.1:1/unreachable' }
    const broken = webhook(webhooks, '', { name: 'broken.example.com', failurePolicy: 'Ignore', clientConfig })
    await configure(admin, 'validating', 'broken', [broken])
    for (let i = 0; i < 5; i++) await create('/api/v1/namespaces/hooked/configmaps', { metadata: { name: `b${i}` } })
    await goTo(page, '#/operations/admission')
    const row = page.getByRole('row').filter({ hasText: 'broken.example.com' })
    await row.getByText('Open').waitFor()
    await row.getByText('connection refused').waitFor()
    const running = page.getByRole('list', { name: 'Enabled plugins' }).getByRole('listitem')
    await running.first().waitFor()
    const names = (await running.allInnerTexts()).map((text) => text.split(/\s/)[0])
    const runs = ({ name, byDefault }: ControlEntry) => byDefault || name === 'NodeRestriction'
    const expected = controlsOf('1.23')
      .filter(runs)
      .map(({ name }) => name)
    assert.deepEqual(names, expected)
    await page.getByRole('button', { name: 'Try it' }).press('Enter')
    await page.getByText('It would be admitted').waitFor()
    await page.getByRole('cell', { name: 'NamespaceLifecycle' }).first().waitFor()
    assert.equal((await admin.get(`${inDefault}/configmaps/example`)).status, 404)
  })

  test("the console page for admission shows a policy's deciding expression and its variables", async (t) => {
    const later = await serveUp(t, ['--emulated-version=1.36'])
    const client = later.client()
    const group = '/apis/admissionregistration.orch.io/v1'
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
    const spec = {
      matchConstraints: { resourceRules: [rule] },
      variables: [{ name: 'least', expression: '3' }],
      validations: [{ expression: 'size(object.data) > variables.least', message: 'too few keys' }],
    }
    const binding = { policyName: 'keys', validationActions: ['Deny'] }
    await client.post(`${group}/validatingadmissionpolicies`, { metadata: { name: 'keys' }, spec })
    await client.post(`${group}/validatingadmissionpolicybindings`, { metadata: { name: 'keys' }, spec: binding })
    const page = await browser.open(`${later.url}/console/`)
    await signIn(page)
    await goTo(page, '#/operations/admission')
    await page.getByRole('button', { name: 'Try it' }).press('Enter')
    await page.getByText('Policy keys, binding keys: too few keys').waitFor()
    await page.getByText('variables.least = 3').waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    browser.takeFaults()
  })

  test('the console page for namespaces shows what blocks each terminating namespace, until the namespace is gone', async () => {
    await create('/api/v1/namespaces', { metadata: { name: 'going' } })
    const kept = { metadata: { name: 'kept', finalizers: ['example.com/keep'] } }
    await create('/api/v1/namespaces/going/configmaps', kept)
    await goTo(page, '#/operations/namespaces')
    await page.getByRole('link', { name: 'going' }).waitFor()
    await admin.delete('/api/v1/namespaces/going')
    await page.getByRole('heading', { name: 'going' }).waitFor()
    await page.getByText('example.com/keep').first().waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    await patch('/api/v1/namespaces/going/configmaps/kept', { metadata: { finalizers: null } })
    await page.getByRole('heading', { name: 'going' }).waitFor({ state: 'detached' })
  })

  test('the console page for quotas shows usage bars that are updated live', async () => {
    await create('/api/v1/namespaces', { metadata: { name: 'small' } })
    // Every namespace contains the CA certificate. An object that is created at the same moment as a quota is counted
    // only later.
    const certificate = '/api/v1/namespaces/small/configmaps/kube-root-ca.crt'
    await untilTrue(async () => (await admin.get(certificate)).status === 200)
    const hard = { 'count/configmaps': '4' }
    await create('/api/v1/namespaces/small/resourcequotas', { metadata: { name: 'few' }, spec: { hard } })
    await goTo(page, '#/operations/quotas')
    const card = page.locator('.card').filter({ hasText: 'small / few' })
    await card.getByText('1 of 4').waitFor()
    await card.getByRole('img', { name: '25 %' }).waitFor()
    for (let i = 0; i < 3; i++) await create('/api/v1/namespaces/small/configmaps', { metadata: { name: `c${i}` } })
    await card.getByText('4 of 4').waitFor()
    await page.getByLabel('Namespace').selectOption('default')
    await page.getByText('There are no quotas').waitFor()
    assert.match(page.url(), /namespace=default/)
  })

  test('the console page for nodes shows a map with the node and state of each pod', async () => {
    await create('/api/v1/nodes', { metadata: { name: 'node-a' }, spec: { unschedulable: true } })
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    await patch('/api/v1/nodes/node-a/status', { status })
    const pod = (name: string, nodeName?: string) => ({
      metadata: { name, namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'i' }], ...(nodeName && { nodeName }) },
    })
    await create(`${inDefault}/pods`, pod('placed', 'node-a'))
    await create(`${inDefault}/pods`, pod('waiting'))
    await goTo(page, '#/operations/map')
    const node = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'node-a' }) })
    await node.getByText('cordoned').waitFor()
    await node.getByRole('link', { name: 'default/placed: Pending' }).waitFor()
    const apart = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Without a node' }) })
    await apart.getByRole('link', { name: 'default/waiting' }).waitFor()
    await patch(`${inDefault}/pods/placed/status`, { status: { phase: 'Running' } })
    await node.getByRole('link', { name: 'default/placed: Running' }).press('Enter')
    await page.getByRole('heading', { name: 'placed' }).waitFor()
  })

  test('the console graph of an object links to its owners and dependents', async () => {
    const owner = await create(`${inDefault}/configmaps`, { metadata: { name: 'owner' } })
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, controller: true }
    const middle = await create(`${inDefault}/configmaps`, {
      metadata: { name: 'middle', ownerReferences: [reference] },
    })
    const next = { ...reference, name: 'middle', uid: middle.metadata.uid }
    for (const name of ['leaf-a', 'leaf-b'])
      await create(`${inDefault}/configmaps`, { metadata: { name, ownerReferences: [next] } })
    await goTo(page, '#/object/core/v1/configmaps/default/middle?tab=relations')
    await page.locator('svg.graph').waitFor()
    assert.deepEqual(await page.locator('svg.graph a').allTextContents().then(namesIn), ['leaf-a', 'leaf-b', 'owner'])
    assert.equal(await page.locator('svg.graph .graph-line').count(), 3)
    await goTo(page, '#/object/core/v1/configmaps/default/owner?tab=relations')
    await page.locator('svg.graph a').filter({ hasText: 'middle' }).waitFor()
    assert.deepEqual(await page.locator('svg.graph a').allTextContents().then(namesIn), ['leaf-a', 'leaf-b', 'middle'])
    assert.equal(await page.locator('svg.graph .graph-line').count(), 3)
    await page.locator('svg.graph a').filter({ hasText: 'leaf-b' }).press('Enter')
    await page.getByRole('heading', { name: 'leaf-b' }).waitFor()
  })

  test('the console page for health shows live charts, including the size of the store on disk', async () => {
    const onDisk = await serve(shared, ['--history-duration=10m'])
    const other = await browser.open(`${onDisk.url}/console/`)
    await signIn(other)
    await other.getByText('Ready', { exact: true }).waitFor()
    await other.getByRole('img', { name: /^Store size: .* [\d.]+ [KM]iB$/ }).waitFor()
    for (const title of ['Requests per second', 'Latency', 'Watchers: ', 'Event loop delay (99 %)'])
      await other.getByRole('img', { name: title }).waitFor()
    await other.getByRole('img', { name: /reads (?!0,)[\d.]+/ }).waitFor()
    await other.context().close()
  })
})

function namesIn(texts: readonly string[]): string[] {
  return texts.map((text) => /owner$|middle$|leaf-.$/.exec(text)?.[0] ?? text).sort()
}

const object = '#/object/core/v1/configmaps/default/middle'
const work = workPages.map((each) => `#/operations/${each}`)
const tabs = ['overview', 'yaml', 'form', 'relations', 'history'].map((each) => `${object}?tab=${each}`)

describe('every page of the console', { timeout }, () => {
  test('axe finds no accessibility violations on any console page in wide and narrow windows with light and dark themes', async () => {
    for (const width of [1400, 400])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        for (const place of ['#/', '#/list/core/v1/configmaps', ...tabs, ...work]) {
          await goTo(page, place)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.locator('.loading').waitFor({ state: 'detached' })
          assert.deepEqual(await accessibilityFaults(page), [], `${place} in ${colorScheme}, ${width} pixels`)
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          assert.ok(Number(overflow) <= 0, `${place} is ${overflow} pixels wider than ${width}`)
        }
      }
    await page.setViewportSize({ width: 1400, height: 900 })
  })

  test('every control of a console page can be reached with Tab', async () => {
    for (const place of ['#/', '#/list/core/v1/configmaps', ...tabs, ...work]) {
      await goTo(page, place)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('.loading').waitFor({ state: 'detached' })
      assert.deepEqual(await unreachableByTab(page), [], place)
    }
  })

  test('all console steps from the sign-in to a deletion can be performed with the keyboard alone', async () => {
    await create(`${inDefault}/configmaps`, { metadata: { name: 'typed' } })
    const other = await browser.open(`${server.url}/console/`)
    await other.keyboard.press('Tab')
    await other.keyboard.type('admin-token')
    await other.keyboard.press('Enter')
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.keyboard.press('Control+k')
    await other.getByLabel('Jump to', { exact: true }).waitFor()
    await other.keyboard.type('cm default/typed')
    await other.getByRole('option').first().waitFor()
    await other.keyboard.press('Enter')
    await other.getByRole('tab', { name: 'Overview' }).waitFor()
    await other.getByRole('heading', { name: 'typed', exact: true }).waitFor()
    // The title has the focus, and the button is next in the tab order.
    await other.keyboard.press('Tab')
    await other.keyboard.press('Enter')
    await other.getByRole('dialog').waitFor()
    await pressUntilFocused(other, 'Delete')
    await other.keyboard.press('Enter')
    await other.getByText('This object has been deleted').waitFor()
    await other.context().close()
  })
})

/** Presses Tab until a button with this text has the focus. */
async function pressUntilFocused(on: Page, text: string): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await on.keyboard.press('Tab')
    if ((await on.evaluate('document.activeElement.textContent')) === text) return
  }
  assert.fail(`${text} is not reached`)
}

describe('signing in to the console', { timeout }, () => {
  test("a user can sign in to the console with the browser's client certificate", async () => {
    const { certificate, key } = pairOf(server, 'admin')
    const other = await browser.open(`${server.url}/console/`, {
      clientCertificates: [{ origin: server.url, cert: Buffer.from(certificate), key: Buffer.from(key) }],
    })
    await other.getByRole('button', { name: 'Use the client certificate of this browser' }).press('Enter')
    await other.getByText('orch-admin').waitFor()
    await goTo(other, '#/list/core/v1/configmaps?namespace=default')
    await other.getByText('Live').waitFor()
    await other.context().close()
  })

  test('signing in to the console without a certificate shows an error', async () => {
    const other = await browser.open(`${server.url}/console/`)
    await other.getByRole('button', { name: 'Use the client certificate of this browser' }).press('Enter')
    await other.getByText('That did not work').waitFor()
    browser.takeFaults()
    await other.context().close()
  })

  test('the console sign-in link of a server with several workers can be used only once, on any of the workers', async () => {
    const many = await startUp(shared, ['--workers=2', '--console-link=true'])
    const [, link] = /See: {2}(\S+)/.exec(many.output())!
    const other = await browser.open(link!)
    await other.getByText('orch-admin').waitFor()
    await goTo(other, '#/list/core/v1/configmaps?namespace=default')
    await other.getByText('Live').waitFor()
    const secret = /#link=(.*)/.exec(link!)![1]
    const again = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const headers = { authorization: `Link ${secret}` }
        return (await many.client().send('/console/session', { method: 'POST', headers })).status
      }),
    )
    assert.deepEqual(new Set(again), new Set([401]))
    await other.context().close()
  })
})

describe('events during a console session', { timeout }, () => {
  test('when the credentials expire, the console reports this and continues after the next sign-in', async () => {
    await create(`${inDefault}/serviceaccounts`, { metadata: { name: 'guest' } })
    const { status } = await create(`${inDefault}/serviceaccounts/guest/token`, {})
    const other = await browser.open(`${server.url}/console/`)
    await signIn(other, status.token)
    await goTo(other, '#/operations/quotas')
    await other.getByText('You may not do this').waitFor()
    await admin.delete(`${inDefault}/serviceaccounts/guest`)
    await other.getByText('Your session has ended').waitFor({ timeout: 60_000 })
    await signIn(other)
    await other.getByRole('heading', { name: 'Quotas' }).waitFor()
    browser.takeFaults()
    await other.context().close()
  })

  test('after a watch falls behind, the console lists the objects again and resumes live updates', async () => {
    await goTo(page, '#/list/core/v1/configmaps?namespace=default')
    await page.getByText('Live').waitFor()
    const lists: string[] = []
    page.on('response', (response) => {
      if (/configmaps\?/.test(response.url())) lists.push(`${response.status()} ${response.url()}`)
    })
    await page.context().setOffline(true)
    await server.stop()
    await page.getByText('Reconnecting').waitFor()
    await server.restart()
    admin = server.client()
    await create(`${inDefault}/configmaps`, { metadata: { name: 'meanwhile' } })
    await admin.delete(`${inDefault}/configmaps/leaf-a`)
    // The version that the page would request is compacted in the store and missing from the caches of a restarted
    // server.
    await server.store.compact(await server.store.revision())
    await server.restart()
    admin = server.client()
    await page.context().setOffline(false)
    await page.getByText('Live').waitFor()
    await page.getByRole('link', { name: 'meanwhile' }).waitFor()
    await page.getByRole('link', { name: 'leaf-a' }).waitFor({ state: 'detached' })
    assert.ok(
      lists.some((line) => line.startsWith('410') || /limit=500/.test(line)),
      lists.join('\n'),
    )
    await create(`${inDefault}/configmaps`, { metadata: { name: 'afterwards' } })
    await page.getByRole('link', { name: 'afterwards' }).waitFor()
    browser.takeFaults()
  })

  test('the console reports that the kind of an open object was removed', async () => {
    const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
    const definition = {
      metadata: { name: 'gears.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gears', kind: 'Gear' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }
    await create(definitions, definition)
    await goTo(page, '#/list/example.com/v1/gears')
    await page.getByRole('heading', { name: 'Gear', exact: true }).waitFor()
    const gear = { apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'first' } }
    await create('/apis/example.com/v1/namespaces/default/gears', gear)
    await page.getByRole('link', { name: 'first' }).press('Enter')
    await page.getByRole('tab', { name: 'Overview' }).waitFor()
    await admin.delete(`${definitions}/gears.example.com`)
    await page.getByText('The server does not serve gears').waitFor({ timeout: 60_000 })
    await create(definitions, definition)
    await page.getByText('There is no such object').waitFor()
    browser.takeFaults()
  })

  test('each console page shows a user with few permissions which permissions are missing', async () => {
    const role = {
      metadata: { name: 'own' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['resourcequotas'] }],
    }
    const paths = `/apis/${rbac.apiGroup}/v1/namespaces/small`
    await create(`${paths}/roles`, role)
    await create(`${paths}/rolebindings`, {
      metadata: { name: 'own' },
      roleRef: { ...rbac, kind: 'Role', name: 'own' },
      subjects: [{ ...rbac, kind: 'User', name: 'bob' }],
    })
    const other = await browser.open(`${server.url}/console/`)
    await signIn(other, 'bob-token')
    for (const place of ['#/', ...work.filter((each) => !/access/.test(each)), '#/list/core/v1/pods']) {
      await goTo(other, place)
      const refusal = other.getByRole('status').filter({ hasText: 'You may not do this' }).first()
      await refusal.getByRole('button', { name: 'Why?' }).press('Enter')
      await refusal.getByText('The smallest rule that would allow it').waitFor()
      await refusal.getByText('Ask an administrator for the smallest rule').waitFor()
      assert.deepEqual(await accessibilityFaults(other), [], place)
    }
    await goTo(other, '#/operations/quotas')
    // Select a namespace repeatedly until the server denies the list of namespaces.
    await other.getByRole('textbox', { name: 'Namespace' }).fill('small')
    await other.getByRole('textbox', { name: 'Namespace' }).press('Enter')
    const refusal = other.getByRole('status').filter({ hasText: 'in the namespace "small"' })
    await refusal.getByRole('button', { name: 'Why?' }).press('Enter')
    await refusal.getByText('verbs: [get] apiGroups: [""] resources: [resourcequotas]: it lacks verb').waitFor()
    await patch(`${paths}/roles/own`, { rules: [{ ...role.rules[0], verbs: ['get', 'list', 'watch'] }] })
    await other.getByText('small / few').waitFor({ timeout: 30_000 })
    await goTo(other, '#/operations/access')
    await other.getByRole('button', { name: 'May they, and why?' }).press('Enter')
    await other.getByText('Not allowed').waitFor()
    await other.getByRole('button', { name: 'Who can?' }).press('Enter')
    await other.getByText('cannot create resource "whocans"').waitFor()
    browser.takeFaults()
    await other.context().close()
  })
})
