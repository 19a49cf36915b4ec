/**
 * Tests that requests with truncated bodies are not executed. A client that disconnects or cancels in the middle of a
 * body changes nothing, even if the received part is a valid document. Tests each verb over HTTP/1.1 and HTTP/2.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { HttpClient } from '../../support/http-client.ts'
import { endHeaders, endStream, frame, number, openFrames, requestFrame } from '../../support/http2-frames.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { openSocket } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const authorization = 'Bearer admin-token'

/**
 * A write, and the part of its body that the server receives. This part is itself a valid document with a different
 * meaning.
 */
interface Write {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly whole: string
  readonly comes: string
}

const json = 'application/json'
const yaml = 'application/yaml'
const applied = 'metadata:\n  name: kept\napiVersion: v1\nkind: ConfigMap\ndata:\n  a: "1"\n'
const dryRun = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] })
const otherUid = JSON.stringify({ preconditions: { uid: '00000000-0000-0000-0000-000000000000' } })

const writes: { readonly [name: string]: Write } = {
  'an apply': {
    method: 'PATCH',
    path: `${configMaps}/kept?fieldManager=cutter&force=true`,
    type: 'application/apply-patch+yaml',
    whole: `${applied}  b: "2"\n`,
    comes: applied,
  },
  'an update': {
    method: 'PUT',
    path: `${configMaps}/kept`,
    type: yaml,
    whole: `${applied}  b: "2"\n`,
    comes: applied,
  },
  'a create': {
    method: 'POST',
    path: configMaps,
    type: yaml,
    whole: applied.replace('kept', 'made'),
    comes: applied.replace('kept', 'made').slice(0, -9),
  },
  'a merge patch': {
    method: 'PATCH',
    path: `${configMaps}/kept`,
    type: 'application/merge-patch+json',
    whole: '{"data":{"a":"changed"}}\n ',
    comes: '{"data":{"a":"changed"}}',
  },
  'a delete with a dry run': { method: 'DELETE', path: `${configMaps}/kept`, type: json, whole: dryRun, comes: '' },
  'a delete with another uid': { method: 'DELETE', path: `${configMaps}/kept`, type: json, whole: otherUid, comes: '' },
  'a deletecollection with a dry run': {
    method: 'DELETE',
    path: configMaps,
    type: json,
    whole: dryRun,
    comes: '',
  },
}

/** The ways in which a client can abort in the middle of a body. */
const cuts: { readonly [name: string]: (socket: TLSSocket) => void } = {
  'reset without an error': (socket) => socket.write(frame('reset', 0, 1, number(0))),
  cancelled: (socket) => socket.write(frame('reset', 0, 1, number(8))),
  'reset with an error': (socket) => socket.write(frame('reset', 0, 1, number(2))),
  'a closed connection': (socket) => socket.end(),
  'a broken connection': (socket) => socket.destroy(),
  'GOAWAY and a closed connection': (socket) => socket.end(frame('goaway', 0, 0, Buffer.alloc(8))),
  'an end before the announced length': (socket) => socket.write(frame('data', endStream, 1)),
}

for (const announced of [true, false])
  test(`truncated bodies over HTTP/2 change nothing, ${announced ? 'with' : 'without'} a content length`, {
    timeout: 300_000,
  }, async (t) => {
    const server = await serve(t)
    const unchanged = await remember(server)
    const assertAlive = survivalCheck(server)
    for (const [writeMethod, write] of Object.entries(writes)) {
      for (const [interruption, cut] of Object.entries(cuts)) {
        if (!announced && interruption.startsWith('an end before')) continue
        await t.test(`${writeMethod} with a truncated body changes nothing: ${interruption}`, async () => {
          await sendCut(server, write, { announced, cut })
          await unchanged()
        })
      }
    }
    await assertAlive()
  })

/**
 * Sends a part of a write, waits until the server has received it, aborts, and waits until the server has noticed the
 * abort.
 */
