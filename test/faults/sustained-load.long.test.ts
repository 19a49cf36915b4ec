/**
 * Tests a sustained load of seven reads for every three writes, from clients that know the expected content of their
 * own objects. No request may fail, every response must be correct, and performance must not degrade. The long variant
 * (ORCH_LONG=1) first measures the capacity of the server, and then sends requests at four fifths of this rate for two
 * minutes. A request may cost at most a fifth more CPU time in the last third than in the first, and memory growth is
 * limited. The short variant sends a fixed number of requests.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { cpuMsOf } from '../support/cpu-time.ts'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { type ServerHandle, startServer } from '../support/server.ts'
import { report } from './load.ts'

const clients = 16
const keysPerClient = 8
const shortRequests = 2_000
const warmUpRequests = 10_000
const longMs = 120_000
const slices = 6

test('sustained load with 70% reads and 30% writes causes no errors', { timeout: 400_000 }, async (t) => {
  const server = await startServer(t)
  const actors = Array.from({ length: clients }, (_, i) => new Actor(server.client(), i))
  await Promise.all(actors.map((actor) => actor.prepare()))
  const { requests, seconds } = await flatOut(actors, long ? warmUpRequests : shortRequests)
  report(t, { requests, 'requests per second flat out': Math.round(requests / seconds) })
  if (long) await sustained(t, server, { actors, perSecond: (0.8 * requests) / seconds })
  assert.doesNotMatch(server.output(), / error /)
  for (const actor of actors) await actor.proveAll()
})

async function flatOut(actors: readonly Actor[], total: number): Promise<{ requests: number; seconds: number }> {
  const start = performance.now()
  let remaining = total
  await Promise.all(
    actors.map(async (actor) => {
      while (remaining-- > 0) await actor.act()
    }),
  )
  return { requests: total, seconds: (performance.now() - start) / 1000 }
}

interface Pace {
  readonly actors: readonly Actor[]
  readonly perSecond: number
}

async function sustained(t: Parameters<typeof report>[0], server: ServerHandle, timeSlice: Pace): Promise<void> {
  const measured: { requests: number; cpuMs: number; rss: number }[] = []
  for (let slice = 0; slice < slices; slice++) {
    const before = cpuMsOf(server.process.pid!)
    const requests = await paced(timeSlice, longMs / slices)
    measured.push({ requests, cpuMs: cpuMsOf(server.process.pid!) - before, rss: rssOf(server) })
  }
  const cost = (part: typeof measured) => sum(part, 'cpuMs') / sum(part, 'requests')
  const third = slices / 3
  const early = cost(measured.slice(0, third))
  const late = cost(measured.slice(-third))
  report(t, {
    'requests at four fifths': sum(measured, 'requests'),
    'microseconds of CPU each at first': Math.round(1000 * early),
    'at last': Math.round(1000 * late),
    'MiB of memory after the first third': Math.round(measured[third - 1]!.rss / 2 ** 20),
    'at the end': Math.round(measured.at(-1)!.rss / 2 ** 20),
  })
  assert.ok(late <= 1.2 * early, `a request costs ${late} ms of CPU, ${early} ms at first`)
  assert.ok(measured.at(-1)!.rss <= 1.25 * measured[third - 1]!.rss + 32 * 2 ** 20, 'memory grows past its bound')
}

/**
 * Sends requests at a steady rate. Each client sends its next request when the request is due, or immediately if the
 * client is late.
 */
async function paced({ actors, perSecond }: Pace, forMs: number): Promise<number> {
  const gapMs = (1000 * actors.length) / perSecond
  const end = performance.now() + forMs
  let requests = 0
  await Promise.all(
    actors.map(async (actor, i) => {
      for (let due = performance.now() + (gapMs * i) / actors.length; due < end; due += gapMs) {
        const early = due - performance.now()
        if (early > 1) await delay(early)
        await actor.act()
        requests++
      }
    }),
  )
  return requests
}

function sum<K extends string>(items: readonly { readonly [name in K]: number }[], name: K): number {
  return items.reduce((total, item) => total + item[name], 0)
}

function rssOf({ process: { pid } }: ServerHandle): number {
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}

const collection = '/api/v1/namespaces/default/configmaps'

/** A client with its own objects. The client knows their content, because no other client writes them. */
class Actor {
  readonly #client: HttpClient
  readonly #random: RandomSource
  readonly #name: string
  readonly #held = new Map<string, string>()
  #writes = 0

  constructor(client: HttpClient, index: number) {
    this.#client = client
    this.#random = seeded(index)
    this.#name = `actor-${index}`
  }

  async prepare(): Promise<void> {
    for (let i = 0; i < keysPerClient; i++) await this.#create(`${this.#name}-${i}`)
  }

  async act(): Promise<void> {
    const key = this.#random.pick([...this.#held.keys()])
    const die = this.#random.below(100)
    if (die < 60) await this.#read(key)
    else if (die < 70) await this.#list()
    else if (die < 90) await this.#update(key)
    else await this.#renew(key)
  }

  async proveAll(): Promise<void> {
    for (const key of this.#held.keys()) await this.#read(key)
  }

  async #read(key: string): Promise<void> {
    const body = await this.#ask(200, `${collection}/${key}`)
    assert.equal(body.data.v, this.#held.get(key), key)
  }

  async #list(): Promise<void> {
    const { items } = await this.#ask(200, `${collection}?labelSelector=actor%3D${this.#name}`)
    const found = new Map(items.map((item: StoredMap) => [item.metadata.name, item.data.v]))
    assert.deepEqual(found, new Map([...this.#held].sort(([a], [b]) => (a < b ? -1 : 1))))
  }

  async #update(key: string): Promise<void> {
    const object = this.#object(key)
    await this.#ask(200, `${collection}/${key}`, { method: 'PUT', body: object })
    this.#held.set(key, object.data.v)
  }

  async #renew(key: string): Promise<void> {
    await this.#ask(200, `${collection}/${key}`, { method: 'DELETE' })
    this.#held.delete(key)
    await this.#create(key)
  }

  async #create(key: string): Promise<void> {
    const object = this.#object(key)
    await this.#ask(201, collection, { method: 'POST', body: object })
    this.#held.set(key, object.data.v)
  }

  #object(name: string) {
    const v = `${this.#name} ${this.#writes++} ${'x'.repeat(this.#random.below(1000))}`
    return { metadata: { name, labels: { actor: this.#name } }, data: { v } }
  }

  async #ask(expected: number, path: string, sent: { method?: string; body?: unknown } = {}) {
    const { status, text, body } = await this.#client.send(path, sent)
    assert.equal(status, expected, `${sent.method ?? 'GET'} ${path}: ${text.slice(0, 300)}`)
    return body
  }
}

interface StoredMap {
  readonly metadata: { readonly name: string }
  readonly data: { readonly v: string }
}
