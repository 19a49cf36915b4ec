/**
 * Applies Stage objects to objects of any kind other than Pod and Node, such as custom resources. Each kind is watched
 * once per author of its stages, with that author's permissions. The number of watches and the total rate of changes
 * are limited, because stages can trigger each other.
 */
import type { ApiObject } from '../../../api/model/object.ts'
import { pause } from '../../../base/concurrency/abort.ts'
import { TokenBucket } from '../../../base/limits/token-bucket.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { EventRecorder } from '../../../client/informers/event-recorder.ts'
import { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { Client } from '../../../client/requests/client.ts'
import { typesOf } from '../../../client/requests/discovery.ts'
import { nameOf, nameOfKey, objectKey, type ResourceType } from '../../../client/requests/resource-type.ts'
import { applyChanges } from '../stages/apply-changes.ts'
import type { Stage, StageResource } from '../stages/stage.ts'
import { impersonatingActor } from '../stages/stage-actor.ts'
import { StagedObjects } from '../stages/staged-objects.ts'
import { templateFunctions } from '../stages/template-functions.ts'
import { type StageObjects, unlessSame } from './stage-objects.ts'

export interface StagedKindsParts {
  readonly stages: StageObjects
  /** Returns a client for the actor of a stage. */
  readonly clientOf: (actor: string) => Client
  readonly clock: Clock
  readonly speed: number
  readonly pageLimit?: number | undefined
  /** Client for the Events that report invalid stages. */
  readonly faultClient: Client
  /** Name of the component that records Events. */
  readonly component: string
  readonly onError: (error: unknown) => void
}

/** Maximum number of watches. */
const maxFollowed = 20
/** Limit on the rate of changes to all objects together. */
const rate = { perSecond: 100, burst: 1000 }
/** Time in milliseconds after which a kind that the server does not serve is looked up again. */
const lookupMs = 5000
/** Maximum duration of one timer in milliseconds. */
const maxDelayMs = 60 * 60_000

/** The objects of one kind, watched with the permissions of the author whose stages apply to them. */
interface FollowedKind {
  readonly id: string
  readonly actor: string
  readonly ended: AbortController
  /** Records the Events of the stages. */
  readonly events: EventRecorder
  stages: readonly Stage[]
  /** Why the stages have no effect at the moment. Undefined if the kind is being watched. */
  problem: string | undefined
  watch: { readonly informer: Informer; readonly objects: StagedObjects<ApiObject> } | undefined
}

export class StagedKinds {
  readonly #parts: StagedKindsParts
  readonly #followed = new Map<string, FollowedKind>()
  readonly #bucket: TokenBucket
  readonly #startedAt: number
  readonly #faults: EventRecorder
  readonly #problemHandlers = new Set<(stage: string) => void>()
  /** Names of the stages that exceed the maximum number of watches. */
  #excess = new Set<string>()
  #lastId = 0
  #add: (key: string) => void = () => {}

  constructor(parts: StagedKindsParts) {
    this.#parts = parts
    this.#bucket = new TokenBucket(rate, () => parts.clock.monotonic())
    this.#startedAt = parts.clock.now()
    this.#faults = this.#recorder(parts.faultClient)
  }

  /** Returns the loop. Its keys consist of the ID of a followed kind and the key of an object. */
  get loop(): Loop {
    return {
      name: 'kwok-stages',
      concurrency: 16,
      sources: [
        {
          connect: (add) => {
            this.#add = add
            this.#follow()
            const disconnect = this.#parts.stages.onChange('other', () => this.#follow())
            return () => {
              disconnect()
              for (const followed of this.#followed.values()) end(followed)
              this.#faults.stop()
            }
          },
        },
      ],
      reconcile: (key, signal) => this.#step(key, signal),
    }
  }

  /** Returns the reason why a stage has no effect at the moment, or undefined if the stage takes effect. */
  problemOf(stage: string): string | undefined {
    if (this.#excess.has(stage)) return `stages are applied to at most ${maxFollowed} kinds and authors`
    return this.#followed.values().find(({ stages }) => stages.some(({ name }) => name === stage))?.problem
  }

  /** Calls the handler with the name of each stage whose problem may have changed. */
  onProblem(handler: (stage: string) => void): () => void {
    this.#problemHandlers.add(handler)
    return () => this.#problemHandlers.delete(handler)
  }

  /** Starts and ends watches so that they correspond to the current stages. */
  #follow(): void {
    const desired = Map.groupBy(
      this.#parts.stages.of('other'),
      ({ resource, actor }) => `${resource.apiVersion} ${resource.kind} ${actor}`,
    )
    for (const [key, followed] of this.#followed)
      if (!desired.has(key)) {
        end(followed)
        this.#followed.delete(key)
      }
    const excess = new Set<string>()
    for (const [key, stages] of desired) {
      const followed = this.#followed.get(key) ?? this.#begin(key, stages[0]!)
      if (followed === undefined) for (const { name } of stages) excess.add(name)
      else this.#setStages(followed, stages)
    }
    const concerned = new Set([...this.#excess, ...excess])
    this.#excess = excess
    this.#report(concerned)
  }

  #setStages(followed: FollowedKind, stages: readonly Stage[]): void {
    const previous = followed.stages
    followed.stages = unlessSame(previous, stages)
    if (previous === followed.stages) return
    for (const object of followed.watch?.informer.objects() ?? []) this.#add(`${followed.id} ${objectKey(object)}`)
    this.#report(stages.map(({ name }) => name))
  }

  #begin(key: string, { resource, actor = '' }: Stage): FollowedKind | undefined {
    if (this.#followed.size >= maxFollowed) return undefined
    const id = String(++this.#lastId)
    const ended = new AbortController()
    const events = this.#recorder(this.#parts.clientOf(actor))
    const followed: FollowedKind = { id, actor, ended, events, stages: [], problem: undefined, watch: undefined }
    this.#followed.set(key, followed)
    this.#run(followed, resource).catch((error: unknown) => {
      if (!ended.signal.aborted) this.#setProblem(followed, messageOf(error))
    })
    return followed
  }

  async #run(followed: FollowedKind, resource: StageResource): Promise<void> {
    const { clientOf, pageLimit } = this.#parts
    const { signal } = followed.ended
    const client = clientOf(followed.actor)
    let type = await this.#find(followed, client, resource)
    while (type === undefined && !signal.aborted) {
      await pause(lookupMs, signal)
      type = await this.#find(followed, client, resource)
    }
    if (type === undefined) return
    const informer = new Informer(client, type, {
      streamingLists: false,
      ...(pageLimit === undefined ? {} : { pageLimit }),
      onError: (error) => this.#setProblem(followed, messageOf(error)),
      onFollowing: () => this.#setProblem(followed, undefined),
    })
    const objects = this.#staged(followed, { type, resource })
    followed.watch = { informer, objects }
    informer.onChange(({ key, object }) => {
      if (object === undefined) objects.forget(key)
      else this.#add(`${followed.id} ${key}`)
    })
    await informer.run(signal)
  }

  /**
   * Finds the resource type of a kind. If the server does not serve the kind, reports the reason and returns undefined.
   */
  async #find(
    followed: FollowedKind,
    client: Client,
    { apiVersion, kind }: StageResource,
  ): Promise<ResourceType | undefined> {
    const slash = apiVersion.indexOf('/')
    const place = { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1) }
    try {
      const types = await typesOf(client, place, { signal: followed.ended.signal })
      const type = types.find((each) => each.kind === kind)
      if (type?.verbs.includes('watch') && type.verbs.includes('patch')) return type
      this.#setProblem(followed, `the server has no kind ${kind} of ${apiVersion} that can be watched and patched`)
    } catch (error) {
      if (!followed.ended.signal.aborted) this.#setProblem(followed, messageOf(error))
    }
    return undefined
  }

  #setProblem(followed: FollowedKind, problem: string | undefined): void {
    if (followed.problem === problem) return
    followed.problem = problem
    this.#report(followed.stages.map(({ name }) => name))
  }

  #report(stages: Iterable<string>): void {
    for (const stage of stages) for (const handler of this.#problemHandlers) handler(stage)
  }

  #recorder(client: Client): EventRecorder {
    const { component, clock, onError } = this.#parts
    return new EventRecorder({ client, component, clock, onError })
  }

  #staged(
    { actor, events }: FollowedKind,
    { type, resource }: { readonly type: ResourceType; readonly resource: StageResource },
  ): StagedObjects<ApiObject> {
    const { clock, speed, clientOf } = this.#parts
    const client = clientOf(actor)
    return new StagedObjects<ApiObject>({
      clock,
      speed,
      untilTurn: () => this.#bucket.take(),
      apply: async ({ next }, object, signal) => {
        const parts = {
          finalizerClient: client,
          patchClient: (as: string | undefined) =>
            as === undefined ? client : clientOf(impersonatingActor(actor, as)),
          functions: templateFunctions({ node: undefined, podIp: '', now: clock.now(), startedAt: this.#startedAt }),
        }
        const { metadata } = await applyChanges({ type, object, next }, parts, signal)
        if (next.event !== undefined) events.record({ ...object, ...resource }, next.event)
        const preconditions = metadata.uid === undefined ? {} : { uid: metadata.uid }
        if (next.delete) await client.delete(type, nameOf(object), { preconditions, signal })
      },
      onFault: ({ name }, object, error) => {
        const message = `cannot apply stage ${name}: ${messageOf(error)}`
        this.#faults.record({ ...object, ...resource }, { type: 'Warning', reason: 'StageFailed', message })
      },
    })
  }

  async #step(key: string, signal: AbortSignal): Promise<StepOutcome> {
    const space = key.indexOf(' ')
    const followed = this.#followed.values().find(({ id }) => id === key.slice(0, space))
    if (followed?.watch === undefined) return 'done'
    const { informer, objects } = followed.watch
    const name = key.slice(space + 1)
    const object = informer.get(nameOfKey(name))
    if (object === undefined) return 'done'
    const dueMs = await objects.step(name, { object, stages: followed.stages }, signal)
    return dueMs === undefined || dueMs === Number.POSITIVE_INFINITY ? 'done' : { afterMs: Math.min(dueMs, maxDelayMs) }
  }
}

function end({ ended, events }: FollowedKind): void {
  ended.abort()
  events.stop()
}
