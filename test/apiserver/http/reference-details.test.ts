/**
 * Tests details of read and delete responses that clients of Kubernetes 1.23 rely on. The expected responses are those
 * that kube-apiserver returns for the same requests.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Answer } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'

const client = (await serve({ after })).client()

/** Returns the fields in the causes of an error, sorted. */
function causes({ body }: Answer): string[] {
  return body.details.causes.map(({ reason, field }: { reason: string; field: string }) => `${reason} ${field}`).sort()
}

async function made(path: string, object: object): Promise<Answer> {
  const answer = await client.post(path, object)
  assert.equal(answer.status, 201, answer.text)
  return answer
}

const namespace = (name: string) => made('/api/v1/namespaces', { metadata: { name } })

test('deleting a namespace with orphanDependents=false waits for dependents and returns 202', async () => {
  const cases = [
    ['false', { orphanDependents: false }, 202, ['foregroundDeletion']],
    ['true', { orphanDependents: true }, 200, ['orphan']],
    ['unsaid', {}, 200, undefined],
  ] as const
  for (const [name, options, code, finalizers] of cases) {
    await namespace(`orphan-${name}`)
    const { status, body } = await client.delete(`/api/v1/namespaces/orphan-${name}`, options)
    assert.deepEqual([status, body.metadata.finalizers, body.status.phase], [code, finalizers, 'Terminating'], name)
    const again = await client.delete(`/api/v1/namespaces/orphan-${name}`, { propagationPolicy: 'Background' })
    assert.deepEqual([again.status, again.body.metadata.finalizers], [200, finalizers], name)
  }
  await made(configMaps, { metadata: { name: 'orphan-false' } })
  const other = await client.delete(`${configMaps}/orphan-false`, { orphanDependents: false })
  assert.deepEqual([other.status, other.body.status], [200, 'Success'])
})

test('the error for a failed precondition names the resource for a namespace, and the kind for other objects', async () => {
  await namespace('guarded')
  await made(configMaps, { metadata: { name: 'guarded' } })
  for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }]) {
    const ofNamespace = await client.delete('/api/v1/namespaces/guarded', { preconditions })
    assert.deepEqual([ofNamespace.status, ofNamespace.body.details], [409, { name: 'guarded', kind: 'namespaces' }])
    const ofConfigMap = await client.delete(`${configMaps}/guarded`, { preconditions })
    assert.deepEqual([ofConfigMap.status, ofConfigMap.body.details], [409, { name: 'guarded', kind: 'ConfigMap' }])
  }
})

test('a delete succeeds only if the preconditions in both the query and the body hold', async () => {
  const { metadata } = (await made(configMaps, { metadata: { name: 'conditional' } })).body
  const { uid, resourceVersion } = metadata
  const path = `${configMaps}/conditional`
  const right = { preconditions: { uid, resourceVersion } }
  const refused: [query: string, body?: object][] = [
    ['uid=other'],
    ['resourceVersion=1'],
    [`uid=${uid}&resourceVersion=1`],
    [`uid=other&resourceVersion=${resourceVersion}`],
    ['uid=other&dryRun=All'],
    ['uid=other', {}],
    ['resourceVersion=1', right],
    ['uid=other', right],
    [`uid=${uid}`, { preconditions: { uid: 'other' } }],
    [`resourceVersion=${resourceVersion}`, { preconditions: { resourceVersion: '1' } }],
  ]
  for (const [query, body] of refused) {
    const { status, body: answer } = await client.delete(`${path}?${query}`, body)
    assert.deepEqual([status, answer.reason, answer.details?.kind], [409, 'Conflict', 'ConfigMap'], query)
  }
  assert.equal((await client.get(path)).body.metadata.resourceVersion, resourceVersion)
  assert.equal((await client.delete(`${path}?uid=other&propagationPolicy=Never`)).status, 422)
  const held = `uid=${uid}&resourceVersion=${resourceVersion}`
  assert.equal((await client.delete(`${path}?${held}&dryRun=All`, right)).status, 200)
  assert.equal((await client.delete(`${path}?${held}`, right)).status, 200)
  assert.equal((await client.delete(`${path}?uid=other`)).status, 404)
  await made(configMaps, { metadata: { name: 'conditional' } })
  assert.equal((await client.delete(`${path}?uid=&resourceVersion=`)).status, 200, 'empty parameters are none')
})

