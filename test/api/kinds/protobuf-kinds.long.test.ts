/**
 * Tests every stored kind in Protobuf, in every version and both profiles, with a client that is built only from the
 * recorded facts. The client must decode the same object from Protobuf as from JSON. An object sent as Protobuf must be
 * stored in the same way as if it had been sent as JSON. Writing an unchanged object back must change nothing.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { apiVersionOf, type ProfileName, vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { manifestObject } from '../../support/manifests.ts'
import { differencesFromJson, type Loose, ProtobufClient } from '../../support/protobuf-client.ts'
import { hasServerWrittenStatus, readWithStatus } from '../../support/read-with-status.ts'
import { until } from '../../support/until.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const storedKinds = allKinds.filter(({ lifecycle: life }) => !life.virtual)
const home = ({ group }: Kind) => group.split('.')[0]
const idOf = (kind: Kind) => `${home(kind)}.${kind.plural}`
const messageOf = (kind: Kind) => `${home(kind)}.${kind.version}.${kind.kind}`

interface Case {
  readonly client: HttpClient
  readonly protobuf: ProtobufClient
  readonly profile: ProfileName
  readonly kind: Kind
}

for (const profile of ['orch', 'kubernetes'] as const)
  describe(`every kind survives a Protobuf round trip under the profile ${profile}`, async () => {
    const client = (await serve({ after }, [`--profile=${profile}`])).client()
    const protobuf = new ProtobufClient(client, profile)
    await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
    for (const id of new Set(storedKinds.map(idOf)))
      test(id, async () => {
        const versions = storedKinds
          .filter((kind) => idOf(kind) === id)
          .map((kind) => ({ client, protobuf, profile, kind }))
        await bothWays(versions, manifestObject(id, profile))
      })
  })

async function bothWays(versions: readonly Case[], manifest: ApiObject): Promise<void> {
  const written = versions.find((at) => apiVersion(at) === manifest.apiVersion)!
  const name = manifest.metadata.name!
  const asJson = await written.client.post(collection(written), manifest)
  assert.equal(asJson.status, 201, asJson.text)
  const path = `${collection(written)}/${name}`
  const first = await readWithStatus(written.client, written.kind, path)
  for (const at of versions) await readAndWriteBack(at, name)
  await remove(written, name)

  const { protobuf, client } = written
  const document = { document: manifest, message: messageOf(written.kind) }
  const created = await protobuf.send('POST', collection(written), document)
  assert.equal(created.status, 201, created.text)
  const stored = await readWithStatus(client, written.kind, path)
  const [kept, told] = [stored, created].map(({ body }) =>
    hasServerWrittenStatus(written.kind) ? { spec: body.spec } : body,
  )
  assert.deepEqual(differencesFromJson(withoutInnerTypes(kept), told), [])
  assert.deepEqual(withoutIdentity(stored.body), withoutIdentity(first.body))
  await remove(written, name)
}

async function readAndWriteBack(at: Case, name: string): Promise<void> {
  const { client, protobuf, kind } = at
  const path = `${collection(at)}/${name}`
  const message = messageOf(kind)
  const json = (await client.get(path)).body
  const read = await protobuf.get(path, message)
  assert.deepEqual(differencesFromJson(withoutInnerTypes(json), read.body), [])
  assert.deepEqual(
    differencesFromJson(
      withoutInnerTypes((await client.get(collection(at))).body),
      (await protobuf.get(collection(at), `${message}List`)).body,
    ),
    [],
  )
  const back = await protobuf.send('PUT', path, { document: read.body, message })
  assert.equal(back.status, 200, JSON.stringify(back.body))
  assert.deepEqual((await client.get(path)).body, json)
  const partial = await protobuf.get(path, 'meta.v1.PartialObjectMetadata', as(at, 'PartialObjectMetadata'))
  assert.equal(partial.body.kind, 'PartialObjectMetadata')
  assert.deepEqual(differencesFromJson(json.metadata, partial.body.metadata), [])
}

function as({ profile }: Pick<Case, 'profile'>, view: string): string {
  return `;as=${view};g=meta.${vendorOf(profile).groupDomain};v=v1`
}

async function remove(at: Case, name: string): Promise<void> {
  const { protobuf, client, kind } = at
  const path = `${collection(at)}/${name}`
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, propagationPolicy: 'Background' }
  const sent = { document: options, message: 'meta.v1.DeleteOptions', answered: messageOf(kind) }
  const { status, body } = await protobuf.send('DELETE', path, sent)
  assert.equal(status, 200, JSON.stringify(body))
  // The server deletes a definition after it has deleted the objects of the kind.
  const isDone = ({ status }: Answer) => kind.kind !== 'CustomResourceDefinition' || status !== 200
  const left = await until(() => client.get(path), isDone)
  if (left.status === 404) return
  // The object still has finalizers, which no control loop removes in this test.
  const spec = kind.kind === 'Namespace' ? '/finalize' : ''
  const { body: held } = left
  const freed = { ...held, metadata: { ...held.metadata, finalizers: [] }, ...(spec === '' ? {} : { spec: {} }) }
  assert.equal((await client.put(`${path}${spec}`, freed)).status, 200)
  assert.equal((await client.get(path)).status, 404)
}

function apiVersion({ profile, kind }: Case): string {
  return apiVersionOf(vendorOf(profile), kind.group, kind.version)
}

function collection(at: Case): string {
  const { kind } = at
  const root = kind.group === 'core' ? '/api' : '/apis'
  return `${root}/${apiVersion(at)}${kind.scope === 'Cluster' ? '' : '/namespaces/default'}/${kind.plural}`
}

/** Masks the values that differ between otherwise equal objects: names, UIDs, times and allocated values. */
function withoutIdentity(object: Loose): Loose {
  const text = JSON.stringify(object)
    .replaceAll(object.metadata.uid, 'UID')
    .replaceAll(/"(?:time|creationTimestamp|lastTransitionTime|resourceVersion)":"[^"]*"/g, '"when":""')
    .replaceAll(/"\d+\.\d+\.\d+\.\d+"/g, '"ADDRESS"')
    .replaceAll(/"nodePort":\d+/g, '"nodePort":0')
  const { metadata, ...rest } = JSON.parse(text)
  // Sorts the managers by name, because the order in the object depends on the times of their writes.
  const managedFields = metadata.managedFields?.toSorted((a: Loose, b: Loose) => (a.manager < b.manager ? -1 : 1))
  return { ...rest, metadata: { ...metadata, managedFields } }
}

/**
 * Removes apiVersion and kind from nested objects. In Protobuf, only the envelope contains them, so the claim templates
 * of a StatefulSet have neither.
 */
function withoutInnerTypes({ apiVersion, kind, ...rest }: Loose): Loose {
  const dropped = (key: string, value: Loose) => (key === 'apiVersion' || key === 'kind' ? undefined : value)
  const { spec, items } = rest
  const templates = spec?.volumeClaimTemplates
  if (items !== undefined) return { apiVersion, kind, ...rest, items: items.map(withoutInnerTypes) }
  if (templates === undefined) return { apiVersion, kind, ...rest }
  const volumeClaimTemplates = JSON.parse(JSON.stringify(templates, dropped))
  return { apiVersion, kind, ...rest, spec: { ...spec, volumeClaimTemplates } }
}
