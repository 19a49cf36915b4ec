/**
 * Creates the objects of the fixtures through the API: one object of every kind, custom resources with their
 * definition, objects with a history, an encrypted Secret, and objects near the size limits. All of them have the label
 * `fixture`.
 */
import assert from 'node:assert/strict'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { groupName, vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { manifestObject, manifestOf } from '../../support/manifests.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const vendor = vendorOf('orch')
const labels = { fixture: 'yes' }
export const namespace = 'fixture'
const core = `/api/v1/namespaces/${namespace}`
const boxes = `/apis/example.com/v1/namespaces/${namespace}/boxes`

/**
 * Kinds without an object in the fixtures. Events expire. Certificate requests, and the data that servers store with
 * APIServices, contain certificates, which must not be committed. Webhooks would be called by every server that opens a
 * fixture.
 */
const leftOut = new Set([
  'Event',
  'CertificateSigningRequest',
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
])

/** The kinds of the server that writes the fixtures. */
export const fixtureKinds: readonly Kind[] = allKinds.filter(({ kind }) => kind !== 'APIService')

/** Creates all fixture objects. */
export async function createObjects(client: HttpClient): Promise<void> {
  await create(client, '/api/v1/namespaces', { metadata: { name: namespace, labels } })
  await create(client, `${core}/serviceaccounts`, { metadata: { name: 'default', labels } })
  await createEveryKind(client)
  await createCustomResources(client)
  await createHistories(client)
  await createLargeObjects(client)
  const data = { password: Buffer.from('fixture').toString('base64') }
  await create(client, `${core}/secrets`, { metadata: { name: 'encrypted', labels }, data })
  await createTerminating(client)
}

async function create(client: HttpClient, path: string, object: object) {
  const answer = await client.post(path, object)
  assert.equal(answer.status, 201, `${path}: ${answer.text.slice(0, 500)}`)
  return answer.body
}

async function createEveryKind(client: HttpClient): Promise<void> {
  const stored = allKinds.filter(({ lifecycle: life, kind }) => !life.virtual && !leftOut.has(kind))
  const first = new Map(stored.toReversed().map((kind) => [manifestOf(kind), kind]))
  for (const [name, kind] of [...first].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const object = manifestObject(name, 'orch')
    const path = collectionOf(kind, object)
    await create(client, path, withLabels(object, kind.scope === 'Namespaced' ? { namespace } : {}))
  }
}

function withLabels(object: ApiObject, more: object): object {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, ...more, labels: { ...metadata.labels, ...labels } } }
}

function collectionOf({ group, plural, scope }: Kind, { apiVersion = '' }: ApiObject): string {
  const version = apiVersion.split('/').at(-1)!
  const api = group === 'core' ? '/api/v1' : `/apis/${groupName(vendor, group)}/${version}`
  return `${api}${scope === 'Namespaced' ? `/namespaces/${namespace}` : ''}/${plural}`
}

async function createCustomResources(client: HttpClient): Promise<void> {
  const text = { type: 'string' }
  const spec = { type: 'object', properties: { size: { type: 'integer', minimum: 1, default: 3 }, content: text } }
  const status = { type: 'object', properties: { phase: text } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status } } }
  const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }]
  const version = { served: true, schema, subresources: { status: {} }, additionalPrinterColumns: columns }
  const versions = [
    { ...version, name: 'v1', storage: true },
    { ...version, name: 'v1alpha1', storage: false },
  ]
  const names = { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList', shortNames: ['bx'] }
  await create(client, '/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    metadata: { name: 'boxes.example.com', labels },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  })
  const box = (name: string, apiVersion: string, content: string) => ({
    apiVersion,
    kind: 'Box',
    metadata: { name, labels },
    spec: { content },
  })
  await create(client, boxes, box('plain', 'example.com/v1', 'x'))
  await create(client, boxes.replace('v1', 'v1alpha1'), box('older', 'example.com/v1alpha1', 'Grüße, 世界 🎁 \u0000'))
}

async function patch(client: HttpClient, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const answer = await client.send(path, { method: 'PATCH', headers, raw: JSON.stringify(body) })
  assert.equal(answer.status, 200, answer.text)
}

async function createHistories(client: HttpClient): Promise<void> {
  await create(client, `${core}/configmaps`, { metadata: { name: 'changed', labels }, data: { step: '0' } })
  for (const step of ['1', '2', '3'])
    await patch(client, `${core}/configmaps/changed?fieldManager=writer-${step}`, {
      data: { step, [`only-${step}`]: step },
    })
  await patch(client, `${boxes}/plain`, { spec: { size: 7 } })
  await patch(client, `${boxes}/plain/status`, { status: { phase: 'Full' } })
  await create(client, `${core}/configmaps`, { metadata: { name: 'deleted', labels }, data: { step: '0' } })
  assert.equal((await client.delete(`${core}/configmaps/deleted`)).status, 200)
}

const mebibyte = 1024 * 1024

/**
 * Creates ConfigMaps of the maximum size, which by default is also the maximum size of a value in etcd. The texts
 * compress well.
 */
async function createLargeObjects(client: HttpClient): Promise<void> {
  const data = { a: 'x'.repeat(mebibyte / 2), b: 'y'.repeat(mebibyte / 2 - 2) }
  await create(client, `${core}/configmaps`, { metadata: { name: 'large', labels }, data })
  const annotations = { 'example.com/long': 'z'.repeat(256 * 1024 - 'example.com/long'.length) }
  await create(client, `${core}/configmaps`, { metadata: { name: 'annotated', labels, annotations } })
  await create(client, `${core}/configmaps`, { metadata: { name: 'n'.repeat(253), labels } })
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key-${i}`, `${i}`]))
  await create(client, `${core}/configmaps`, { metadata: { name: 'many-keys', labels }, data: many })
  const spec = { content: 'w'.repeat(1_450_000) }
  await create(client, boxes, { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'large', labels }, spec })
}

async function createTerminating(client: HttpClient): Promise<void> {
  const metadata = { name: 'terminating', labels, finalizers: ['example.com/hold'] }
  await create(client, `${core}/configmaps`, { metadata })
  assert.equal((await client.delete(`${core}/configmaps/terminating`)).status, 200)
}
