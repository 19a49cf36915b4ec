/**
 * Tests clients that request a lot of data and read slowly. The server buffers only a limited amount of data for them,
 * and their responses are complete and consistent despite concurrent writes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { ownMemory } from '../../support/memory.ts'
import { configMaps } from '../../support/paths.ts'
import { openSocket } from '../../support/raw-http.ts'
import { type Served, type ServerHandle, startServer } from '../../support/server.ts'

const mega = 1024 ** 2
const large = 'x'.repeat(900_000)

/** The end of the event whose object contains the text `the last one`. */
const lastWords = '"the last one"}}}\n'

function bodyOf(name: string, i: number, text = large) {
  return { metadata: { name }, data: { i: String(i), text } }
}

/** A request whose response is not read until `readAll` is called. */
class Unread {
  readonly #socket: TLSSocket

  static async open(t: TestContext, server: Served, path: string): Promise<Unread> {
    const socket = await openSocket(server, 'http/1.1')
    t.after(() => socket.destroy())
    socket.pause()
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer admin-token\r\n\r\n`)
    return new Unread(socket)
  }

  constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('error', () => {})
  }

  /** Resolves when the first part of the response has arrived, which means that the server has decided what to send. */
  async begun(): Promise<void> {
    if (this.#socket.readableLength === 0) await once(this.#socket, 'readable')
  }

  /** Reads the body until the server ends it or `isWhole` returns true. */
  async readAll(isWhole: (text: string) => boolean = () => false): Promise<{ head: string; body: string }> {
    const parts: Buffer[] = []
    for await (const chunk of this.#socket) {
      parts.push(chunk)
      if (isWhole(String(chunk))) break
    }
    const text = Buffer.concat(parts).toString('utf8')
    const at = text.indexOf('\r\n\r\n')
    return { head: text.slice(0, at), body: unchunked(text.slice(at + 4)) }
  }

  async leave(): Promise<void> {
    if (this.#socket.closed) return
    this.#socket.destroy()
    await once(this.#socket, 'close')
  }
}

/** Decodes a chunked body. The bodies here are ASCII, so their lengths in bytes and in characters are equal. */
function unchunked(text: string): string {
  let rest = text
  let body = ''
  for (;;) {
    const end = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, end), 16)
    if (end < 0 || !(size > 0)) return body
    body += rest.slice(end + 2, end + 2 + size)
    rest = rest.slice(end + 2 + size + 2)
  }
}

/** Waits until the memory of the server has not grown for two seconds. Returns the peak memory. */
async function peakOf({ process }: ServerHandle): Promise<number> {
  let peak = 0
  for (let quiet = 0; quiet < 20; quiet++) {
    const now = ownMemory(process.pid!)
    if (now > peak + mega) quiet = 0
    peak = Math.max(peak, now)
    await delay(100)
  }
  return peak
}

async function rise(server: ServerHandle, run: () => Promise<void>): Promise<number> {
  const before = await peakOf(server)
  await run()
  return (await peakOf(server)) - before
}

async function versionOf(client: HttpClient): Promise<string> {
  return (await client.get(`${configMaps}?limit=1`)).body.metadata.resourceVersion
}

interface Told {
  readonly type: string
  readonly object: { readonly metadata: { readonly name: string }; readonly data: { readonly i: string } }
}

function eventsIn(body: string): Told[] {
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

test('watches from an old resourceVersion use little memory while their clients do not read, and report every event afterwards', {
  timeout: 300_000,
}, async (t) => {
  const server = await startServer(t)
  const client = server.client()
  await client.post(configMaps, bodyOf('hot', 0))
  const start = await versionOf(client)
  const changes = 30
  for (let i = 1; i <= changes; i++) await client.put(`${configMaps}/hot`, bodyOf('hot', i))
  const path = `${configMaps}?watch=1&timeoutSeconds=300&resourceVersion=${start}`
  let unread: Unread[] = []
  const held = await rise(server, async () => {
    unread = await Promise.all(Array.from({ length: 12 }, () => Unread.open(t, server, path)))
  })
  t.diagnostic(`12 unread watches, 36 MB behind: ${Math.round(held / mega)} MB`)
  assert.ok(held < 150 * mega, `${Math.round(held / mega)} MB are held for 12 unread watches`)

  // While some of the watches have not been read yet, write more data than the event buffer can hold.
  for (let i = changes + 1; i <= changes + 40; i++) await client.put(`${configMaps}/hot`, bodyOf('hot', i))
  await client.put(`${configMaps}/hot`, bodyOf('hot', changes + 41, 'the last one'))
  const { body } = await unread[3]!.readAll((chunk) => chunk.includes(lastWords))
  const told = eventsIn(body)
  assert.deepEqual(
    told.map(({ type, object }) => `${type} ${object.data.i}`),
    Array.from({ length: changes + 41 }, (_, i) => `MODIFIED ${i + 1}`),
  )
})

test('a list followed by a watch shows one consistent state, even if the client reads slowly', {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const names = Array.from({ length: 400 }, (_, i) => `object-${String(i).padStart(4, '0')}`)
  const text = 'y'.repeat(17_000)
  for (let i = 0; i < names.length; i += 50)
    await Promise.all(names.slice(i, i + 50).map((name) => client.post(configMaps, bodyOf(name, 0, text))))
  const unread = await Unread.open(t, server, `${configMaps}?watch=1&timeoutSeconds=300`)
  const list = await Unread.open(t, server, configMaps)
  for (const reader of [unread, list]) await reader.begun()
  const changed = names.filter((_, i) => i % 3 === 0)
  const deleted = names.filter((_, i) => i % 3 === 1)
  await Promise.all(changed.map((name) => client.put(`${configMaps}/${name}`, bodyOf(name, 1, text))))
  await Promise.all(deleted.map((name) => client.delete(`${configMaps}/${name}`)))
  await client.post(configMaps, bodyOf('the-last-one', 2, 'the last one'))
  const { items } = JSON.parse((await list.readAll()).body)
  assert.deepEqual(
    items.map((item: Told['object']) => `${item.metadata.name} ${item.data.i}`),
    names.map((name) => `${name} 0`),
  )
  const { body } = await unread.readAll((chunk) => chunk.includes(lastWords))
  const told = eventsIn(body)
  const first = told.slice(0, names.length)
  assert.deepEqual(
    first.map(({ type, object }) => `${type} ${object.metadata.name} ${object.data.i}`),
    names.map((name) => `ADDED ${name} 0`),
  )
  const rest = told.slice(names.length).map(({ type, object }) => `${type} ${object.metadata.name}`)
  const expected = [...changed.map((name) => `MODIFIED ${name}`), ...deleted.map((name) => `DELETED ${name}`)]
  assert.deepEqual(rest.slice(0, -1).sort(), expected.sort())
  assert.equal(rest.at(-1), 'ADDED the-last-one')
})

test('concurrent lists at an old resourceVersion are exact, use little memory and are limited in number', {
  timeout: 300_000,
}, async (t) => {
  const server = await startServer(t)
  const client = server.client()
  const names = Array.from({ length: 30 }, (_, i) => `object-${String(i).padStart(2, '0')}`)
  for (const name of names) await client.post(configMaps, bodyOf(name, 0))
  const version = await versionOf(client)
  for (const name of names) await client.put(`${configMaps}/${name}`, bodyOf(name, 1, 'short'))
  const path = `${configMaps}?resourceVersion=${version}&resourceVersionMatch=Exact`
  let unread: Unread[] = []
  const held = await rise(server, async () => {
    unread = await Promise.all(Array.from({ length: 15 }, () => Unread.open(t, server, path)))
  })
  t.diagnostic(`15 unread exact lists of 27 MB: ${Math.round(held / mega)} MB`)
  assert.ok(held < 220 * mega, `${Math.round(held / mega)} MB are held for 15 unread lists`)
  const { body } = await unread[3]!.readAll()
  const { items, metadata } = JSON.parse(body)
  assert.equal(metadata.resourceVersion, version)
  assert.deepEqual(
    items.map(
      (item: Told['object']) => `${item.metadata.name} ${item.data.i} ${JSON.stringify(item.data).length > 900_000}`,
    ),
    names.map((name) => `${name} 0 true`),
  )

  // The server may have closed the earlier requests by now, because their responses were not read for a long time.
  const more = await Promise.all(Array.from({ length: 70 }, () => Unread.open(t, server, path)))
  const refused = await eventually(
    () => client.get(`${path}&limit=1`),
    ({ status }) => status === 429,
  )
  assert.deepEqual([refused.body.reason, refused.headers['retry-after']], ['TooManyRequests', '2'])
  assert.equal((await client.get(`${configMaps}?limit=1`)).status, 200)
  for (const each of [...unread, ...more]) await each.leave()
  await eventually(
    () => client.get(`${path}&limit=2`),
    ({ status }) => status === 200,
  )
})

async function eventually<T>(ask: () => Promise<T>, isIt: (answer: T) => boolean): Promise<T> {
  for (let i = 0; i < 300; i++) {
    const answer = await ask()
    if (isIt(answer)) return answer
    await delay(50)
  }
  return assert.fail('it did not happen in time')
}
