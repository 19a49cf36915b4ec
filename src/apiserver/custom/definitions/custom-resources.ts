/**
 * Serves custom resources. Watches the stored definitions, which any server may have written, and reconciles each of
 * them:
 *
 * - New definition: creates the kinds, loads and serves their objects, then sets the condition Established.
 * - Changed definition: creates the kinds again and replaces the old ones.
 * - Terminating definition: rejects new objects, deletes the existing ones, then removes the finalizer.
 * - Deleted definition: stops serving the kinds and frees their memory.
 *
 * Each step reads the current state and can be repeated at any time, so that restarts and concurrent servers are
 * harmless.
 */

import type { CustomResourceDefinition } from '../../../api/kinds/apiextensions/definition-fields.ts'
import { errorFields } from '../../../base/telemetry/log.ts'
import { type LoopRecords, type RunningLoop, startLoop } from '../../../client/reconcile/loop.ts'
import { fromCache } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import { assertSameLoad, type RegistryParts, type Resource, waitForCaches } from '../../registry/catalogue/resource.ts'
import type { ConversionParts } from '../conversion/conversion-webhook.ts'
import { cleanUp } from './cleanup.ts'
import { type DefinitionStatusParts, isUpToDate, namesFor, writeStatus } from './definition-status.ts'
import { DefinitionSummaries, type DefinitionSummary, groupOf } from './definition-summaries.ts'
import { grantsAll } from './names.ts'
import { ServedDefinitions } from './served-definitions.ts'

export interface CustomResourcesParts {
  /** The `customresourcedefinitions` resource. */
  readonly resource: Resource
  readonly catalogue: Catalogue
  readonly registry: RegistryParts
  readonly records: LoopRecords
  readonly conversion: ConversionParts
}

/** The parts of a URL that identify a resource type. */
export interface TypePlace {
  readonly group: string
  readonly version: string
  readonly plural: string
}

/** Maximum time in milliseconds that a request waits for a type that is about to be served. */
const arrivalMs = 3000
const backoff = { firstMs: 50, longestMs: 10_000 }

/** Establishes, serves and cleans up all custom kinds according to their definitions. */
export class CustomResources {
  readonly #parts: CustomResourcesParts
  readonly #known: DefinitionSummaries
  readonly #served: ServedDefinitions
  readonly #establishing: DefinitionStatusParts
  #definitions: RunningLoop | undefined
  #cleanups: RunningLoop | undefined
  /** Accepted names of each definition, as JSON. Used to detect when the names of a definition change. */
  readonly #granted = new Map<string, string>()
  readonly #waiting = new WeakSet<CachedObject>()

  constructor(parts: CustomResourcesParts) {
    const { resource, catalogue, registry, conversion } = parts
    this.#parts = parts
    this.#known = new DefinitionSummaries(resource, catalogue)
    this.#served = new ServedDefinitions({
      catalogue,
      registry,
      known: this.#known,
      conversion,
      settled: (name) => this.#settled(name),
    })
    this.#establishing = { resource, catalogue, known: this.#known }
  }

  /** Resolves when all established definitions are served. The caches must be loaded. */
  async start(): Promise<void> {
    const { resource, records } = this.#parts
    for (const name of this.#known.names()) await this.#serveKnown(name)
    this.#cleanups = startLoop(
      {
        name: 'custom-resource-cleanup',
        sources: [],
        backoff,
        reconcile: (name, signal) => this.#cleanUp(name, signal),
      },
      records,
    )
    this.#definitions = startLoop(
      {
        name: 'custom-resource-definitions',
        sources: [fromCache(resource.cache, { expected: () => this.#known.names() })],
        backoff,
        reconcile: (name, signal) => this.#reconcile(name, signal),
      },
      records,
    )
  }

  async stop(): Promise<void> {
    await Promise.all([this.#definitions?.stop(), this.#cleanups?.stop()])
  }

  /**
   * Waits until pending changes to the definition of a type have been processed, because the type may be served then.
   * Returns undefined if the group cannot belong to a custom resource.
   */
  readonly waitForType = ({ group, plural }: TypePlace): Promise<void> | undefined =>
    group.includes('.') ? this.#settled(`${plural}.${group}`) : undefined

  async #settled(name: string): Promise<void> {
    await waitForCaches(this.#parts.registry)
    const settled = this.#definitions?.settled(name)
    if (settled === undefined) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, arrivalMs)
    })
    await Promise.race([settled, late])
    clearTimeout(timer)
  }

  /** Serves a definition that another server established before this server became ready. */
  async #serveKnown(name: string): Promise<void> {
    const definition = this.#known.read(name)
    const summary = this.#known.get(name)
    if (definition === undefined || !summary?.established) return
    try {
      await this.#served.serve(definition, summary.acceptedNames)
    } catch (error) {
      this.#parts.records.log.error('cannot serve custom resource definition', { name, ...errorFields(error) })
    }
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<StepOutcome> {
    const definition = this.#known.read(name)
    const summary = this.#known.get(name)
    this.#requeueCompetitors(name, summary)
    if (definition === undefined || summary === undefined) {
      this.#served.remove(name)
      return 'done'
    }
    if (summary.established) await this.#served.serve(definition, summary.acceptedNames)
    if (summary.cleanup) this.#cleanups?.add(name)
    if (!summary.terminating) await this.#establish(definition, summary, signal)
    return 'done'
  }

  async #establish(
    definition: CustomResourceDefinition,
    summary: DefinitionSummary,
    signal: AbortSignal,
  ): Promise<void> {
    const granted = namesFor(this.#establishing, summary)
    if (isUpToDate(definition, granted, this.#parts.registry.clock.now())) return
    // Serve the type before writing the status, so that clients can use the type as soon as they see the condition
    // Established.
    if (grantsAll(granted)) await this.#served.serve(definition, granted.names)
    // The definition has lost its name to another definition, so stop serving it.
    else if (!summary.established) this.#served.remove(summary.name)
    await writeStatus(this.#establishing, summary, { granted, signal })
  }

  /**
   * When the accepted names of a definition change, reconciles the definitions of the same group whose names have not
   * been accepted.
   */
  #requeueCompetitors(name: string, summary: DefinitionSummary | undefined): void {
    const granted = summary === undefined ? undefined : JSON.stringify(summary.acceptedNames)
    if (this.#granted.get(name) === granted) return
    if (granted === undefined) this.#granted.delete(name)
    else this.#granted.set(name, granted)
    for (const rival of this.#known.ofGroup(groupOf(name)))
      if (!rival.accepted && rival.name !== name) this.#definitions?.add(rival.name)
  }

  async #cleanUp(name: string, signal: AbortSignal): Promise<StepOutcome> {
    const { resource, registry } = this.#parts
    const assertCurrent = assertSameLoad(registry)
    const definition = this.#known.read(name)
    if (definition === undefined || !this.#known.get(name)?.cleanup) return 'done'
    return await cleanUp({ resource, registry, waiting: this.#waiting, assertCurrent, signal }, definition, () =>
      this.#cleanups?.add(name),
    )
  }
}
