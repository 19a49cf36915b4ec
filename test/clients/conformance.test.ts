/**
 * Tests the behavior that the Kubernetes conformance tests require of any API server, to the extent that it applies
 * here: API machinery, ConfigMaps, Secrets, Events, PodTemplates, certificates and namespaces. The tests are written
 * independently and use the names of the kubernetes profile.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { requestPem } from '../api/pki/encode.ts'
import type { WatchEvent } from '../support/http-client.ts'
import { serveUp } from '../support/in-process.ts'
import { withoutRootCa } from '../support/server.ts'

const server = await serveUp({ after }, ['--profile=kubernetes', withoutRootCa])
const client = server.client()

/** Creates a separate namespace for a test. */
async function newNamespace(name: string): Promise<string> {
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name } })).status, 201)
  return `/api/v1/namespaces/${name}`
}

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any object
async function done(method: string, path: string, body?: unknown, type?: string): Promise<any> {
  const headers = type === undefined ? {} : { 'content-type': `application/${type}` }
  const { status, text } = await client.send(path, { method, headers, ...(body === undefined ? {} : { body }) })
  assert.ok(status < 300, `${method} ${path}: ${status} ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

/** Returns the first `count` events of a watch, as `TYPE name`. */
async function eventTexts(path: string, count: number): Promise<string[]> {
  const events: WatchEvent[] = []
  const enough = new AbortController()
  const patience = AbortSignal.any([enough.signal, AbortSignal.timeout(60_000)])
  for await (const event of client.watch(path, patience)) if (events.push(event) === count) break
  enough.abort()
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`)
}

const merge = 'merge-patch+json'

test('a watch with a label selector reports objects that begin to match, change, or no longer match', async () => {
  const maps = `${await newNamespace('labels')}/configmaps`
  const { metadata } = await done('GET', maps)
  const from = (selector: string, count: number) =>
    eventTexts(
      `${maps}?watch=1&resourceVersion=${metadata.resourceVersion}&labelSelector=${encodeURIComponent(selector)}`,
      count,
    )
  const views = Promise.all([from('view=a', 4), from('view=b', 2), from('view in (a,b)', 4)])
  await done('POST', maps, { metadata: { name: 'm', labels: { view: 'a' } } })
  await done('PATCH', `${maps}/m`, { data: { k: '1' } }, merge)
  await done('PATCH', `${maps}/m`, { metadata: { labels: { view: 'b' } } }, merge)
  await done('DELETE', `${maps}/m`)
  await done('POST', maps, { metadata: { name: 'm', labels: { view: 'a' } } })
  assert.deepEqual(await views, [
    ['ADDED m', 'MODIFIED m', 'DELETED m', 'ADDED m'],
    ['ADDED m', 'DELETED m'],
    ['ADDED m', 'MODIFIED m', 'MODIFIED m', 'DELETED m'],
  ])
})

test('a watch from a resourceVersion reports all later events, even after a disconnect', async () => {
  const maps = `${await newNamespace('resumed')}/configmaps`
  await done('POST', maps, { metadata: { name: 'm' } })
  const first = await done('PATCH', `${maps}/m`, { data: { k: '1' } }, merge)
  await done('PATCH', `${maps}/m`, { data: { k: '2' } }, merge)
  await done('DELETE', `${maps}/m`)
  const path = `${maps}?watch=1&resourceVersion=${first.metadata.resourceVersion}`
  assert.deepEqual(await eventTexts(path, 1), ['MODIFIED m'])
  assert.deepEqual(await eventTexts(path, 2), ['MODIFIED m', 'DELETED m'])
})

test('watches from different resourceVersions report the remaining events in the same order', async () => {
  const maps = `${await newNamespace('order')}/configmaps`
  const versions = [(await done('GET', maps)).metadata.resourceVersion]
  for (let i = 0; i < 10; i++) {
    const { metadata } = await done('POST', maps, { metadata: { name: `m-${i}` } })
    versions.push(metadata.resourceVersion)
  }
  const all = versions.slice(0, -1).map((_, i) => `ADDED m-${i}`)
  const rests = versions
    .slice(0, -1)
    .map((version, i) => eventTexts(`${maps}?watch=1&resourceVersion=${version}`, 10 - i))
  assert.deepEqual(
    await Promise.all(rests),
    all.map((_, i) => all.slice(i)),
  )
})

test('all pages of a list belong to one consistent snapshot', async () => {
  const templates = `${await newNamespace('parts')}/podtemplates`
  const names = Array.from({ length: 40 }, (_, i) => `template-${String(i).padStart(4, '0')}`)
  const spec = { containers: [{ name: 'c', image: 'example.com/c:1' }] }
  await Promise.all(names.map((name) => done('POST', templates, { metadata: { name }, template: { spec } })))
  const listedNames: string[] = []
  const versions = new Set<string>()
  let remaining = names.length
  for (let token = ''; listedNames.length === 0 || token !== ''; ) {
    const { metadata, items } = await done('GET', `${templates}?limit=17&continue=${token}`)
    listedNames.push(...items.map((item: { metadata: { name: string } }) => item.metadata.name))
    remaining -= items.length
    versions.add(metadata.resourceVersion)
    assert.equal(metadata.remainingItemCount ?? 0, remaining)
    token = encodeURIComponent(metadata.continue ?? '')
  }
  assert.deepEqual(listedNames, names)
  assert.equal(versions.size, 1)
})

