/**
 * Clients that record their operations on the ConfigMaps of one namespace, and the results. Each write has a unique
 * value. The clients continue after crashes. An operation without a response is recorded as ambiguous, and a watch
 * resumes after the last revision that it received. Clients of several servers on one store share one record.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, HttpClient, WatchEvent } from '../support/http-client.ts'
import type { Change, Get, List, Seen, Write } from './history.ts'

const collection = '/api/v1/namespaces/default/configmaps'

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any object
type AnyObject = any

/** The clients that a watch uses in turn, and how long each connection lasts. */
interface Turns {
  readonly clients?: readonly HttpClient[]
  readonly seconds?: number
}

/** The recorded operations and results of all clients of one store, with one clock. */
class Records {
  readonly writes: Write[] = []
  readonly gets: Get[] = []
  readonly lists: List[] = []
  moment = 0
  values = 0
}

export class Recorder {
  readonly #client: HttpClient
  readonly #records: Records

  constructor(client: HttpClient, records = new Records()) {
    this.#client = client
    this.#records = records
  }

  /** Returns a client of another server that uses the same record. */
  over(client: HttpClient): Recorder {
    return new Recorder(client, this.#records)
  }

  get writes(): readonly Write[] {
    return this.#records.writes
  }

  get gets(): readonly Get[] {
    return this.#records.gets
  }

  get lists(): readonly List[] {
    return this.#records.lists
  }

  create(key: string): Promise<void> {
    const value = this.#newValue()
    return this.#write('create', key, value, () => this.#client.post(collection, objectOf(key, value)))
  }

  update(key: string): Promise<void> {
    const value = this.#newValue()
    return this.#write('update', key, value, () => this.#client.put(`${collection}/${key}`, objectOf(key, value)))
  }

  delete(key: string): Promise<void> {
    return this.#write('delete', key, '', () => this.#client.delete(`${collection}/${key}`))
  }

  async get(key: string): Promise<void> {
    const called = this.#records.moment++
    const answer = await this.#ask(() => this.#client.get(`${collection}/${key}`))
    if (answer === undefined || (answer.status !== 200 && answer.status !== 404)) return
    const seen = answer.status === 200 ? seenIn(answer.body) : undefined
    this.#records.gets.push({ key, called, returned: this.#records.moment++, seen })
  }

  async list(): Promise<void> {
    const called = this.#records.moment++
    const answer = await this.#ask(() => this.#client.get(collection))
    if (answer?.status !== 200) return
    const { metadata, items } = answer.body
    const seen = new Map<string, Seen>(items.map((item: AnyObject) => [item.metadata.name, seenIn(item)]))
    this.#records.lists.push({
      called,
      returned: this.#records.moment++,
      revision: Number(metadata.resourceVersion),
      seen,
    })
  }

  /**
   * Records a read of all objects that was not made with a list request. As with a list, the result must be a state
   * that existed.
   */
  async readAll(read: () => Promise<Pick<List, 'revision' | 'seen'>>): Promise<void> {
    const called = this.#records.moment++
    const { revision, seen } = await read()
    this.#records.lists.push({ called, returned: this.#records.moment++, revision, seen })
  }

  /**
   * Follows the changes after a revision, over as many connections as necessary, until the signal aborts. Each
   * connection lasts at most the given number of seconds, and the next connection uses the next client in `clients`.
   */
  async *watch(
    start: number,
    signal: AbortSignal,
    { clients = [this.#client], seconds = 0 }: Turns = {},
  ): AsyncGenerator<Change> {
    let revision = start
    for (let turn = 0; !signal.aborted; turn++) {
      const path = `${collection}?watch=1&resourceVersion=${revision}${seconds > 0 ? `&timeoutSeconds=${seconds}` : ''}`
      for await (const event of events(clients[turn % clients.length]!, path, signal)) {
        const change = changeOf(event)
        revision = change.revision
        yield change
      }
      // While the server is down, every call fails immediately.
      await delay(20)
    }
  }

  async #write(does: Write['does'], key: string, value: string, send: () => Promise<Answer>): Promise<void> {
    const called = this.#records.moment++
    const answer = await this.#ask(send)
    const returned = answer === undefined ? Number.POSITIVE_INFINITY : this.#records.moment++
    this.#records.writes.push({ does, key, value, called, returned, ...outcomeOf(answer) })
  }

  /** Returns undefined if no complete response arrived because the server was killed. */
  async #ask(send: () => Promise<Answer>): Promise<Answer | undefined> {
    return await send().catch((error: NodeJS.ErrnoException) => {
      if (broken.includes(error.code ?? '')) return undefined
      throw error
    })
  }

  #newValue(): string {
    return `value-${++this.#records.values}`
  }
}

async function* events(client: HttpClient, path: string, signal: AbortSignal): AsyncGenerator<WatchEvent> {
  try {
    yield* client.watch(path, signal)
  } catch (error) {
    if (!signal.aborted && !broken.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

const broken = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ABORT_ERR',
  'HTTP_503',
  'HTTP_504',
]

// Returns an object that contains the value twice, so that a partial write would be visible.
function objectOf(name: string, value: string) {
  return { metadata: { name }, data: { a: value, z: value } }
}

/** These responses guarantee that the write was not executed. Clients rely on this guarantee when they retry. */
const notDone = [503, 507]

function outcomeOf(answer: Answer | undefined): Pick<Write, 'outcome' | 'revision' | 'uid'> {
  const refused =
    answer !== undefined && answer.status >= 400 && (answer.status < 500 || notDone.includes(answer.status))
  if (refused) return { outcome: 'refused', revision: 0, uid: '' }
  if (answer === undefined || answer.status >= 500) return { outcome: 'ambiguous', revision: 0, uid: '' }
  const { metadata, details } = answer.body
  return {
    outcome: 'acknowledged',
    revision: Number(metadata.resourceVersion ?? 0),
    uid: metadata.uid ?? details.uid,
  }
}

function seenIn({ metadata, data }: AnyObject): Seen {
  return { revision: Number(metadata.resourceVersion), value: wholeValue(data) }
}

function changeOf({ type, object }: WatchEvent): Change {
  if (type === 'ERROR') throw new Error(`a watch ended with ${JSON.stringify(object)}`)
  const { name, uid } = object.metadata
  return { type, key: name, uid, ...seenIn(object) }
}

function wholeValue(data: { a: string; z: string }): string {
  return data.a === data.z ? data.a : `half of ${data.a}, half of ${data.z}`
}
