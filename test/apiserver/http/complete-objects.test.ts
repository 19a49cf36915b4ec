/**
 * Tests that every kind of write stores the same object with all defaults, regardless of the method (create, PUT, a
 * patch of any type or apply), the format (JSON or YAML) and the API version.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

interface Type {
  readonly apiVersion: string
  readonly kind: string
  readonly path: string
  /** The spec of the object. It has only a few fields, so that the server sets many defaults. */
  readonly spec: JsonObject
  /** Another valid spec. Merging the first spec into this spec yields the first spec. */
  readonly before: JsonObject
  /** Returns a field that has a default. */
  readonly filled: (stored: JsonObject) => unknown
}

const template = (image: string) => ({
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image, ports: [{ containerPort: 80 }] }] },
})
const target = { kind: 'ReplicationController', name: 'a' }

const types: readonly Type[] = [
  {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    path: '/api/v1/namespaces/default/replicationcontrollers',
    spec: { template: template('new') },
    before: { template: template('old') },
    filled: ({ spec }) => (spec as JsonObject).selector,
  },
  {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    path: '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
    spec: { scaleTargetRef: target, maxReplicas: 5 },
    before: { scaleTargetRef: target, maxReplicas: 4 },
    filled: ({ spec }) => (spec as JsonObject).minReplicas,
  },
]

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '0a' }
/** A duplicate owner and an unknown field. */
const stated = { metadata: { ownerReferences: [owner, owner] }, stranger: { a: [1] } }

/** Sends the spec, either to update an object that has a different spec or to create a new object. */
type Way = (client: HttpClient, at: string, sent: JsonObject) => Promise<Answer>

const send = (method: string, type: string) => (client: HttpClient, path: string, raw: string) =>
  client.send(path, { method, raw, headers: { 'content-type': type } })
const post = send('POST', 'application/yaml')
const patch = (form: string) => send('PATCH', `application/${form}-patch+json`)
const apply = send('PATCH', 'application/apply-patch+yaml')
const collection = (at: string) => at.slice(0, at.lastIndexOf('/'))
/**
 * Formats the object for apply. Omits the duplicate owner and the unknown field, which apply rejects because an applied
 * field is always intentional.
 */
const applied = ({ stranger: _, metadata, ...sent }: JsonObject) =>
  JSON.stringify({ ...sent, metadata: { ...(metadata as JsonObject), ownerReferences: [owner] } })
const operations = ({ spec, metadata, stranger }: JsonObject) =>
  JSON.stringify([
    { op: 'replace', path: '/spec', value: spec },
    { op: 'add', path: '/metadata/ownerReferences', value: (metadata as JsonObject).ownerReferences },
    { op: 'add', path: '/stranger', value: stranger },
  ])

const creating: { readonly [name: string]: Way } = {
  'create in JSON': (client, at, sent) => client.post(collection(at), sent),
  'create in YAML': (client, at, sent) => post(client, collection(at), JSON.stringify(sent)),
  'apply that creates': (client, at, sent) => apply(client, `${at}?fieldManager=m`, applied(sent)),
}

const changing: { readonly [name: string]: Way } = {
  update: (client, at, sent) => client.put(at, sent),
  'merge patch': (client, at, sent) => patch('merge')(client, at, JSON.stringify(sent)),
  'strategic merge patch': (client, at, sent) => patch('strategic-merge')(client, at, JSON.stringify(sent)),
  'JSON patch': (client, at, sent) => patch('json')(client, at, operations(sent)),
  apply: (client, at, sent) => apply(client, `${at}?fieldManager=m&force=true`, applied(sent)),
}

for (const type of types)
  test(`all write methods store the same object: ${type.kind} ${type.apiVersion}`, async (t) => {
    const server = await serve(t)
    const client = server.client()
    const seen: JsonObject[] = []
    for (const [name, way] of [...Object.entries(creating), ...Object.entries(changing)]) {
      const at = `${type.path}/a`
      const named = { apiVersion: type.apiVersion, kind: type.kind, metadata: { name: 'a' } }
      if (name in changing) assert.equal((await client.post(type.path, { ...named, spec: type.before })).status, 201)
      const sent = { ...named, ...stated, metadata: { name: 'a', ...stated.metadata }, spec: type.spec }
      const { status, text } = await way(client, at, sent)
      assert.ok([200, 201].includes(status), `${name}: ${text}`)
      const { body } = await client.get(at)
      const { ownerReferences } = body.metadata
      seen.push({ spec: body.spec, ownerReferences, stranger: body.stranger })
      assert.deepEqual(seen.at(-1), seen[0], name)
      await client.delete(`${at}?propagationPolicy=Background`)
    }
    assert.notEqual(type.filled(seen[0]!), undefined)
    assert.deepEqual(seen[0]!.ownerReferences, [owner])
    assert.equal(seen[0]!.stranger, undefined)
  })