for (const plural of ['configmaps', 'secrets']) {
  test(`${plural} can be created, patched, listed by label in all namespaces and deleted as a collection`, async () => {
    const home = `${await newNamespace(`life-of-${plural}`)}/${plural}`
    const labels = { life: plural }
    const made = await done('POST', home, { metadata: { name: 'one', labels }, data: { k: 'dmFsdWU=' } })
    const patched = await done(
      'PATCH',
      `${home}/one`,
      { metadata: { labels: { patched: 'yes' } }, data: { k: 'bmV3' } },
      merge,
    )
    assert.deepEqual([patched.metadata.uid, patched.data], [made.metadata.uid, { k: 'bmV3' }])
    assert.deepEqual(patched.metadata.labels, { ...labels, patched: 'yes' })
    const everywhere = `/api/v1/${plural}?labelSelector=${encodeURIComponent(`life=${plural},patched`)}`
    assert.equal((await done('GET', everywhere)).items.length, 1)
    await done('DELETE', `${home}?labelSelector=life%3D${plural}`)
    assert.equal((await done('GET', everywhere)).items.length, 0)
  })

  test(`immutable ${plural} cannot be changed and must be deleted first`, async () => {
    const home = `${await newNamespace(`fixed-${plural}`)}/${plural}`
    await done('POST', home, { metadata: { name: 'fixed' }, data: { k: 'dg==' } })
    await done('PATCH', `${home}/fixed`, { data: { k: 'dw==' }, immutable: true }, merge)
    for (const change of [{ data: { k: 'eA==' } }, { immutable: false }, { data: { more: 'eA==' } }]) {
      const { status, body } = await client.send(`${home}/fixed`, {
        method: 'PATCH',
        headers: { 'content-type': `application/${merge}` },
        body: change,
      })
      assert.deepEqual([status, body.reason], [422, 'Invalid'], JSON.stringify(change))
    }
    await done('PATCH', `${home}/fixed`, { metadata: { labels: { still: 'so' } } }, merge)
    await done('DELETE', `${home}/fixed`)
  })
}

test('Events can be created, updated, listed by field and deleted as a collection', async () => {
  const name = 'happenings'
  const events = `${await newNamespace(name)}/events`
  const involvedObject = { kind: 'ConfigMap', name: 'm', namespace: name }
  for (const [i, reason] of ['Seen', 'Seen', 'Gone'].entries())
    await done('POST', events, {
      metadata: { name: `e-${i}`, labels: { of: 'm' } },
      involvedObject,
      reason,
      message: 'x',
    })
  await done('PATCH', `${events}/e-0`, { message: 'changed' }, merge)
  assert.equal((await done('GET', `${events}/e-0`)).message, 'changed')
  const seen = await done('GET', `${events}?fieldSelector=${encodeURIComponent('reason=Seen,involvedObject.name=m')}`)
  assert.equal(seen.items.length, 2)
  await done('DELETE', `${events}?labelSelector=of%3Dm`)
  assert.equal((await done('GET', events)).items.length, 0)
})

test('certificate signing requests can be watched, annotated, approved and deleted, and their status can be updated', async () => {
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const spec = {
    request: Buffer.from(requestPem()).toString('base64'),
    signerName: 'example.com/signer',
    usages: ['digital signature', 'client auth'],
  }
  const made = await done('POST', requests, { metadata: { name: 'r', labels: { of: 'conformance' } }, spec })
  const path = `${requests}?watch=1&resourceVersion=${made.metadata.resourceVersion}`
  const watched = eventTexts(path, 4)
  await done('PATCH', `${requests}/r`, { metadata: { annotations: { patched: 'yes' } } }, merge)
  const condition = (type: string) => ({ type, status: 'True', reason: 'Tried', message: 'by a test' })
  const approved = await done(
    'PATCH',
    `${requests}/r/approval`,
    { status: { conditions: [condition('Approved')] } },
    merge,
  )
  assert.equal(approved.status.conditions[0].type, 'Approved')
  const failed = await done('GET', `${requests}/r/status`)
  failed.status.conditions.push(condition('StatusUpdate'))
  await done('PUT', `${requests}/r/status`, failed)
  await done('DELETE', `${requests}?labelSelector=of%3Dconformance`)
  assert.deepEqual(await watched, ['MODIFIED r', 'MODIFIED r', 'MODIFIED r', 'DELETED r'])
})

test('deleting a namespace deletes all its objects', async () => {
  const home = await newNamespace('goes')
  await done('PATCH', home, { metadata: { labels: { patched: 'yes' } } }, merge)
  for (const plural of ['configmaps', 'secrets'])
    await done('POST', `${home}/${plural}`, { metadata: { name: 'inside' } })
  const gone = eventTexts(`/api/v1/namespaces?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dgoes`, 4)
  await done('DELETE', home)
  assert.equal((await gone).at(-1), 'DELETED goes')
  for (const plural of ['configmaps', 'secrets'])
    assert.equal((await client.get(`${home}/${plural}/inside`)).status, 404, plural)
})

test('the preferred version of every group is served and lists its resources', async () => {
  const { groups } = await done('GET', '/apis')
  for (const { name, versions, preferredVersion } of groups) {
    const served = versions.map(({ groupVersion }: { groupVersion: string }) => groupVersion)
    assert.ok(served.includes(preferredVersion.groupVersion), name)
    for (const groupVersion of served) assert.ok((await done('GET', `/apis/${groupVersion}`)).resources.length > 0)
  }
})

test('kinds with printer columns are served as tables, and unsupported table versions are rejected', async () => {
  const accept = (as: string) => ({ accept: `application/json;as=${as};v=v1;g=meta.k8s.io` })
  const { body } = await client.get('/api/v1/namespaces/default/pods', accept('Table'))
  assert.deepEqual([body.kind, body.apiVersion], ['Table', 'meta.k8s.io/v1'])
  assert.ok(body.columnDefinitions.length > 2)
  assert.equal((await client.get('/api/v1/namespaces/default/pods', accept('Nonsense'))).status, 406)
})
