/**
 * A server with several workers is one server: whatever connection a client has, it reads what was acknowledged on any
 * other, and watches tell all writes in one order. A worker may end in any way: nothing acknowledged is lost, its place is
 * taken, and counters do not fall. The end of the store's thread is the end of the process; SIGTERM lets requests finish.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { readServerFlags } from '../../src/server/command-line.ts'
import type { HttpClient } from '../tools/http-client.ts'
import { long } from '../tools/long.ts'
import { configMaps } from '../tools/paths.ts'
import { root, type ServerHandle, startServer, startUp } from '../tools/server.ts'
import { until, untilTrue } from '../tools/until.ts'

const workers = 3
/** With so many connections every worker has some: that one of three has none is a matter of one in a thousand. */
const connections = 18
const timeout = 180_000

const named = (name: string) => ({ metadata: { name }, data: { value: name } })

test('a number of workers that cannot be is refused', async () => {
  for (const value of ['0', '-1', 'two', '65', '1.5', ''])
    await assert.rejects(readServerFlags('apiserver', [`--workers=${value}`]), /--workers.*use 1 to 64/)
})

async function refusalOf(...flags: string[]): Promise<{ code: number | null; text: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-workers-'))
  const args = ['apiserver', '--admin-kubeconfig=', `--data-dir=${directory}/data`, ...flags]
  const child = spawn(join(root, 'bin/orch'), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.on('data', (chunk) => (text += chunk))
  await once(child, 'close')
  rmSync(directory, { recursive: true, force: true })
  return { code: child.exitCode, text }
}

test('workers on etcd are refused with what to do instead', { timeout }, async () => {
  const { code, text } = await refusalOf('--workers=2', '--etcd-servers=http://127.0.0.1:1', '--secure-port=0')
  assert.equal(code, 1)
  assert.match(text, /--workers goes with the embedded store: on etcd run several servers/)
})

const ending: (() => Promise<void>)[] = []
const owner = { after: (run: () => Promise<void>) => void ending.unshift(run) }
let server: ServerHandle
let clients: HttpClient[]

before(async () => {
  server = await startServer(owner, [`--workers=${workers}`])
  clients = Array.from({ length: connections }, () => server.client())
})

after(async () => {
  for (const end of ending) await end()
})

describe('workers are one server', { timeout }, () => {
  it('what one acknowledged every other reads at once, by name and in lists', async () => {
    for (const [i, writer] of clients.entries()) {
      const made = await writer.post(configMaps, named(`read-${i}`))
      assert.equal(made.status, 201, made.text)
      const reads = await Promise.all(clients.map((reader) => reader.get(`${configMaps}/read-${i}`)))
      assert.deepEqual(new Set(reads.map(({ text }) => text)), new Set([made.text]))
      const lists = await Promise.all(clients.slice(0, 6).map((reader) => reader.get(configMaps)))
      for (const { body } of lists)
        assert.ok(Number(body.metadata.resourceVersion) >= Number(made.body.metadata.resourceVersion))
      for (const { text } of lists) assert.ok(text.includes(`"read-${i}"`))
    }
  })

  it('one that was deleted is gone for all, and its name is free', async () => {
    for (const [i, client] of clients.slice(0, 6).entries()) {
      assert.equal((await client.delete(`${configMaps}/read-${i}`)).status, 200)
      const reads = await Promise.all(clients.map((reader) => reader.get(`${configMaps}/read-${i}`)))
      assert.deepEqual(new Set(reads.map(({ status }) => status)), new Set([404]))
      assert.equal((await clients[i + 6]!.post(configMaps, named(`read-${i}`))).status, 201)
    }
  })

  it('the history of an object is the same on all connections', async () => {
    const spec = { resource: 'configmaps', namespace: 'default', name: 'read-0' }
    const ask = (client: HttpClient) => client.post('/apis/ops.orch.io/v1/objecthistories', { spec })
    const histories = await Promise.all(clients.map(async (client) => (await ask(client)).body.status.revisions))
    assert.deepEqual(
      histories[0].map(({ verb }: { verb: string }) => verb),
      ['create', 'delete', 'create'],
    )
    for (const history of histories) assert.deepEqual(history, histories[0])
  })

  it('watches on all connections tell all writes in one order', async () => {
    const count = 120
    const { body } = await clients[0]!.get(`${configMaps}?limit=1`)
    const from = body.metadata.resourceVersion
    const stop = new AbortController()
    const watching = clients.map(async (client) => {
      const seen: string[] = []
      for await (const { object } of client.watch(`${configMaps}?watch=true&resourceVersion=${from}`, stop.signal)) {
        seen.push(object.metadata.resourceVersion!)
        if (seen.length === count) return seen
      }
      throw new Error(`the watch ended after ${seen.length} events`)
    })
    const writes = Array.from({ length: count }, (_, i) =>
      clients[i % connections]!.post(configMaps, named(`watched-${i}`)),
    )
    const versions = (await Promise.all(writes)).map(({ body: made }) => made.metadata.resourceVersion)
    const order = versions.toSorted((a, b) => Number(a) - Number(b))
    for (const seen of await Promise.all(watching)) assert.deepEqual(seen, order)
    stop.abort()
  })

  it('an object that all update at once loses no update', async () => {
    assert.equal((await clients[0]!.post(configMaps, named('hot'))).status, 201)
    const patches = clients.map((client, i) =>
      client.send(`${configMaps}/hot`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { data: { [`key-${i}`]: 'x' } },
      }),
    )
    for (const { status, text } of await Promise.all(patches)) assert.equal(status, 200, text)
    const { body } = await clients[5]!.get(`${configMaps}/hot`)
    assert.equal(Object.keys(body.data).filter((key) => key.startsWith('key-')).length, connections)
  })

  it('a list that begins at one worker goes on at another', async () => {
    let path = `${configMaps}?limit=7`
    let found = 0
    for (let page = 0; ; page++) {
      const { body, text } = await clients[page % connections]!.get(path)
      assert.ok(body.items, text)
      found += body.items.length
      if (!body.metadata.continue) break
      path = `${configMaps}?limit=7&continue=${encodeURIComponent(body.metadata.continue)}`
    }
    assert.equal(found, (await clients[0]!.get(configMaps)).body.items.length)
  })

  it('metrics count the requests of all', async () => {
    const before = await creates(clients[0]!)
    await Promise.all(clients.map((client, i) => client.post(configMaps, named(`counted-${i}`))))
    for (const client of clients) assert.equal(await creates(client), before + connections)
  })

  it('another server on the port is refused', async () => {
    for (const flag of ['--workers=2', '--workers=1']) {
      const { code, text } = await refusalOf(flag, `--secure-port=${server.port}`)
      assert.equal(code, 1)
      assert.match(text, /port \d+ on 127\.0\.0\.1 is in use/)
    }
  })

  it('the administrator has one kubeconfig, and each is ready', async () => {
    assert.ok(readdirSync(server.directory).includes('admin.kubeconfig'))
    assert.match(readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8'), new RegExp(`:${server.port}\\b`))
    for (const client of clients) assert.equal((await client.get('/readyz')).status, 200)
  })
})

/** How many ConfigMaps were created, as the server counts it. */
async function creates(client: HttpClient): Promise<number> {
  const { text } = await client.get('/metrics')
  const line = /^apiserver_request_total\{.*resource="configmaps".*verb="POST".*code="201"\} (\d+)$/m.exec(text)
  return Number(line?.[1] ?? 0)
}

/** A server whose workers a test can end: `end('1 exit')`. */
async function startFragile(t: Parameters<typeof startServer>[0]) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-workers-'))
  t.after(async () => rmSync(directory, { recursive: true, force: true }))
  const control = join(directory, 'end')
  const hook = pathToFileURL(join(root, 'test/tools/end-worker.mjs')).href
  const fragile = await startServer(t, ['--workers=2'], {
    NODE_OPTIONS: `--import=${hook} --max-old-space-size=150`,
    ORCH_END_WORKER: control,
  })
  const end = (how: string) => {
    writeFileSync(control, how)
    fragile.process.kill('SIGWINCH')
  }
  return { fragile, end }
}

