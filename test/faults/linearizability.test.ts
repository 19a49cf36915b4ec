/**
 * Tests that every object behaves like a single copy. Concurrent clients read, list, create, replace (unconditionally,
 * by resourceVersion, or by a patch with a test) and delete a few objects. The responses must be linearizable, both on
 * the embedded store and through two servers on one etcd. The checker itself is tested first, with linearizable
 * histories, with histories that are not linearizable, and against an exhaustive search. With ORCH_LONG=1, the test
 * runs ten times as many operations.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { startEtcd } from '../support/etcd.ts'
import type { Answer, HttpClient } from '../support/http-client.ts'
import { long, longTest } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { isLinearizable, type Operation, type State } from './linearizability.ts'
import { report } from './load.ts'

const clients = 10
const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
const operationsPerClient = long ? 2_500 : 50

const at = (called: number, returned: number) => ({ called, returned })
const create = (value: string) => ({ does: 'create', value, answer: 'done' }) as const
const replace = (value: string, expected?: string) => ({ does: 'replace', value, expected, answer: 'done' }) as const
const read = (seen: State) => ({ does: 'read', seen }) as const
const lost = Number.POSITIVE_INFINITY

const sound: { readonly [name: string]: readonly Operation[] } = {
  'sequential operations': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 3), ...read('a') },
    { ...at(4, 5), does: 'remove', answer: 'done' },
    { ...at(6, 7), ...read(undefined) },
  ],
  'a read during a write returns the old value, and a later read the new value': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 9), ...replace('b') },
    { ...at(3, 4), ...read('a') },
    { ...at(5, 6), ...read('b') },
  ],
  'a write without a response takes effect late': [
    { ...at(0, lost), ...create('a') },
    { ...at(1, 2), ...read(undefined) },
    { ...at(3, 4), ...read('a') },
  ],
  'a write without a response never takes effect': [
    { ...at(0, lost), ...create('a') },
    { ...at(1, 2), ...read(undefined) },
  ],
  'one of two conditional writes on the same state succeeds': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 5), ...replace('b', 'a') },
    { ...at(3, 6), does: 'replace', value: 'c', expected: 'a', answer: 'conflict' },
  ],
}

const unsound: { readonly [name: string]: readonly Operation[] } = {
  'a stale read': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 3), ...replace('b') },
    { ...at(4, 5), ...read('a') },
  ],
  'a read returns the new value, then the old one again': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 9), ...replace('b') },
    { ...at(3, 4), ...read('b') },
    { ...at(5, 6), ...read('a') },
  ],
  'two conditional writes on the same state both succeed': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 5), ...replace('b', 'a') },
    { ...at(3, 6), ...replace('c', 'a') },
  ],
  'a lost update': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 3), ...replace('b', 'a') },
    { ...at(4, 5), ...replace('c', 'a') },
  ],
  'an acknowledged write is lost': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 3), ...read(undefined) },
  ],
  'a delete is undone': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 3), does: 'remove', answer: 'done' },
    { ...at(4, 5), ...read('a') },
  ],
  'created twice': [
    { ...at(0, 3), ...create('a') },
    { ...at(1, 4), ...create('b') },
  ],
  'a value that was never written is read': [{ ...at(0, 1), ...read('a') }],
  'a create is rejected although the key does not exist': [
    { ...at(0, 1), does: 'create', value: 'a', answer: 'exists' },
  ],
  'a read returns a value before it is written': [
    { ...at(0, 1), ...read('a') },
    { ...at(2, 3), ...create('a') },
  ],
  'a write without a response is visible, then not': [
    { ...at(0, lost), ...create('a') },
    { ...at(1, 2), ...read('a') },
    { ...at(3, 4), ...read(undefined) },
  ],
  'a conflict is reported without a cause': [
    { ...at(0, 1), ...create('a') },
    { ...at(2, 3), does: 'replace', value: 'b', expected: 'a', answer: 'conflict' },
  ],
}

for (const [name, operations] of Object.entries(sound))
  test(`the linearizability checker accepts a history: ${name}`, () => assert.ok(isLinearizable(operations)))
for (const [name, operations] of Object.entries(unsound))
  test(`the linearizability checker rejects a history: ${name}`, () => assert.ok(!isLinearizable(operations)))

test('the linearizability checker agrees with an exhaustive search on small random histories', () => {
  const verdicts = { linearizable: 0, not: 0 }
  for (let seed = 0; seed < 3_000; seed++) {
    const operations = randomHistory(seeded(seed))
    const expected = orders(operations).some((order) => isLinearizable(sequential(order)))
    assert.equal(isLinearizable(operations), expected, `seed ${seed}: ${JSON.stringify(operations)}`)
    verdicts[expected ? 'linearizable' : 'not']++
  }
  assert.ok(verdicts.linearizable > 150 && verdicts.not > 150, JSON.stringify(verdicts))
})

/** Generates a handful of operations with random responses. */
function randomHistory(random: RandomSource): Operation[] {
  return Array.from({ length: 2 + random.below(4) }, (_, i) => {
    // Calls occur at even times and returns at odd times, so that no two of them coincide.
    const called = 2 * random.below(12)
    const when = { called, returned: random.chance(0.1) ? lost : called + 1 + 2 * random.below(6) }
    const known = random.pick([undefined, 'v0', 'v1', 'v2'])
    const die = random.below(10)
    if (die < 4) return { ...when, does: 'read', seen: known }
    if (die < 6) return { ...when, does: 'create', value: `v${i}`, answer: random.pick(['done', 'exists']) }
    if (die < 9)
      return { ...when, does: 'replace', value: `v${i}`, expected: known, answer: random.pick(['done', 'conflict']) }
    return { ...when, does: 'remove', answer: random.pick(['done', 'absent']) }
  })
}

