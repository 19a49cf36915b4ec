/**
 * Tests the client with servers and proxies that support only HTTP/1.1. The client behaves in the same way as over
 * HTTP/2.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect as connectTls, createServer } from 'node:tls'
import { ConfigMap, connect, isNotFound } from '../../../src/client/library/client.ts'
import { serve } from '../../support/in-process.ts'

test('all verbs and watches of the client library work over HTTP/1.1', async (t) => {
  const server = await serve(t)
  const pki = join(server.directory, 'data/pki')
  const read = (name: string) => readFileSync(join(pki, name), 'utf8')
  const [pair] = readdirSync(pki).filter((name) => name.endsWith('.key') && !name.startsWith('ca'))
  const key = read(pair!)
  const cert = read(pair!.replace(/key$/, 'crt'))
  const front = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (socket) => {
    const behind = { port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }
    const upstream = connectTls(behind)
    socket.pipe(upstream).pipe(socket)
    socket.on('error', () => upstream.destroy())
    upstream.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.after(() => void front.close())
  const { port } = front.address() as AddressInfo
  const client = await connect({ ...server.credentials(), server: `https://127.0.0.1:${port}`, insecure: true })
  t.after(() => client.close())
  const name = { namespace: 'default', name: 'a' }
  const created = await client.create(ConfigMap, { metadata: name, data: { k: 'v' } })
  const { resourceVersion = '' } = created.metadata
  const events = client.watch(ConfigMap, { namespace: 'default', resourceVersion })
  const next = events.next()
  await client.update(ConfigMap, { metadata: name, data: { k: 'w' } })
  const { value } = await next
  assert.ok(value?.type === 'MODIFIED' && value.object.data?.k === 'w')
  await events.return(undefined)
  assert.equal((await client.list(ConfigMap, { namespace: 'default' })).items.length, 1)
  await client.delete(ConfigMap, name)
  await assert.rejects(client.get(ConfigMap, name), isNotFound)
})