test('collection deletes apply query preconditions to each object, and resourceVersion selects the list if there is a body', async () => {
  await namespace('conditional')
  const objects = '/api/v1/namespaces/conditional/configmaps?labelSelector=conditional'
  const labels = { conditional: '' }
  const [a, b] = await Promise.all(
    ['a', 'b'].map(async (name) => (await made(objects.split('?')[0]!, { metadata: { name, labels } })).body.metadata),
  )
  const version = String(Math.max(a.resourceVersion, b.resourceVersion))
  const names = async () => (await client.get(objects)).body.items.map(({ metadata }: typeof a) => metadata.name)
  for (const [query, body] of [
    ['uid=other'],
    ['uid=other', {}],
    ['resourceVersion=1'],
    ['resourceVersion=0'],
    [`resourceVersion=${version}`, { preconditions: { resourceVersion: '1' } }],
  ] as const)
    assert.equal((await client.delete(`${objects}&${query}`, body)).status, 409, query)
  assert.deepEqual(await names(), ['a', 'b'])
  const byUid = await client.delete(`${objects}&fieldSelector=metadata.name%3Da&uid=${a.uid}`)
  assert.equal(byUid.status, 200, byUid.text)
  assert.deepEqual(await names(), ['b'])
  const listed = await client.delete(`${objects}&resourceVersion=${version}&resourceVersionMatch=NotOlderThan`, {})
  assert.equal(listed.status, 200, listed.text)
  assert.deepEqual(await names(), [])
})

test('a delete body of null is treated as no options, and an empty body may have any content type', async () => {
  for (const name of ['null', 'yaml', 'typed']) await made(configMaps, { metadata: { name } })
  assert.equal((await client.send(`${configMaps}/null`, { method: 'DELETE', raw: 'null' })).status, 200)
  const yaml = { method: 'DELETE', raw: '---\n', headers: { 'content-type': 'application/yaml' } }
  assert.equal((await client.send(`${configMaps}/yaml`, yaml)).status, 200)
  const plain = { 'content-type': 'text/plain' }
  assert.equal((await client.send(`${configMaps}/typed`, { method: 'DELETE', raw: '{}', headers: plain })).status, 415)
  assert.equal((await client.send(`${configMaps}/typed`, { method: 'DELETE', headers: plain })).status, 200)
  const collection = await client.send(`${configMaps}?labelSelector=none`, { method: 'DELETE', raw: 'null' })
  assert.equal(collection.status, 200)
  assert.equal((await client.send(`${configMaps}/gone`, { method: 'DELETE', raw: '[]' })).status, 400)
})

test('deleting a PodTemplate returns the PodTemplate', async () => {
  const templates = '/api/v1/namespaces/default/podtemplates'
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const { body: stored } = await made(templates, { metadata: { name: 'a' }, template: { spec } })
  const { body } = await client.delete(`${templates}/a`)
  assert.deepEqual([body.kind, body.metadata.uid, body.template], ['PodTemplate', stored.metadata.uid, stored.template])
})

test('cluster-scoped kinds accept a field selector on metadata.namespace unless they define their own selectable fields', async () => {
  const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } }
  await made('/api/v1/persistentvolumes', { metadata: { name: 'a' }, spec: volume })
  const namesBy = async (selector: string) => {
    const answer = await client.get(`/api/v1/persistentvolumes?fieldSelector=${encodeURIComponent(selector)}`)
    assert.equal(answer.status, 200, selector)
    return answer.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
  }
  assert.deepEqual(await namesBy('metadata.namespace=x'), [])
  assert.deepEqual(await namesBy('metadata.namespace='), ['a'])
  assert.deepEqual(await namesBy('metadata.namespace!=x'), ['a'])
  for (const path of ['/api/v1/namespaces', '/apis/certificates.orch.io/v1/certificatesigningrequests']) {
    assert.equal((await client.get(`${path}?fieldSelector=metadata.namespace=x`)).status, 400, path)
  }
})

test('a list at an old resourceVersion has a continue token only if the next page is not empty', async () => {
  const at = '/api/v1/namespaces/pages/configmaps'
  await namespace('pages')
  const labels = { pick: 'me' }
  await made(at, { metadata: { name: 'a', labels } })
  await made(at, { metadata: { name: 'b' } })
  const { body: old } = await made(at, { metadata: { name: 'c', labels } })
  await made(at, { metadata: { name: 'd', labels } })
  const version = old.metadata.resourceVersion
  const page = async (rest: string) => {
    const { body } = await client.get(`${at}?labelSelector=pick&${rest}`)
    return [body.items.map((item: { metadata: { name: string } }) => item.metadata.name), body.metadata.continue]
  }
  const [first, token] = await page(`limit=1&resourceVersion=${version}`)
  assert.deepEqual([first, typeof token], [['a'], 'string'])
  assert.deepEqual(await page(`limit=1&continue=${token}`), [['c'], undefined])
  assert.deepEqual(await page(`limit=2&resourceVersion=${version}`), [['a', 'c'], undefined])
  assert.deepEqual(await page(`limit=3&resourceVersion=${version}`), [['a', 'c'], undefined])
  assert.deepEqual(await page(`limit=0&resourceVersionMatch=Exact&resourceVersion=${version}`), [['a', 'c'], undefined])
})

