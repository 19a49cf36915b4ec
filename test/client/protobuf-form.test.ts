/** Tests the client with a configured content type: Protobuf where it is available, and JSON otherwise. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtobufDocuments } from '../../src/api/codec/protobuf/documents.ts'
import { allKinds } from '../../src/api/kinds/all.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import { Client } from '../../src/client/requests/client.ts'
import { discover } from '../../src/client/requests/discovery.ts'
import { isConflict, isNotFound } from '../../src/client/requests/status-error.ts'
import type { Transport } from '../../src/client/requests/transport.ts'
import { watch } from '../../src/client/requests/watch.ts'
import { serve } from '../support/in-process.ts'
import { configMap, configMaps } from '../support/resource-types.ts'

const form = new ProtobufDocuments(vendorOf('orch'), allKinds)
const inDefault = (name: string) => ({ namespace: 'default', name })

/** Records the content types of requests and responses. */
function noting(transport: Transport, notes: string[]): Transport {
  return async (request) => {
    const response = await transport(request)
    const short = (type = '') => type.replace('application/', '').replace('vnd.orch.', '')
    notes.push(`${request.method} ${short(request.headers['content-type'])} ${short(response.headers['content-type'])}`)
    return response
  }
}

test('all client verbs use the chosen content type and return the same objects as in JSON', async (t) => {
  const server = await serve(t)
  const notes: string[] = []
  const client = new Client(noting(server.transport(), notes), { form })
  const json = new Client(server.transport())
  const created = await client.create(configMaps, configMap('a', { k: 'v' }))
  assert.deepEqual(created, await json.get(configMaps, inDefault('a')))
  assert.deepEqual(await client.get(configMaps, inDefault('a')), created)
  assert.deepEqual(await client.list(configMaps), await json.list(configMaps))
  const updated = await client.update(configMaps, { ...created, data: { k: 'w' } })
  assert.deepEqual(updated, await json.get(configMaps, inDefault('a')))
  await assert.rejects(client.update(configMaps, created), isConflict)
  await client.patch(configMaps, inDefault('a'), { patch: { merge: { data: { m: '1' } } } })
  await assert.rejects(client.delete(configMaps, inDefault('a'), { preconditions: { uid: 'another' } }), isConflict)
  await client.delete(configMaps, inDefault('a'))
  await assert.rejects(client.get(configMaps, inDefault('a')), isNotFound)
  assert.deepEqual(notes, [
    'POST protobuf protobuf',
    'GET  protobuf',
    'GET  protobuf',
    'PUT protobuf protobuf',
    'PUT protobuf protobuf',
    'PATCH merge-patch+json protobuf',
    'DELETE protobuf protobuf',
    'DELETE protobuf protobuf',
    'GET  protobuf',
  ])
})

test('watches and informers decode Protobuf frames', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport(), { form })
  const json = new Client(server.transport())
  const informer = new Informer(client, configMaps, { onError: (error) => assert.fail(String(error)) })
  const stop = new AbortController()
  const seen = new Promise<void>((resolve) => {
    informer.onChange(({ object }) => {
      if (object?.data?.large !== undefined) resolve()
    })
  })
  const running = informer.run(stop.signal)
  const events: string[] = []
  const watching = (async () => {
    for await (const event of watch(client, configMaps, { namespace: 'default', resourceVersion: '0' })) {
      if (event.type === 'BOOKMARK') continue
      events.push(`${event.type} ${event.object.metadata.name} ${event.object.data?.large?.length}`)
      if (event.type === 'DELETED') return
    }
  })()
  await json.create(configMaps, configMap('large', { large: 'x'.repeat(300_000) }))
  await seen
  await json.delete(configMaps, inDefault('large'))
  await watching
  stop.abort()
  await running
  assert.deepEqual(events, ['ADDED large 300000', 'DELETED large 300000'])
})

test('objects without a Protobuf encoding are read and sent as JSON', async (t) => {
  const server = await serve(t)
  const few = new ProtobufDocuments(vendorOf('orch'), [])
  const client = new Client(server.transport(), { form: few })
  assert.equal(few.write({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: {} }), undefined)
  assert.equal((await client.read<{ major: string }>('/version')).major, '1')
  await assert.rejects(client.get(configMaps, inDefault('none')), isNotFound)
  assert.ok((await discover(client)).types.some(({ plural }) => plural === 'configmaps'))
  await assert.rejects(client.list(configMaps), /ConfigMapList in v1 has no Protobuf encoding/)
})
