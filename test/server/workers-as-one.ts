/**
 * Tests that a server with several workers acts as one server: a client can read all acknowledged writes on any
 * connection, and watches return all writes in one order.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { admissionFile } from '../support/admission-file.ts'
import { endOfFile } from '../support/end-of-file.ts'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { type Ending, root, type ServerHandle, startServer } from '../support/server.ts'
import { creates } from './worker-faults.ts'

const workers = 3
/**
 * Number of connections, high enough for every worker to get at least one. The probability that one of three workers
 * gets none is only about one in a thousand.
 */
const connections = 18
/** Number of connections that write, one after another, while all connections read. */
const writers = long ? connections : 12

/** Number of Events that a user may write at once. */
const burst = 10

const objectNamed = (name: string) => ({ metadata: { name }, data: { value: name } })

interface Setting {
  /** Flags of the store. The programs that the store needs are started first and stopped at the end. */
  readonly flags: (owner: Ending) => Promise<readonly string[]>
  readonly keepsHistory: boolean
}

export function describeAsOne(name: string, { flags, keepsHistory }: Setting): void {
  describe(name, { timeout: 180_000 }, () => {
    const owner = endOfFile()
    let server: ServerHandle
    let clients: HttpClient[]

    before(async () => {
      const limits = [{ type: 'User', qps: 1, burst }]
      const head = { apiVersion: 'eventratelimit.admission.orch.io/v1alpha1', kind: 'Configuration' }
      const limited = admissionFile(owner, { EventRateLimit: { ...head, limits } })
      const admission = ['--enable-admission-plugins=EventRateLimit', limited]
      server = await startServer(owner, [`--workers=${workers}`, ...admission, ...(await flags(owner))])
      clients = Array.from({ length: connections }, () => server.client())
    })

    it('a write acknowledged by one worker is immediately visible through all others, by name and in lists', async () => {
      for (const [i, writer] of clients.slice(0, writers).entries()) {
        const made = await writer.post(configMaps, objectNamed(`read-${i}`))
        assert.equal(made.status, 201, made.text)
        const reads = await Promise.all(clients.map((reader) => reader.get(`${configMaps}/read-${i}`)))
        assert.deepEqual(new Set(reads.map(({ text }) => text)), new Set([made.text]))
        const lists = await Promise.all(clients.slice(0, 6).map((reader) => reader.get(configMaps)))
        for (const { body } of lists)
          assert.ok(Number(body.metadata.resourceVersion) >= Number(made.body.metadata.resourceVersion))
        for (const { text } of lists) assert.ok(text.includes(`"read-${i}"`))
      }
    })

    it('a deleted object disappears from all workers, and its name can be reused', async () => {
      for (const [i, client] of clients.slice(0, 6).entries()) {
        assert.equal((await client.delete(`${configMaps}/read-${i}`)).status, 200)
        const reads = await Promise.all(clients.map((reader) => reader.get(`${configMaps}/read-${i}`)))
        assert.deepEqual(new Set(reads.map(({ status }) => status)), new Set([404]))
        assert.equal((await clients[i + 6]!.post(configMaps, objectNamed(`read-${i}`))).status, 201)
      }
    })

    if (keepsHistory)
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

    it('watches on all connections report all writes in the same order', async () => {
      const count = long ? 120 : 60
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
        clients[i % connections]!.post(configMaps, objectNamed(`watched-${i}`)),
      )
      const versions = (await Promise.all(writes)).map(({ body: made }) => made.metadata.resourceVersion)
      const order = versions.toSorted((a, b) => Number(a) - Number(b))
      for (const seen of await Promise.all(watching)) assert.deepEqual(seen, order)
      stop.abort()
    })

    it('concurrent updates of an object through all workers are not lost', async () => {
      assert.equal((await clients[0]!.post(configMaps, objectNamed('hot'))).status, 201)
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

    it('a paged list that begins on one worker continues on another', async () => {
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

    it('metrics include the requests of all workers', async () => {
      const before = await creates(clients[0]!)
      await Promise.all(clients.map((client, i) => client.post(configMaps, objectNamed(`counted-${i}`))))
      for (const client of clients) assert.equal(await creates(client), before + connections)
    })

    it('the seats of all workers add up to the configured limit', async () => {
      const { text } = await clients[0]!.get('/metrics')
      const limits = text.matchAll(/^apiserver_flowcontrol_request_concurrency_limit\{.*\} (\d+)$/gm)
      const seats = limits.reduce((sum, [, limit]) => sum + Number(limit), 0)
      const levels = text.match(/^apiserver_flowcontrol_request_concurrency_limit\{/gm)!.length
      // The number of seats is rounded up for each level and worker.
      assert.ok(seats >= 600 && seats <= 600 + levels * workers, `${seats} seats`)
    })

    it('the Event rate limit applies to the total of all workers', async () => {
      const event = {
        metadata: { generateName: 'e-' },
        involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
      }
      const began = performance.now()
      const posts = [...clients, ...clients, ...clients].map((client) =>
        client.post('/api/v1/namespaces/default/events', event),
      )
      const statuses = (await Promise.all(posts)).map(({ status }) => status)
      const seconds = Math.ceil((performance.now() - began) / 1000)
      const written = statuses.filter((status) => status === 201).length
      assert.deepEqual([...new Set(statuses)].sort(), [201, 429])
      // The limit allows one more write per second.
      assert.ok(written >= burst && written <= burst + seconds, `${written} events in ${seconds} s`)
    })

    it('a second server on the same port is rejected', async () => {
      for (const flag of ['--workers=2', ...(long ? ['--workers=1'] : [])]) {
        const { code, text } = await refusalOf(flag, `--secure-port=${server.port}`)
        assert.equal(code, 1)
        assert.match(text, /port \d+ on 127\.0\.0\.1 is in use/)
      }
    })

    it('workers share one administrator kubeconfig, and each worker becomes ready', async () => {
      assert.ok(readdirSync(server.directory).includes('admin.kubeconfig'))
      assert.match(readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8'), new RegExp(`:${server.port}\\b`))
      for (const client of clients) assert.equal((await client.get('/readyz')).status, 200)
    })
  })
}

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
