/** Tests the in-process transport. For the same user, responses are the same as over the network. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { superusers, type User } from '../../src/api/model/user.ts'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { Client } from '../../src/client/requests/client.ts'
import { StatusError } from '../../src/client/requests/status-error.ts'
import { TransportError } from '../../src/client/requests/transport.ts'
import { watch } from '../../src/client/requests/watch.ts'
import { startApiServer } from '../../src/server/assembly/api-server.ts'
import { InProcess } from '../../src/server/assembly/in-process-transport.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { assertBrief } from '../support/effort.ts'
import { configMap, configMaps } from '../support/resource-types.ts'
import { openTestLog } from '../support/test-log.ts'

/** The server itself creates a ConfigMap in another namespace. */
const inDefault = { namespace: 'default' }

const master: User = { name: 'loop', uid: '', groups: [superusers], extra: new Map() }

async function begin(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  const flags = ['--secure-port=0', `--data-dir=${directory}/data`, '--admin-kubeconfig=']
  const server = await startApiServer(parseFlags(serverFlags, flags), { log: openTestLog() })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= server.stop())
  t.after(async () => {
    await stop()
    rmSync(directory, { recursive: true, force: true })
  })
  return { server, client: new Client(server.transport(master)), stop }
}

test('in-process requests get the same responses as network requests and are authorized for their user', async (t) => {
  const { server, client } = await begin(t)
  const created = await client.create(configMaps, configMap('a', { k: 'ä' }))
  assert.deepEqual((await client.list(configMaps, inDefault)).items, [created])
  const nobody = new Client(server.transport({ ...master, name: 'nobody', groups: [] }))
  await assert.rejects(nobody.list(configMaps), (error) => {
    assert.ok(error instanceof StatusError)
    assert.match(error.message, /User "nobody" cannot list/)
    return error.code === 403
  })
})

test('an in-process watch streams events, and ends when its client or the server stops', async (t) => {
  const { client, stop } = await begin(t)
  const { resourceVersion } = await client.list(configMaps)
  const leaving = watch(client, configMaps, { resourceVersion })
  const abort = new AbortController()
  const aborted = watch(client, configMaps, { resourceVersion, signal: abort.signal })
  const staying = watch(client, configMaps, { resourceVersion })
  await client.create(configMaps, configMap('a'))
  for (const events of [leaving, aborted, staying]) assert.equal((await events.next()).value?.type, 'ADDED')
  await leaving.return(undefined)
  const next = assert.rejects(aborted.next(), /enough/)
  abort.abort(new Error('enough'))
  await next
  const last = assert.rejects(staying.next(), TransportError)
  await stop()
  await last
  await assert.rejects(client.list(configMaps), TransportError)
})

test('an in-process watch whose client does not read is closed, and its memory is released', async (t) => {
  const { server, client } = await begin(t)
  const { resourceVersion } = await client.list(configMaps)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const response = await server.transport(master)({
    method: 'GET',
    path: `/api/v1/configmaps?watch=1&resourceVersion=${resourceVersion}`,
    headers: {},
    body: undefined,
    signal: new AbortController().signal,
  })
  // A text that is larger than the buffer for one reader.
  const large = 'x'.repeat(900_000)
  for (let i = 0; i < 22; i++) await client.create(configMaps, configMap(`large-${i}`, { large }))
  t.mock.timers.tick(2_000)
  await assert.rejects(Array.fromAsync(response.body), /aborted the response/)
})

test('an in-process request with a body shorter than its content length is rejected', async (t) => {
  const { server, client } = await begin(t)
  const body = Buffer.from(JSON.stringify(configMap('a')))
  const response = await server.transport(master)({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json', 'content-length': String(body.length + 1) },
    body,
    signal: new AbortController().signal,
  })
  assert.equal(response.status, 400)
  assert.deepEqual((await client.list(configMaps, inDefault)).items, [])
})

test('an in-process list that spans many chunks is complete, although the server reuses its buffers', async (t) => {
  const { client } = await begin(t)
  const text = 'x'.repeat(20_000)
  const create = (i: number) => client.create(configMaps, configMap(`object-${10 + i}`, { text: `${i}${text}` }))
  const created = await Promise.all(Array.from({ length: 20 }, (_, i) => create(i)))
  assert.deepEqual((await client.list(configMaps, inDefault)).items, created)
})

test('an in-process response is written only as fast as the client reads', async () => {
  let written = 0
  const chunk = Buffer.alloc(64 * 1024)
  const inProcess = new InProcess(
    () => async (exchange) => {
      exchange.open(200, 'application/octet-stream')
      for (; written < 100; written++) await exchange.transport.write(chunk)
      exchange.transport.end()
    },
    systemClock,
  )
  const signal = new AbortController().signal
  const send = inProcess.transport(master)
  const response = await send({ method: 'GET', path: '/', headers: {}, body: undefined, signal })
  let size = 0
  for await (const part of response.body) {
    size += part.length
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    const ahead = written * chunk.length - size
    assert.ok(ahead <= 512 * 1024, `${ahead} bytes are waiting`)
  }
  assert.equal(size, 100 * chunk.length)
  assert.equal(await inProcess.close(10_000), 0)
})

test('an in-process request that never ends does not prevent the server from stopping', async () => {
  const inProcess = new InProcess(() => () => new Promise(() => {}), systemClock)
  const send = inProcess.transport(master)
  const { signal } = new AbortController()
  const answer = send({ method: 'GET', path: '/', headers: {}, body: undefined, signal })
  await setImmediate()
  const left = inProcess.close(1)
  await assert.rejects(answer, TransportError)
  assert.equal(await left, 1)
})

test('hundreds of in-process requests and events block the event loop only for milliseconds at a time', async (t) => {
  const { client } = await begin(t)
  const { resourceVersion } = await client.list(configMaps)
  let round = 0
  await assertBrief(50, async () => {
    const prefix = `round-${round++}-`
    const create = (i: number) => client.create(configMaps, configMap(`${prefix}${i}`, { text: 'x'.repeat(2000) }))
    const watching = Array.from({ length: 5 }, async () => {
      let seen = 0
      for await (const event of watch(client, configMaps, { resourceVersion })) {
        if (event.type === 'ADDED' && event.object.metadata.name?.startsWith(prefix)) seen++
        if (seen === 200) return
      }
    })
    await Promise.all([...watching, ...Array.from({ length: 200 }, (_, i) => create(i))])
  })
})