const writePauseMs = 10

/** Writes on connections of its own until stopped, and remembers what was acknowledged. A lost answer is no loss. */
function writeAll(fragile: ServerHandle, prefix: string) {
  const acknowledged = new Map<string, string>()
  let stopped = false
  const write = async (writer: number) => {
    let client = fragile.client()
    for (let i = 0; !stopped; i++) {
      const name = `${prefix}-${writer}-${i}`
      await pause(writePauseMs)
      const made = await client.post(configMaps, named(name)).catch(() => undefined)
      if (made === undefined) {
        client.close()
        client = fragile.client()
      } else if (made.status === 201) acknowledged.set(name, made.body.metadata.resourceVersion)
    }
    client.close()
  }
  const writers = Array.from({ length: 6 }, (_, writer) => write(writer))
  return {
    acknowledged,
    stop: async () => {
      stopped = true
      await Promise.all(writers)
    },
  }
}

async function assertAllThere(fragile: ServerHandle, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  const client = fragile.client()
  const { body } = await client.get(configMaps)
  const stored = new Map<string, string>(
    body.items.map(({ metadata }: { metadata: { name: string; resourceVersion: string } }) => [
      metadata.name,
      metadata.resourceVersion,
    ]),
  )
  for (const [name, version] of acknowledged) assert.equal(stored.get(name), version, name)
  assert.equal(new Set(acknowledged.values()).size, acknowledged.size)
  client.close()
}

