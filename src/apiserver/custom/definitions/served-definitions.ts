/**
 * Keeps what is served in step with the definitions: the kinds that one defines come into the catalogue when their
 * cache is filled, change when the definition does, and go with it. Watches on a kind that changes or goes end.
 */
import type { CustomResourceDefinition, DefinitionNames } from '../../../api/kinds/apiextensions/definition-fields.ts'
import { ApiError, noSuchPath, type ResourceRef } from '../../../api/model/api-error.ts'
import { summary } from '../../../api/model/field-error.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import { type RegistryParts, type Resource, serveTogether, waitForCaches } from '../../registry/catalogue/resource.ts'
import { TypeChanged } from '../../registry/writes/type-changed.ts'
import { type ConversionParts, conversionOf } from '../conversion/conversion-webhook.ts'
import { kindsOf } from './definition.ts'
import { groupOf, type KnownDefinition, type KnownDefinitions, pluralOf, servedAs } from './known-definitions.ts'

interface Serving {
  readonly servedAs: string
  readonly types: readonly Resource[]
}

export interface ServingParts {
  readonly catalogue: Catalogue
  readonly registry: RegistryParts
  readonly known: KnownDefinitions
  readonly conversion: ConversionParts
  /** Resolves when all that is known to have changed about a definition has been acted on. */
  readonly settled: (name: string) => Promise<void>
}

export class ServedDefinitions {
  readonly #parts: ServingParts
  readonly #serving = new Map<string, Serving>()

  constructor(parts: ServingParts) {
    this.#parts = parts
  }

  /** Whether this is what is served of the definition now. */
  isServed({ name, servedAs }: KnownDefinition): boolean {
    return this.#serving.get(name)?.servedAs === servedAs
  }

  /** Serves the definition under these names, when its objects are in memory. Throws where its schema cannot be read. */
  async serve(definition: CustomResourceDefinition, names: DefinitionNames): Promise<void> {
    const { name = '', uid } = definition.metadata
    const state = servedAs(definition, names)
    const before = this.#serving.get(name)
    if (before?.servedAs === state) return
    const { registry, conversion } = this.#parts
    const { vendor, caches } = registry
    const made = await kindsOf(definition, names, { vendor, convert: conversionOf(definition, conversion) })
    if (made.outcome === 'invalid') throw new Error(`its schema cannot be used: ${summary(made.faults)}`)
    const types = this.#typesOf(made.kinds, { name, uid: uid!, servedAs: state })
    const [cache] = types.map((type) => type.cache)
    if (cache !== undefined) await caches.fill(cache)
    this.#parts.catalogue.replace(before?.types ?? [], types)
    this.#serving.set(name, { servedAs: state, types })
    // Who watches goes on with objects as they are now.
    for (const old of before?.types ?? []) {
      if (old.cache === cache) old.cache.finishWatches()
      else caches.remove(old.cache)
    }
  }

  /** Serves it no longer, and lets go of its objects. */
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
    const standing = (write: 'create' | 'change') => this.#standing(write, definition, ref)
    return serveTogether([first, ...others], { parts: { ...this.#parts.registry, standing } })
  }

  /**
   * Objects rest on the definition that their type was made of. For new ones it must also be in use, and not about to go;
   * those there are can be changed and deleted until it is gone.
   */
  async #standing(
    write: 'create' | 'change',
    definition: DefinitionRef,
    type: ResourceRef,
  ): Promise<{ key: string; revision: number }> {
    const { known, registry, settled } = this.#parts
    const refuse = write === 'create' ? whyNone : whyUnchanged
    if (refuse(known.get(definition.name), definition, type) !== undefined) {
      // It may be that its status is being written in this moment.
      await settled(definition.name)
      await waitForCaches(registry)
    }
    const recent = known.get(definition.name)
    const error = refuse(recent, definition, type)
    if (error !== undefined) throw error
    return { key: recent!.key, revision: recent!.revision }
  }
}

/** Why no objects can be changed as this definition says; undefined: they can. */
function whyUnchanged(known: KnownDefinition | undefined, { uid, servedAs }: DefinitionRef): ApiError | undefined {
  if (known === undefined || known.uid !== uid) return noSuchPath()
  return known.servedAs === servedAs ? undefined : new TypeChanged()
}

/** Why no new objects may come under a definition; undefined: they may. */
function whyNone(
  known: KnownDefinition | undefined,
  definition: DefinitionRef,
  { group, plural }: ResourceRef,
): ApiError | undefined {
  const outdated = whyUnchanged(known, definition)
  if (known === undefined || !known.established) return noSuchPath()
  if (outdated !== undefined || !known.terminating) return outdated
  const message = 'create not allowed while custom resource definition is terminating'
  return new ApiError(405, 'MethodNotAllowed', message, { group, kind: plural })
}

interface DefinitionRef {
  readonly name: string
  readonly uid: string
  /** The state of the definition that the type was made of. */
  readonly servedAs: string
}
