/**
 * Custom resources on this server: follows the definitions in the store, whoever wrote them, and brings each to where
 * it should be, one step after the other:
 *
 *   new            its kinds are made, their objects loaded and served; then its status says that it is in use
 *   changed        its kinds are made again and take the place of those before
 *   being deleted  no new objects; those there are are deleted; then it is let go
 *   gone           nothing of it is served, and its memory is given back
 *
 * A step reads the state itself and may be repeated at any time, so a restart, and other servers, change nothing.
 */
import type { CachedObject } from '../cache/cached-object.ts'
import { type StepOutcome, WorkQueue } from '../controllers/work-queue.ts'
import type { WorkQueueMetrics } from '../controllers/work-queue-metrics.ts'
import type { CustomResourceDefinition } from '../kinds/apiextensions/definition-fields.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { type RegistryParts, type Resource, readMostRecent } from '../registry/resource.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { cleanUp } from './cleanup.ts'
import { type EstablishingParts, isUpToDate, namesFor, writeStatus } from './establishing.ts'
import { groupOf, type KnownDefinition, KnownDefinitions } from './known-definitions.ts'
import { grantsAll } from './names.ts'
import { ServedDefinitions } from './served-definitions.ts'

export interface CustomResourcesParts {
  /** Of the definitions. */
  readonly resource: Resource
  readonly catalogue: Catalogue
  readonly registry: RegistryParts
  readonly metrics: WorkQueueMetrics
  readonly log: Log
}

/** A type of objects, as a path names it. */
export interface TypePlace {
  readonly group: string
  readonly version: string
  readonly plural: string
}

/** How long a request waits for a type that is on its way. */
const arrivalMs = 3000
const backoff = { firstMs: 50, longestMs: 10_000 }

export class CustomResources {
  readonly #parts: CustomResourcesParts
  readonly #known: KnownDefinitions
  readonly #served: ServedDefinitions
  readonly #establishing: EstablishingParts
  readonly #steps: WorkQueue
  readonly #cleanups: WorkQueue
  readonly #stop = new AbortController()
  /** Definitions that have changed and were not looked at yet, and those that are being looked at; for who waits. */
  readonly #changed = new Map<string, PromiseWithResolvers<void>>()
  readonly #underWay = new Map<string, PromiseWithResolvers<void>>()
  /** The names that definitions were granted when they were last looked at. */
  readonly #granted = new Map<string, string>()
  readonly #waiting = new WeakSet<CachedObject>()
  #running: readonly Promise<void>[] = []
  #unfollow = () => {}

