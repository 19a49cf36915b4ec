/**
 * Adds the kinds of definitions to the catalogue of served types, and keeps them up to date. Kinds are added when their
 * cache is filled, replaced when the definition changes and removed with the definition. Watches on a changed or
 * removed kind end.
 */
import type { CustomResourceDefinition, DefinitionNames } from '../../../api/kinds/apiextensions/definition-fields.ts'
import { ApiError, forbiddenError, noSuchPath, type ResourceRef } from '../../../api/model/api-error.ts'
import { summary } from '../../../api/model/field-error.ts'
import { type EmulationContext, isSince } from '../../../api/schema/context.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import { type RegistryParts, type Resource, serveTogether, waitForCaches } from '../../registry/catalogue/resource.ts'
import { TypeChanged } from '../../registry/writes/type-changed.ts'
import { type ConversionParts, conversionOf } from '../conversion/conversion-webhook.ts'
import { kindsOf } from './definition.ts'
import {
  type DefinitionSummaries,
  type DefinitionSummary,
  groupOf,
  pluralOf,
  servedAs,
} from './definition-summaries.ts'

interface Serving {
  readonly servedAs: string
  readonly types: readonly Resource[]
}

export interface ServingParts {
  readonly catalogue: Catalogue
  readonly registry: RegistryParts
  readonly known: DefinitionSummaries
  readonly conversion: ConversionParts
  /** Waits until all changes to a definition received so far have been processed. */
  readonly settled: (name: string) => Promise<void>
}

export class ServedDefinitions {
  readonly #parts: ServingParts
  readonly #serving = new Map<string, Serving>()

  constructor(parts: ServingParts) {
    this.#parts = parts
  }

  /** Whether the definition is already served in this state. */
  isServed({ name, servedAs }: DefinitionSummary): boolean {
    return this.#serving.get(name)?.servedAs === servedAs
  }

  /**
   * Serves the definition under the given names as soon as its objects can be read. Throws an error if its schema is
   * invalid.
   */
  async serve(definition: CustomResourceDefinition, names: DefinitionNames): Promise<void> {
    const { name = '', uid } = definition.metadata
    const state = servedAs(definition, names)
    const before = this.#serving.get(name)
    if (before?.servedAs === state) return
    const { registry, conversion } = this.#parts
    const { vendor, caches } = registry
    const newKinds = await kindsOf(definition, names, { vendor, convert: conversionOf(definition, conversion) })
    if (newKinds.outcome === 'invalid') throw new Error(`its schema is unusable: ${summary(newKinds.faults)}`)
    const types = this.#typesOf(newKinds.kinds, { name, uid: uid!, servedAs: state })
    const [cache] = types.map((type) => type.cache)
    if (cache !== undefined) await caches.open(cache)
    this.#parts.catalogue.replace(before?.types ?? [], types)
    this.#serving.set(name, { servedAs: state, types })
    // End the watches of the old types, so that clients start new watches and receive objects in the new form.
    for (const old of before?.types ?? []) {
      if (old.cache === cache) old.cache.finishWatches()
      else caches.remove(old.cache)
    }
  }

  /** Stops serving the definition and drops the cache of its objects. */
  remove(name: string): void {
    const { catalogue, registry } = this.#parts
    const serving = this.#serving.get(name)
    if (serving !== undefined) catalogue.remove(serving.types)
    this.#serving.delete(name)
    const cache = registry.caches.find(`${groupOf(name)}.`, pluralOf(name))
    if (cache !== undefined) registry.caches.remove(cache)
  }

  #typesOf(kinds: readonly Kind[], definition: DefinitionRef): Resource[] {
    const [first, ...others] = kinds
    if (first === undefined) return []
    const ref = { group: first.group.slice(0, -1), plural: first.plural }
    const definitionGuard: RegistryParts['definitionGuard'] = (write, name) =>
      this.#definitionGuard(write, definition, () => terminating(this.#parts.registry, ref, name))
    return serveTogether([first, ...others], { parts: { ...this.#parts.registry, definitionGuard } })
  }

  /**
   * Returns the precondition for a write: the definition that the type was created from must be unchanged. For a
   * create, the definition must also be established and not terminating. Existing objects can be changed and deleted
   * until the definition is removed.
   */
  async #definitionGuard(
    write: 'create' | 'change',
    definition: DefinitionRef,
    whileTerminating: () => ApiError,
  ): Promise<{ key: string; revision: number }> {
    const { known, registry, settled } = this.#parts
    const refuse = (recent: DefinitionSummary | undefined) =>
      write === 'create' ? whyNone(recent, definition, whileTerminating) : whyUnchanged(recent, definition)
    if (refuse(known.get(definition.name)) !== undefined) {
      // Before rejecting the write, wait for the latest status of the definition, which another server may be writing
      // at this moment.
      await settled(definition.name)
      await waitForCaches(registry)
    }
    const recent = known.get(definition.name)
    const error = refuse(recent)
    if (error !== undefined) throw error
    return { key: recent!.key, revision: recent!.revision }
  }
}

/**
 * Returns the error for writing an object whose definition was changed or removed. Returns undefined if the definition
 * is unchanged.
 */
function whyUnchanged(summary: DefinitionSummary | undefined, { uid, servedAs }: DefinitionRef): ApiError | undefined {
  if (summary === undefined || summary.uid !== uid) return noSuchPath()
  return summary.servedAs === servedAs ? undefined : new TypeChanged()
}

/**
 * Returns the error for a create if the definition does not currently allow new objects. Returns undefined otherwise.
 */
function whyNone(
  summary: DefinitionSummary | undefined,
  definition: DefinitionRef,
  whileTerminating: () => ApiError,
): ApiError | undefined {
  const outdated = whyUnchanged(summary, definition)
  if (summary === undefined || !summary.established) return noSuchPath()
  return outdated ?? (summary.terminating ? whileTerminating() : undefined)
}

/**
 * Returns the error for a create while the definition is being deleted. Since Kubernetes 1.34, the error contains the
 * name of the object.
 */
function terminating(context: EmulationContext, type: ResourceRef, name = ''): ApiError {
  const message = 'create not allowed while custom resource definition is terminating'
  if (isSince('1.34', context))
    return forbiddenError(type, name, `${type.plural}.${type.group} ${JSON.stringify(name)} is forbidden: ${message}`)
  return new ApiError(405, 'MethodNotAllowed', message, { group: type.group, kind: type.plural })
}

interface DefinitionRef {
  readonly name: string
  readonly uid: string
  /** Identifies how the definition was served when the type was created. */
  readonly servedAs: string
}
