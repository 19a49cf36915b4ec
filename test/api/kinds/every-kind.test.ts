/**
 * Tests the lifecycle of an object of every stored kind and version. With one profile, the test covers all kinds. With
 * the other profile, it covers some kinds, or all kinds in the long variant. The test creates, reads, lists and prints
 * the object in a table, changes it with a PUT and every patch type, writes its status and deletes it. A watch must
 * report all changes.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { apiVersionOf, type ProfileName, vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import type { Answer, HttpClient, WatchEvent } from '../../support/http-client.ts'
import { serveUp } from '../../support/in-process.ts'
import { someOf } from '../../support/long.ts'
import { manifestNames, manifestObject, manifestOf } from '../../support/manifests.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const storedKinds = allKinds.filter(({ lifecycle: life }) => !life.virtual)

test('every stored kind has a manifest', () => {
  assert.deepEqual(
    storedKinds.map(manifestOf).filter((id) => !manifestNames.includes(id)),
    [],
  )
})

for (const profile of ['orch', 'kubernetes'] as const)
  describe(`every kind is served under the profile ${profile}`, { concurrency: 4 }, async () => {
    // The server runs the control loops, because some objects are deleted only by a loop.
    const client = (await serveUp({ after }, [`--profile=${profile}`])).client()
    const ids = [...new Set(storedKinds.map(manifestOf))]
    for (const id of profile === 'orch' ? ids : someOf(ids, 6))
      test(id, { timeout: 300_000 }, async () => {
        // The test of each version runs after the test of the previous version, because all versions use the same
        // object.
        for (const kind of storedKinds.filter((each) => manifestOf(each) === id)) await live({ client, profile, kind })
      })
  })

interface Case {
  readonly client: HttpClient
  readonly profile: ProfileName
  readonly kind: Kind
}

async function live(at: Case): Promise<void> {
  const { client, kind } = at
  const collection = collectionOf(at)
  const sent = await newObject(at)
  const name = sent.metadata.name!
  const path = `${collection}/${name}`
  const { body: list } = await client.get(collection)
  const seen = follow(client, `${collection}?watch=1&resourceVersion=${list.metadata.resourceVersion}`, name)

  const created = ok(await client.post(collection, sent), 201)
  assert.equal(created.body.apiVersion, sent.apiVersion)
  assert.equal(created.body.kind, kind.kind)
  assert.equal(ok(await client.get(path)).body.metadata.uid, created.body.metadata.uid)
  assert.ok(ok(await client.get(collection)).body.items.some((one: ApiObject) => one.metadata.name === name))
  await assertRow(client, collection, name)
  for (const [step, change] of changes(at, path)) assert.equal((await change(step)).body.metadata.labels.step, step)
  if (kind.views.subresources?.status) await writeStatus(client, `${path}/status`)
  ok(await client.delete(path, { propagationPolicy: 'Background', gracePeriodSeconds: 0 }))
  assertHistory(
    await seen,
    changes(at, path).map(([step]) => step),
  )
  assert.equal((await client.get(path)).status, 404)
}

function collectionOf({ profile, kind }: Case): string {
  const apiVersion = apiVersionOf(vendorOf(profile), kind.group, kind.version)
  const root = kind.group === 'core' ? '/api' : '/apis'
  return `${root}/${apiVersion}${kind.scope === 'Cluster' ? '' : '/namespaces/default'}/${kind.plural}`
}

/**
 * Returns the object from the manifest in the API version of the kind. If the manifest contains another version, the
 * server converts the object: the function creates it, reads it back in the version of the kind, and deletes it.
 */
