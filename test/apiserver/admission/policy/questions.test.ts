/**
 * Tests the data that policies request from other parts of the server: permissions with selectors, and parameters on
 * which the write depends.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EachQuery, Lookup, StoredObject } from '../../../../src/api/model/lookup.ts'
import type { AdmissionRequest } from '../../../../src/apiserver/admission/admission.ts'
import { askerFor } from '../../../../src/apiserver/admission/policy/ask-authorizer.ts'
import { type ParameterType, parametersOf } from '../../../../src/apiserver/admission/policy/parameters.ts'
import { allow, type Question } from '../../../../src/apiserver/authz/authorizer.ts'

const user = { name: 'u', uid: '', groups: [], extra: new Map() }

test('the selectors of an authorization check are passed to the authorizer', () => {
  const questions: Question[] = []
  const ask = askerFor(user, (question) => {
    questions.push(question)
    return allow
  })
  const check = { group: '', resource: 'pods', subresource: '', namespace: 'a', name: '', verb: 'list' }
  ask({ ...check, fieldSelector: 'spec.nodeName=n', labelSelector: 'x in (y)' })
  ask(check)
  const [selected, all] = questions.map(({ attributes }) =>
    attributes.resource ? attributes.selectors?.() : undefined,
  )
  assert.deepEqual(selected?.fields, [{ path: 'spec.nodeName', equal: true, value: 'n' }])
  assert.equal(selected?.labels.length, 1)
  assert.equal(all, undefined)
})

const type: ParameterType = { stored: { group: 'core', plural: 'configmaps' }, group: '', namespaced: true }
const kind = { apiVersion: 'v1', kind: 'ConfigMap' }

function stored(name: string, labels = {}): StoredObject {
  return { key: name, revision: 7, object: { metadata: { name, namespace: 'a', labels } } } as unknown as StoredObject
}

/** Returns the names of the parameters, and the keys on which the write depends. */
async function parameters(ref: object, name: string) {
  const objects = [stored('one', { role: 'p' }), stored('two', { role: 'p' }), stored('three')]
  const find = (_: unknown, wanted: { name: string }) => objects.find(({ key }) => key === wanted.name)
  // This cache does not contain `three`, which another server has just created.
  const lookup = {
    getCached: (_: unknown, wanted: { name: string }) => (wanted.name === 'three' ? undefined : find(_, wanted)),
    getLatest: find,
    waitUntilCurrent: () => undefined,
    each: async function* (_: unknown, { matches }: EachQuery) {
      for (const each of objects) if (matches?.(each.object.metadata.labels ?? {})) yield each
    },
  } as unknown as Lookup
  const keys: string[] = []
  const request = {
    type: { group: '', plural: 'configmaps' },
    namespace: 'a',
    name,
    dependOn: ({ key }: { key: string }) => keys.push(key),
  }
  const query = { kind, ref, request: request as unknown as AdmissionRequest }
  const found = await parametersOf(query, lookup, () => type)
  return { names: found.outcome === 'parameters' ? found.objects.map((each) => each?.metadata.name) : found.why, keys }
}

test('admission records a dependency on each policy parameter, except on the written object itself', async () => {
  assert.deepEqual(await parameters({ name: 'one' }, 'x'), { names: ['one'], keys: ['one'] })
  assert.deepEqual(await parameters({ name: 'three' }, 'x'), { names: ['three'], keys: ['three'] })
  const ref = { selector: { matchLabels: { role: 'p' } } }
  assert.deepEqual(await parameters(ref, 'one'), { names: ['one', 'two'], keys: ['two'] })
  const missing = await parameters({ name: 'none', parameterNotFoundAction: 'Deny' }, 'x')
  assert.match(String(missing.names), /no params found/)
})