const countOf = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

/** Ends a worker while clients write, and waits until another has taken its place. Returns what was acknowledged. */
async function replaceOne(fragile: ServerHandle, end: () => void, round: number): Promise<ReadonlyMap<string, string>> {
  const writing = writeAll(fragile, `round-${round}`)
  await untilTrue(async () => writing.acknowledged.size > 20)
  end()
  await until(
    async () => fragile.output(),
    (output) => countOf(output, /a worker took the place of one that ended/g) === round,
    60_000,
  )
  const before = writing.acknowledged.size
  await untilTrue(async () => writing.acknowledged.size > before + 20)
  await writing.stop()
  return writing.acknowledged
}

/** The end of the store's thread: readiness says so, and the process ends. Returns what was acknowledged. */
async function endStore(fragile: ServerHandle, end: () => void): Promise<ReadonlyMap<string, string>> {
  const writing = writeAll(fragile, 'hub')
  await untilTrue(async () => writing.acknowledged.size > 20)
  const client = fragile.client()
  const exit = once(fragile.process, 'exit')
  assert.equal((await client.get('/readyz')).status, 200)
  end()
  const { status, text } = await until(
    () => client.get('/readyz'),
    (ready) => ready.status !== 200,
  )
  assert.equal(status, 503)
  assert.match(text, /store failed: nothing can be written any more: the thread of the store has ended/)
  await exit
  client.close()
  await writing.stop()
  return writing.acknowledged
}

/** The worker, and how it ends; `0` has the duties. In the long form in every way. */
const ways = ['0 error', ...(long ? ['1 exit', '0 memory', '1 stall', '1 terminate', '1 loop'] : [])]

test('workers, the store and all of them end, and nothing acknowledged is lost', { timeout }, async (t) => {
  const { fragile, end } = await startFragile(t)
  let shown = 0
  for (const [i, how] of ways.entries()) {
    await t.test(`a worker that ends is replaced, and counters do not fall: ${how}`, async () => {
      const acknowledged = await replaceOne(fragile, () => end(how), i + 1)
      await assertAllThere(fragile, acknowledged)
      const client = fragile.client()
      const now = await creates(client)
      assert.ok(now >= shown, `${now} creates are counted, ${shown} were`)
      shown = now
      client.close()
      assert.equal(countOf(fragile.output(), /a worker ended; another takes its place/g), i + 1)
    })
  }
  await t.test('the end of the store is the end of the server, with the reason', async () => {
    const acknowledged = await endStore(fragile, () => end('hub'))
    assert.equal(fragile.process.exitCode, 1)
    assert.equal(countOf(fragile.output(), /the store can no longer be written, so the server stops/g), 1)
    await fragile.restart()
    await assertAllThere(fragile, acknowledged)
  })
  await t.test('after a kill one worker finds what several were told', async () => {
    const writing = writeAll(fragile, 'killed')
    await untilTrue(async () => writing.acknowledged.size > 50)
    await fragile.kill()
    await writing.stop()
    await fragile.restart(['--workers=1'])
    await assertAllThere(fragile, writing.acknowledged)
  })
})

test('SIGTERM lets requests of all workers finish', { timeout }, async (t) => {
  const stopped = await startUp(t, ['--workers=2'])
  const watchers = Array.from({ length: 9 }, () => stopped.client())
  const under = watchers.map(async (client) => {
    for await (const _ of client.watch(`${configMaps}?watch=true`, new AbortController().signal));
  })
  const writing = writeAll(stopped, 'stopped')
  await untilTrue(async () => writing.acknowledged.size > 50)
  const code = await stopped.stop()
  await writing.stop()
  assert.equal(code, 0, stopped.output())
  await Promise.allSettled(under)
  await stopped.restart(['--workers=1'])
  await assertAllThere(stopped, writing.acknowledged)
})
