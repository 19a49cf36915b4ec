/**
 * Objects of a kind that the server itself keeps as they should be: each is looked at when it has changed, and when
 * somebody says that what it depends on has. A look that fails is repeated. Every server looks, at what it has heard;
 * one that finds everything said already writes nothing, so any number of them come to rest.
 *
 * `writeStatus` and `withCondition` are what such a look does most: a condition that is to say how things are.
 */
import { WorkQueue } from '../controllers/work-queue.ts'
import type { WorkQueueMetrics } from '../controllers/work-queue-metrics.ts'
import type { Json } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { ownWrite } from '../registry/own-write.ts'
import type { Resource } from '../registry/resource.ts'
import { updateObject } from '../registry/update.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { heardOf, ifThere } from './own-writes.ts'

export interface Keeping {
  /** Of a kind without namespaces. */
  readonly resource: Resource
  /** The name of its queue, as metrics tell it. */
  readonly queue: string
  /** Brings the object of this name in order; there may be none. */
  readonly look: (name: string, signal: AbortSignal) => Promise<void>
  /** Names of objects that should be there: they are looked at whenever all are. */
  readonly expected?: () => Iterable<string>
  /** What the log says when that fails. */
  readonly complaint: string
  readonly metrics: WorkQueueMetrics
  readonly log: Log
}

export class KeptObjects {
  readonly #resource: Resource
  readonly #expected: () => Iterable<string>
  readonly #queue: WorkQueue
  readonly #ending = new AbortController()
  #unfollow = () => {}
  #running: Promise<void> | undefined

  constructor({ resource, queue, look, expected = () => [], complaint, metrics, log }: Keeping) {
    this.#resource = resource
    this.#expected = expected
    this.#queue = new WorkQueue({
      work: async (name, signal) => {
        await look(name, signal)
        return 'done'
      },
      onError: (name, error) => log.error(complaint, { name, ...errorFields(error) }),
      meter: (state) => metrics.open(queue, state),
    })
  }

  /** Looks at this one, also where there is no object of that name. */
  add(name: string): void {
    this.#queue.add(name)
  }

  addAll(): void {
    for (const { name } of this.#resource.cache.all()) this.add(name)
    for (const name of this.#expected()) this.add(name)
  }

  /** The caches have been loaded. */
  start(): void {
    const { cache } = this.#resource
    this.#unfollow = cache.onChange((key) =>
      key === undefined ? this.addAll() : this.add(key.slice(cache.prefix.length)),
    )
    this.addAll()
    this.#running = this.#queue.run(this.#ending.signal)
  }

  async stop(): Promise<void> {
    this.#unfollow()
    this.#ending.abort()
    await this.#running
  }
}

export interface StatusWrite {
  readonly name: string
  readonly signal: AbortSignal
  /** The object with the status that it should have; the very same one where it has it, and then nothing is written. */
  readonly next: (object: ApiObject) => ApiObject
}

export async function writeStatus(resource: Resource, { name, signal, next }: StatusWrite): Promise<void> {
  const found = heardOf(resource, { namespace: '', name })
  if (found === undefined || next(found) === found) return
  const context = ownWrite(resource, { subresource: 'status', optionsKind: 'UpdateOptions', signal })
  await ifThere(updateObject(context, name, (previous) => ({ object: next(previous), managed: false })))
}

interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

interface Conditional {
  readonly status?: { readonly conditions?: readonly (Partial<Condition> & { lastTransitionTime?: string })[] }
}

/** The object with this condition; the very same one where it says so already. `now` is since when, if that is news. */
export function withCondition(object: ApiObject, { type, status, reason, message }: Condition, now: string): ApiObject {
  const { conditions = [] } = (object as Conditional).status ?? {}
  const before = conditions.find((each) => each.type === type)
  const isNews = before?.status !== status
  if (!isNews && before.reason === reason) return object
  const lastTransitionTime = (isNews ? undefined : before.lastTransitionTime) ?? now
  const others = conditions.filter((each) => each !== before)
  const told = [...others, { type, status, lastTransitionTime, reason, message }]
  return { ...object, status: { conditions: told as unknown as Json } }
}