async function newObject(at: Case): Promise<ApiObject> {
  const { client, profile, kind } = at
  const written = manifestObject(manifestOf(kind), profile)
  const apiVersion = apiVersionOf(vendorOf(profile), kind.group, kind.version)
  if (written.apiVersion === apiVersion) return written
  const writtenIn = storedKinds.find(
    (each) =>
      manifestOf(each) === manifestOf(kind) &&
      apiVersionOf(vendorOf(profile), each.group, each.version) === written.apiVersion,
  )!
  const there = collectionOf({ ...at, kind: writtenIn })
  const name = written.metadata.name!
  ok(await client.post(there, written), 201)
  const { status: _, ...shown } = ok(await client.get(`${collectionOf(at)}/${name}`)).body
  const { body: list } = await client.get(there)
  const gone = follow(client, `${there}?watch=1&resourceVersion=${list.metadata.resourceVersion}`, name)
  ok(await client.delete(`${there}/${name}`, { propagationPolicy: 'Background', gracePeriodSeconds: 0 }))
  await gone
  return { ...shown, metadata: { name, labels: written.metadata.labels ?? {} } }
}

type Change = (step: string) => Promise<Answer>

/** Returns all methods of setting the label `step`: a PUT and each type of patch that the kind supports. */
function changes({ client, kind, profile }: Case, path: string): [string, Change][] {
  const patch = async (type: string, body: unknown, query = '') => {
    const headers = { 'content-type': `application/${type}` }
    return ok(await client.send(`${path}${query}`, { method: 'PATCH', body, headers }))
  }
  const apiVersion = apiVersionOf(vendorOf(profile), kind.group, kind.version)
  const labeled = (step: string) => ({ metadata: { labels: { step } } })
  const strategic: Change = (step) => patch('strategic-merge-patch+json', labeled(step))
  return [
    ['put', (step) => put(client, path, step)],
    ['merge', (step) => patch('merge-patch+json', labeled(step))],
    ['json', (step) => patch('json-patch+json', [{ op: 'add', path: '/metadata/labels/step', value: step }])],
    ...(kind.lifecycle.strategicPatch === false ? [] : [['strategic', strategic] as [string, Change]]),
    ['apply', (step) => patch('apply-patch+yaml', { apiVersion, kind: kind.kind, ...labeled(step) }, applying)],
  ]
}

const applying = '?fieldManager=tester&force=true'

/** Sets the label with a PUT. Retries conflicts, because a control loop may write the object at the same time. */
async function put(client: HttpClient, path: string, step: string): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const { body } = ok(await client.get(path))
    body.metadata.labels = { ...body.metadata.labels, step }
    const answer = await client.put(path, body)
    if (answer.status !== 409 || tries === 10) return ok(answer)
  }
}

async function writeStatus(client: HttpClient, path: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const { body } = ok(await client.get(path))
    const answer = await client.put(path, body)
    if (answer.status === 409 && tries < 10) continue
    assert.deepEqual(ok(answer).body.status, body.status)
    return
  }
}

async function assertRow(client: HttpClient, collection: string, name: string): Promise<void> {
  const accept = 'application/json;as=Table;g=meta.orch.io;v=v1,application/json;as=Table;g=meta.k8s.io;v=v1'
  const { body } = ok(await client.get(collection, { accept }))
  assert.equal(body.kind, 'Table')
  const row = body.rows.find(({ object }: { object: ApiObject }) => object.metadata.name === name)
  assert.equal(row?.cells.length, body.columnDefinitions.length)
}

/** Returns the events of one object up to its deletion. */
async function follow(client: HttpClient, path: string, name: string): Promise<WatchEvent[]> {
  const stop = new AbortController()
  const seen: WatchEvent[] = []
  for await (const event of client.watch(path, stop.signal)) {
    if (event.object.metadata.name !== name) continue
    seen.push(event)
    if (event.type === 'DELETED') stop.abort()
  }
  return seen
}

function assertHistory(seen: readonly WatchEvent[], steps: readonly string[]): void {
  assert.equal(seen[0]!.type, 'ADDED')
  assert.equal(seen.at(-1)!.type, 'DELETED')
  const told = seen.slice(1, -1)
  assert.ok(told.every(({ type }) => type === 'MODIFIED'))
  assert.deepEqual([...new Set(told.map(({ object }) => object.metadata.labels?.step))].filter(Boolean), steps)
}

function ok(answer: Answer, status = 200): Answer {
  assert.equal(answer.status, status, answer.text.slice(0, 2000))
  return answer
}
