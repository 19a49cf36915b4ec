/**
 * Clients that write down what they do and see: config maps of one namespace, each holding a value that no other write
 * has. They go on through crashes: an operation without an answer is recorded as ambiguous, and a watch resumes after
 * the last revision that it was told.
 */
import type { Answer, HttpClient, WatchEvent } from '../tools/http-client.ts'
import type { Change, Get, List, Seen, Write } from './history.ts'

const path = '/api/v1/namespaces/default/configmaps'

// biome-ignore lint/suspicious/noExplicitAny: objects as they came
type AnyObject = any

export class Recorder {
  readonly writes: Write[] = []
  readonly gets: Get[] = []
  readonly lists: List[] = []
  readonly #client: HttpClient
  #moment = 0
  #values = 0

  constructor(client: HttpClient) {
    this.#client = client
  }

  create(key: string): Promise<void> {
    const value = this.#newValue()
    return this.#write('create', key, value, () => this.#client.post(path, objectOf(key, value)))
  }

  update(key: string): Promise<void> {
    const value = this.#newValue()
    return this.#write('update', key, value, () => this.#client.put(`${path}/${key}`, objectOf(key, value)))
  }

  delete(key: string): Promise<void> {
    return this.#write('delete', key, '', () => this.#client.delete(`${path}/${key}`))
  }

  async get(key: string): Promise<void> {
    const called = this.#moment++
    const answer = await this.#ask(() => this.#client.get(`${path}/${key}`))
    if (answer === undefined || (answer.status !== 200 && answer.status !== 404)) return
    const seen = answer.status === 200 ? seenIn(answer.body) : undefined
    this.gets.push({ key, called, returned: this.#moment++, seen })
  }

  async list(): Promise<void> {
    const called = this.#moment++
    const answer = await this.#ask(() => this.#client.get(path))
    if (answer?.status !== 200) return
    const { metadata, items } = answer.body
    const seen = new Map<string, Seen>(items.map((item: AnyObject) => [item.metadata.name, seenIn(item)]))
    this.lists.push({ called, returned: this.#moment++, revision: Number(metadata.resourceVersion), seen })
  }

  /** Changes after a revision, through as many connections as it takes, until the signal aborts. */
  async *watch(start: number, signal: AbortSignal): AsyncGenerator<Change> {
    let revision = start
    while (!signal.aborted) {
      for await (const event of this.#events(revision, signal)) {
        const change = changeOf(event)
        revision = change.revision
        yield change
      }
    }
  }

  async #write(does: Write['does'], key: string, value: string, send: () => Promise<Answer>): Promise<void> {
    const called = this.#moment++
    const answer = await this.#ask(send)
    const returned = answer === undefined ? Number.POSITIVE_INFINITY : this.#moment++
    this.writes.push({ does, key, value, called, returned, ...outcomeOf(answer) })
  }

  /** Undefined when no whole answer came: the server was killed. */
  async #ask(send: () => Promise<Answer>): Promise<Answer | undefined> {
    return await send().catch((error: NodeJS.ErrnoException) => {
      if (broken.includes(error.code ?? '')) return undefined
      throw error
    })
  }

  async *#events(revision: number, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    try {
      yield* this.#client.watch(`${path}?watch=1&resourceVersion=${revision}`, signal)
    } catch (error) {
      if (!signal.aborted && !broken.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }

  #newValue(): string {
    return `value-${++this.#values}`
  }
}

const broken = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR']

// The value stands twice, so that half a write would show.
function objectOf(name: string, value: string) {
  return { metadata: { name }, data: { a: value, z: value } }
}

function outcomeOf(answer: Answer | undefined): Pick<Write, 'outcome' | 'revision' | 'uid'> {
  if (answer === undefined || answer.status >= 500) return { outcome: 'ambiguous', revision: 0, uid: '' }
  if (answer.status >= 400) return { outcome: 'refused', revision: 0, uid: '' }
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