async function sendCut(
  server: Restartable,
  { method, path, type, whole, comes }: Write,
  { announced, cut }: { announced: boolean; cut: (socket: TLSSocket) => void },
): Promise<void> {
  const socket = await openFrames(server)
  const length = announced ? { 'content-length': String(Buffer.byteLength(whole)) } : {}
  socket.write(requestFrame(1, { ':method': method, ':path': path, authorization, 'content-type': type, ...length }))
  if (comes !== '') socket.write(frame('data', 0, 1, Buffer.from(comes)))
  await answerTo(socket, 3)
  cut(socket)
  if (socket.writable) await answerTo(socket, 5)
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
}

/** Sends another request on the same connection and waits for its response. By then, all earlier data has been read. */
async function answerTo(socket: TLSSocket, stream: number): Promise<void> {
  socket.write(requestFrame(stream, { ':path': '/livez', authorization }, endHeaders | endStream))
  const answer = Buffer.concat([number(stream), Buffer.from('ok')])
  for (let read = Buffer.alloc(0); !read.includes(answer); ) {
    const [chunk] = await once(socket, 'data')
    read = Buffer.concat([read, chunk])
  }
}

/** Records the stored objects, and returns a function that checks that they are unchanged. */
async function remember(server: Restartable): Promise<() => Promise<void>> {
  const client = server.client()
  await client.post(configMaps, { metadata: { name: 'kept' }, data: { a: '1', b: '2', c: '3' } })
  await client.post(configMaps, { metadata: { name: 'another' } })
  const before = await state(client)
  return async () => assert.deepEqual(await state(client), before)
}

async function state(client: HttpClient): Promise<unknown> {
  return (await client.get(configMaps)).body.items
}

test('truncated bodies over HTTP/1.1 change nothing', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const unchanged = await remember(server)
  const client = server.client()
  for (const [writeMethod, { method, path, type, whole, comes }] of Object.entries(writes)) {
    for (const chunked of [false, true]) {
      await t.test(
        `${writeMethod} with a truncated body changes nothing, ${chunked ? 'in chunks' : 'with a content length'}`,
        async () => {
          const socket = await openSocket(server, 'http/1.1')
          const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${whole.length}`
          const part = chunked && comes !== '' ? `${comes.length.toString(16)}\r\n${comes}\r\n` : comes
          socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`)
          socket.write(`Content-Type: ${type}\r\n${framing}\r\n\r\n${part}`)
          await client.get('/livez')
          socket.end()
          socket.resume()
          if (!socket.closed) await once(socket, 'close')
          await unchanged()
        },
      )
    }
  }
})

test('a write that times out before its body is complete changes nothing', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const unchanged = await remember(server)
  const { method, path, type, comes } = writes['an apply']!
  const socket = await openFrames(server)
  socket.write(
    requestFrame(1, { ':method': method, ':path': `${path}&timeout=100ms`, authorization, 'content-type': type }),
  )
  socket.write(frame('data', 0, 1, Buffer.from(comes)))
  // The timeout response, followed by the end of the stream.
  let read = ''
  while (!read.includes('Timeout')) read += (await once(socket, 'data'))[0].toString('latin1')
  await answerTo(socket, 3)
  await unchanged()
  socket.destroy()
})

/** Send the request as `kubectl delete --raw` does. Node.js ends such a stream before its body can be read. */
test('a request body that ends without any data is treated as empty', { timeout: 60_000 }, async (t) => {
  const server = await serve(t)
  await server.client().post(configMaps, { metadata: { name: 'short' } })
  const socket = await openFrames(server)
  const head = requestFrame(1, { ':method': 'DELETE', ':path': `${configMaps}/short`, authorization })
  socket.write(Buffer.concat([head, frame('data', endStream, 1)]))
  let read = ''
  while (!read.includes('"status":"Success"')) read += (await once(socket, 'data'))[0].toString('latin1')
  assert.equal((await server.client().get(`${configMaps}/short`)).status, 404)
  socket.destroy()
})