test('a request with an invalid name gets a 400, and the server does not read the store', async () => {
  await made(configMaps, { metadata: { name: 'a' } })
  for (const method of ['GET', 'DELETE']) {
    for (const path of [`${configMaps}/a%25`, '/api/v1/namespaces/a%25', '/api/v1/namespaces/a%25/status']) {
      if (method === 'DELETE' && path.endsWith('status')) continue
      const { status, body } = await client.send(path, { method })
      assert.deepEqual([status, body.reason], [400, 'BadRequest'], `${method} ${path}`)
    }
  }
  assert.equal((await client.get('/api/v1/namespaces/a%25/configmaps/a')).status, 404)
})

test('responses are indented on request, and by default for curl and browsers', async () => {
  const isIndented = async (query: string, headers = {}) =>
    (await client.get(`${configMaps}/a${query}`, headers)).text.includes('\n  ')
  for (const value of ['1', 't', 'T', 'true', 'True', 'TRUE']) assert.ok(await isIndented(`?pretty=${value}`), value)
  for (const value of ['x', 'yes', '0', 'false', 'tRUE', '2']) assert.ok(!(await isIndented(`?pretty=${value}`)), value)
  const person = { 'user-agent': 'curl/8.0' }
  assert.deepEqual(
    [await isIndented('', person), await isIndented('?pretty=', person), await isIndented('?pretty=x', person)],
    [true, true, false],
  )
  assert.equal(await isIndented('', { accept: 'application/json;pretty=1' }), true)
})

test('a media type parameter without a value is ignored, and a parameter with an unsupported value gets a 406', async () => {
  const cases = [
    ['application/json;as=', 200],
    ['application/json;as', 200],
    ['application/json;as=;g=;v=', 200],
    ['application/json;stream=watch', 200],
    ['application/json;sv=v1', 200],
    ['application/json;charset=utf-8', 200],
    ['application/json;as=Table', 406],
    ['application/json;g=meta.orch.io;v=v1', 406],
    ['application/json;stream=other', 406],
    ['application/yaml;stream=watch', 406],
    ['application/json;sv=v2', 406],
    ['application/json;sv=v2, application/yaml', 200],
  ] as const
  for (const [accept, code] of cases)
    assert.equal((await client.get(`${configMaps}/a`, { accept })).status, code, accept)
})

test('a subresource is not available as a table', async () => {
  const accept = 'application/json;as=Table;g=meta.orch.io;v=v1'
  const status = '/api/v1/namespaces/default/status'
  const refused = await client.get(status, { accept })
  assert.deepEqual([refused.status, refused.body.reason, refused.body.details], [406, 'NotAcceptable', undefined])
  assert.equal((await client.get(status, { accept: `${accept}, application/json` })).body.kind, 'Namespace')
  assert.equal((await client.get('/api/v1/namespaces/default', { accept })).body.kind, 'Table')
  const partial = accept.replace('Table', 'PartialObjectMetadata')
  assert.equal((await client.get(status, { accept: partial })).body.kind, 'PartialObjectMetadata')
})

test('all errors in the list options are reported together', async () => {
  const cases = [
    ['watch=1&resourceVersion=0&resourceVersionMatch=Exact', 2],
    ['watch=1&resourceVersionMatch=Exact', 2],
    ['watch=1&continue=x&resourceVersion=1&resourceVersionMatch=Other', 3],
    ['resourceVersion=0&resourceVersionMatch=Exact', 1],
  ] as const
  for (const [query, count] of cases) {
    const answer = await client.get(`${configMaps}?${query}`)
    assert.deepEqual([answer.status, answer.body.details.causes.length], [422, count], query)
  }
})

test('a label with an empty key causes two validation errors', async () => {
  const answer = await client.post(configMaps, { metadata: { name: 'x', labels: { '': 'a' } } })
  assert.equal(answer.status, 422)
  assert.deepEqual(causes(answer), ['FieldValueInvalid metadata.labels', 'FieldValueInvalid metadata.labels'])
})

test('the server checks the content type before the options, and the options before the event format', async () => {
  const headers = { 'content-type': 'text/plain' }
  const sent = { method: 'POST', raw: '{}', headers }
  assert.equal((await client.send(`${configMaps}?dryRun=Some`, sent)).status, 415)
  assert.equal((await client.send(`${configMaps}?dryRun=Some`, { method: 'POST', raw: '{' })).status, 422)
  const patch = { method: 'PATCH', raw: '{}', headers }
  assert.equal((await client.send(`${configMaps}/a?dryRun=Some`, patch)).status, 415)

  const events = (query: string, accept: string) => client.get(`${configMaps}?watch=1&${query}`, { accept })
  assert.equal((await events('timeoutSeconds=1', 'application/yaml')).status, 406)
  for (const bad of ['labelSelector=%3D', 'fieldSelector=data%3Dx', 'resourceVersion=x', 'timeoutSeconds=x'])
    assert.equal((await events(bad, 'application/yaml')).status, 400, bad)
  assert.equal((await events('resourceVersionMatch=Exact&resourceVersion=1', 'application/yaml')).status, 422)
  assert.equal((await events('labelSelector=%3D', 'application/xml')).status, 406)
  assert.equal((await events('timeoutSeconds=1', 'application/yaml, application/json')).status, 200)
})