/**
 * Tries every order that is consistent with the times of calls and returns. Operations without a response may be
 * omitted.
 */
function orders(left: readonly Operation[]): Operation[][] {
  const found: Operation[][] = left.every(({ returned }) => returned === lost) ? [[]] : []
  for (const next of left) {
    if (left.some((other) => other !== next && other.returned < next.called)) continue
    for (const rest of orders(left.filter((other) => other !== next))) found.push([next, ...rest])
  }
  return found
}

/** Returns the same operations in sequence, each with the response of a single copy. */
function sequential(order: readonly Operation[]): Operation[] {
  return order.map((operation, i) => ({ ...operation, called: 2 * i, returned: 2 * i + 1 }))
}

test('operations on the embedded store are linearizable', { timeout: 900_000 }, async (t) => {
  const server = await startServer(t)
  await runClients([server.client()], (counts) => report(t, counts))
})

longTest('operations through two servers on one etcd are linearizable', { timeout: 900_000 }, async (t) => {
  const cluster = await startEtcd({ members: 1 })
  t.after(() => cluster.stop())
  const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`]
  const servers = [await startServer(t, flags), await startServer(t, flags)]
  await runClients(
    servers.map((server) => server.client()),
    (counts) => report(t, counts),
  )
})

async function runClients(
  https: readonly HttpClient[],
  tell: (counts: { [name: string]: number }) => void,
): Promise<void> {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const log = new OperationLog()
  await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      const actor = new Actor(https[i % https.length]!, log, seeded(seed + i))
      for (let n = 0; n < operationsPerClient; n++) await actor.act()
    }),
  )
  const broken = keys.filter((key) => !isLinearizable(log.of(key)))
  const all = keys.flatMap((key) => log.of(key))
  const done = all.filter((operation) => operation.does !== 'read' && operation.answer === 'done').length
  const reads = all.filter(({ does }) => does === 'read').length
  tell({ operations: all.length, done, refused: all.length - done - reads, reads })
  assert.deepEqual(broken, [], `repeat with ORCH_TEST_SEED=${seed}`)
  assert.ok(done > (clients * operationsPerClient) / 10, `only ${done} writes were done`)
  assert.ok(overlapping(log) > all.length / 10, 'the clients hardly met')
}

/** Counts the operations that started while another operation on the same key was in progress. */
function overlapping(log: OperationLog): number {
  let count = 0
  for (const key of keys) {
    let latest = -1
    for (const { called, returned } of log.of(key).toSorted((a, b) => a.called - b.called)) {
      if (called < latest) count++
      latest = Math.max(latest, returned)
    }
  }
  return count
}

/** The operations of all clients, with a clock that only defines their order. */
class OperationLog {
  readonly #byKey = new Map<string, Operation[]>()
  #moment = 0
  #values = 0

  tick(): number {
    return this.#moment++
  }

  newValue(): string {
    return `value-${this.#values++}`
  }

  add(key: string, operation: Operation): void {
    const known = this.#byKey.get(key)
    if (known === undefined) this.#byKey.set(key, [operation])
    else known.push(operation)
  }

  of(key: string): readonly Operation[] {
    return this.#byKey.get(key) ?? []
  }
}

const collection = '/api/v1/namespaces/default/configmaps'

/**
 * One client. It performs random operations and remembers the last known state of each object as the precondition of
 * its writes.
 */
class Actor {
  readonly #client: HttpClient
  readonly #log: OperationLog
  readonly #random: RandomSource
  readonly #seen = new Map<string, { readonly value: string; readonly version: string }>()

  constructor(client: HttpClient, log: OperationLog, random: RandomSource) {
    this.#client = client
    this.#log = log
    this.#random = random
  }

  async act(): Promise<void> {
    const key = this.#random.pick(keys)
    const die = this.#random.below(100)
    if (die < 30) await this.#read(key)
    else if (die < 33) await this.#list()
    else if (die < 53) await this.#create(key)
    else if (die < 63) await this.#replace(key)
    else if (die < 76) await this.#replaceByVersion(key)
    else if (die < 88) await this.#patch(key)
    else await this.#remove(key)
  }

  async #read(key: string): Promise<void> {
    const called = this.#log.tick()
    const answer = await this.#ask(`${collection}/${key}`, [200, 404])
    const seen = answer.status === 200 ? this.#remember(answer.body) : undefined
    this.#log.add(key, { called, returned: this.#log.tick(), does: 'read', seen })
  }

  /** Lists all keys. A list counts as a read of every key between its call and its return. */
  async #list(): Promise<void> {
    const called = this.#log.tick()
    const { body } = await this.#ask(collection, [200])
    const returned = this.#log.tick()
    const found = new Map<string, string>(body.items.map((item: StoredMap) => [item.metadata.name, item.data.v]))
    for (const key of keys) this.#log.add(key, { called, returned, does: 'read', seen: found.get(key) })
  }

  async #create(key: string): Promise<void> {
    const value = this.#log.newValue()
    const called = this.#log.tick()
    const { status } = await this.#ask(collection, [201, 409], 'POST', { metadata: { name: key }, data: { v: value } })
    const answer = status === 201 ? 'done' : 'exists'
    this.#log.add(key, { called, returned: this.#log.tick(), does: 'create', value, answer })
  }

  async #replace(key: string): Promise<void> {
    const value = this.#log.newValue()
    const body = { metadata: { name: key }, data: { v: value } }
    await this.#write(key, { value, expected: undefined }, () =>
      this.#ask(`${collection}/${key}`, [200, 404], 'PUT', body),
    )
  }

  async #replaceByVersion(key: string): Promise<void> {
    const seen = this.#seen.get(key)
    if (seen === undefined) return await this.#read(key)
    const value = this.#log.newValue()
    const body = { metadata: { name: key, resourceVersion: seen.version }, data: { v: value } }
    await this.#write(key, { value, expected: seen.value }, () =>
      this.#ask(`${collection}/${key}`, [200, 404, 409], 'PUT', body),
    )
  }

  async #patch(key: string): Promise<void> {
    const seen = this.#seen.get(key)
    if (seen === undefined) return await this.#read(key)
    const value = this.#log.newValue()
    const body = [
      { op: 'test', path: '/data/v', value: seen.value },
      { op: 'replace', path: '/data/v', value },
    ]
    await this.#write(key, { value, expected: seen.value }, () =>
      this.#ask(`${collection}/${key}`, [200, 404, 422], 'PATCH', body),
    )
  }

  async #write(
    key: string,
    { value, expected }: { value: string; expected: State },
    send: () => Promise<Answer>,
  ): Promise<void> {
    const called = this.#log.tick()
    const { status, body } = await send()
    if (status === 200) this.#remember(body)
    const answer = status === 200 ? 'done' : status === 404 ? 'absent' : 'conflict'
    this.#log.add(key, { called, returned: this.#log.tick(), does: 'replace', value, expected, answer })
  }

  async #remove(key: string): Promise<void> {
    const called = this.#log.tick()
    const { status } = await this.#ask(`${collection}/${key}`, [200, 404], 'DELETE')
    const answer = status === 200 ? 'done' : 'absent'
    this.#log.add(key, { called, returned: this.#log.tick(), does: 'remove', answer })
  }

  #remember({ metadata, data }: StoredMap): string {
    this.#seen.set(metadata.name, { value: data.v, version: metadata.resourceVersion })
    return data.v
  }

  /**
   * Sends a request. In this test, only the state of the object may cause an error, so any other error fails the test.
   */
  async #ask(path: string, statuses: readonly number[], method = 'GET', body?: unknown): Promise<Answer> {
    const headers = method === 'PATCH' ? { 'content-type': 'application/json-patch+json' } : {}
    const answer = await this.#client.send(path, { method, headers, ...(body === undefined ? {} : { body }) })
    assert.ok(statuses.includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
    return answer
  }
}

interface StoredMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data: { readonly v: string }
}