  constructor(parts: CustomResourcesParts) {
    const { resource, catalogue, registry, metrics, log } = parts
    this.#parts = parts
    this.#known = new KnownDefinitions(resource, registry.vendor)
    this.#served = new ServedDefinitions({
      catalogue,
      registry,
      known: this.#known,
      settled: (name) => this.#settled(name),
    })
    this.#establishing = { resource, catalogue, known: this.#known }
    const onError = (name: string, error: unknown) =>
      log.error('a custom resource definition is not in order yet; it is tried again', { name, ...errorFields(error) })
    const queue = (label: string, work: (name: string, signal: AbortSignal) => Promise<StepOutcome>) =>
      new WorkQueue({ work, onError, backoff, meter: (state) => metrics.open(label, state) })
    this.#steps = queue('custom-resource-definitions', (name, signal) => this.#step(name, signal))
    this.#cleanups = queue('custom-resource-cleanup', (name, signal) => this.#cleanUp(name, signal))
  }

  /** Resolves when everything is served that is in use. The caches have been loaded. */
  async start(): Promise<void> {
    const { cache } = this.#parts.resource
    this.#unfollow = cache.onChange((key) => this.#onChange(key))
    for (const name of this.#known.names()) {
      await this.#serveKnown(name)
      this.#add(name)
    }
    this.#running = [this.#steps, this.#cleanups].map((queue) => queue.run(this.#stop.signal))
  }

  async stop(): Promise<void> {
    this.#unfollow()
    this.#stop.abort()
    for (const { resolve } of this.#changed.values()) resolve()
    await Promise.all(this.#running)
  }

  /** Resolves when a type that is defined, and is not served yet, may be; undefined where none can be on its way. */
  readonly arrival = ({ group, plural }: TypePlace): Promise<void> | undefined =>
    group.includes('.') ? this.#settled(`${plural}.${group}`) : undefined

  async #settled(name: string): Promise<void> {
    await readMostRecent(this.#parts.registry)
    const changed = this.#changed.get(name) ?? this.#underWay.get(name)
    if (changed === undefined) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, arrivalMs)
    })
    await Promise.race([changed.promise, late])
    clearTimeout(timer)
  }

  #onChange(key: string | undefined): void {
    const { cache } = this.#parts.resource
    if (key !== undefined) this.#add(key.slice(cache.prefix.length))
    else for (const name of this.#known.names()) this.#add(name)
  }

  #add(name: string): void {
    if (!this.#changed.has(name)) this.#changed.set(name, Promise.withResolvers())
    this.#steps.add(name)
  }

  /** What another server has taken into use is served before this one says that it is ready. */
  async #serveKnown(name: string): Promise<void> {
    const definition = this.#known.read(name)
    const known = this.#known.get(name)
    if (definition === undefined || !known?.established) return
    try {
      await this.#served.serve(definition, known.granted)
    } catch (error) {
      this.#parts.log.error('a custom resource definition cannot be served', { name, ...errorFields(error) })
    }
  }

  async #step(name: string, signal: AbortSignal): Promise<StepOutcome> {
    const changed = this.#changed.get(name) ?? Promise.withResolvers()
    // What changes from here on is for the next step.
    this.#changed.delete(name)
    this.#underWay.set(name, changed)
    try {
      return await this.#bringOn(name, signal)
    } finally {
      this.#underWay.delete(name)
      changed.resolve()
    }
  }

  async #bringOn(name: string, signal: AbortSignal): Promise<StepOutcome> {
    const definition = this.#known.read(name)
    const known = this.#known.get(name)
    this.#tellRivals(name, known)
    if (definition === undefined || known === undefined) {
      this.#served.remove(name)
      return 'done'
    }
    if (known.established) await this.#served.serve(definition, known.granted)
    if (known.cleanup) this.#cleanups.add(name)
    if (!known.terminating) await this.#establish(definition, known, signal)
    return 'done'
  }

  async #establish(definition: CustomResourceDefinition, known: KnownDefinition, signal: AbortSignal): Promise<void> {
    const granted = namesFor(this.#establishing, known)
    if (isUpToDate(definition, granted, this.#parts.registry.clock.now())) return
    // Whoever reads that it is in use finds it served.
    if (grantsAll(granted)) await this.#served.serve(definition, granted.names)
    // Another may have been faster when it was served before.
    else if (!known.established) this.#served.remove(known.name)
    await writeStatus(this.#establishing, known, { granted, signal })
  }

  /** When the names that one has been granted change, those who wait for a name look whether it is free. */
  #tellRivals(name: string, known: KnownDefinition | undefined): void {
    const granted = known === undefined ? undefined : JSON.stringify(known.granted)
    if (this.#granted.get(name) === granted) return
    if (granted === undefined) this.#granted.delete(name)
    else this.#granted.set(name, granted)
    for (const rival of this.#known.ofGroup(groupOf(name)))
      if (!rival.accepted && rival.name !== name) this.#add(rival.name)
  }

  async #cleanUp(name: string, signal: AbortSignal): Promise<StepOutcome> {
    const { resource, registry } = this.#parts
    const definition = this.#known.read(name)
    if (definition === undefined || !this.#known.get(name)?.cleanup) return 'done'
    return await cleanUp({ resource, registry, waiting: this.#waiting, signal }, definition, () =>
      this.#cleanups.add(name),
    )
  }
}
