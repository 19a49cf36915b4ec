/** Tests objects that were written at a Kubernetes version other than the emulated one. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { HeaderReader, storedJson } from '../../src/api/codec/stored.ts'
import { serve } from '../support/in-process.ts'

const at = (version: string) => [`--emulated-version=${version}`, '--disable-admission-plugins=ServiceAccount']
const newer = at('1.36')
const older = [...at('1.23'), '--allow-version-downgrade']
const server = await serve({ after }, newer)
const pods = '/api/v1/namespaces/default/pods'
const merge = { 'content-type': 'application/merge-patch+json' }

function pod(name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: { hostUsers: false, containers: [{ name: 'main', image: 'main' }] },
  }
}

async function stored(name: string): Promise<{ version: string | undefined; text: string }> {
  const key = `objects/core/pods/default/${name}`
  const { value } = (await server.store.get(key))!
  const { version } = new HeaderReader().read(key, value)
  return { version, text: storedJson(value, '1', Buffer.alloc).json.toString() }
}

test('the header of a stored object contains the Kubernetes version at which the object was written', async () => {
  const made = await server.client().send(pods, { method: 'POST', body: pod('kept') })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body.spec.hostUsers, false)
  assert.equal((await stored('kept')).version, '1.36')
})

test('a server with a lower version hides newer fields but keeps them in the store', async () => {
  await server.restart(older)
  const client = server.client()
  const { body } = await client.get(`${pods}/kept`)
  assert.equal(body.metadata.name, 'kept')
  assert.equal(body.spec.hostUsers, undefined)
  const { items } = (await client.get(`${pods}?labelSelector=app=kept`)).body
  assert.deepEqual([items.length, items[0].spec.hostUsers], [1, undefined])
  assert.match((await stored('kept')).text, /"hostUsers":false/)
})

test('a write that changes nothing at a lower version keeps newer fields', async () => {
  const body = { metadata: { labels: { app: 'kept' } } }
  const { status } = await server.client().send(`${pods}/kept`, { method: 'PATCH', headers: merge, body })
  assert.equal(status, 200)
  assert.match((await stored('kept')).text, /"hostUsers":false/)
  await server.restart(newer)
  assert.equal((await server.client().get(`${pods}/kept`)).body.spec.hostUsers, false)
})

test('a write at a lower version drops newer fields', async () => {
  const made = await server.client().send(pods, { method: 'POST', body: pod('changed') })
  assert.equal(made.status, 201, made.text)
  await server.restart(older)
  const body = { metadata: { labels: { app: 'other' } } }
  const { status } = await server.client().send(`${pods}/changed`, { method: 'PATCH', headers: merge, body })
  assert.equal(status, 200)
  const { version, text } = await stored('changed')
  assert.equal(version, undefined)
  assert.doesNotMatch(text, /hostUsers":false/)
  await server.restart(newer)
  const shown = (await server.client().get(`${pods}/changed`)).body
  assert.deepEqual([shown.spec.hostUsers, shown.metadata.labels.app], [undefined, 'other'])
})

test('server-side apply at a lower version works on an object with newer fields', async () => {
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  const apply = (body: unknown) =>
    server.client().send(`${pods}/applied?fieldManager=me`, { method: 'PATCH', headers, body })
  const made = await apply(pod('applied'))
  assert.equal(made.status, 201, made.text)
  await server.restart(older)
  const { spec, ...rest } = pod('applied')
  const { hostUsers: _, ...known } = spec
  const answer = await apply({ ...rest, metadata: { name: 'applied', labels: { app: 'x' } }, spec: known })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.metadata.labels.app, 'x')
  await server.restart(newer)
  assert.equal((await server.client().get(`${pods}/applied`)).body.spec.hostUsers, undefined)
})

async function minor(): Promise<string> {
  return (await server.client().get('/version')).body.minor
}

test('without --emulated-version, the server emulates the version recorded in the store', async () => {
  await server.restart(at('1.31').slice(1).concat('--allow-version-downgrade'))
  assert.equal(await minor(), '36')
  await server.restart(older)
  await server.restart(older.slice(1))
  assert.equal(await minor(), '23')
})

test('starting with a higher emulated version updates the recorded version', async () => {
  await server.restart(at('1.29'))
  await server.restart(at('1.29').slice(1))
  assert.equal(await minor(), '29')
  await server.restart(newer)
})

test('starting with a lower emulated version is rejected, and the error lists affected kinds and object counts', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'same' }, data: { a: 'b' } }
  await server.client().send('/api/v1/namespaces/default/configmaps', { method: 'POST', body })
  const service = { ...body, kind: 'Service', data: undefined, spec: { ports: [{ port: 80 }] } }
  const made = await server.client().send('/api/v1/namespaces/default/services', { method: 'POST', body: service })
  assert.equal(made.status, 201, made.text)
  await assert.rejects(server.restart(at('1.23')), (error: Error) => {
    assert.match(
      error.message,
      /records Kubernetes version 1\.36, and --emulated-version=1\.23 is lower: this affects (.*, )?1 pods(, .*)? with fields/,
    )
    assert.doesNotMatch(error.message, /configmaps/)
    assert.doesNotMatch(error.message, /prioritylevelconfigurations|ipaddresses|servicecidrs/, 'made by the server')
    assert.match(error.message, /--allow-version-downgrade/)
    return true
  })
  await server.restart(newer.slice(1))
  assert.equal(await minor(), '36', 'the rejected start changed nothing')
})

test('a store whose Kubernetes version is too new for the program is rejected', async () => {
  await server.stop()
  const { store } = server
  const key = 'meta/emulated-version'
  const { revision, value } = (await store.get(key))!
  const changed = await store.commit({ key, expected: revision, value: Buffer.from('1.99') })
  assert.equal(changed.outcome, 'committed')
  await assert.rejects(server.restart(newer), /records Kubernetes version "1\.99".* only 1\.23 to 1\.36/)
  await server.store.commit({ key, expected: (await server.store.get(key))!.revision, value })
  await server.restart(newer)
})
