/**
 * Summaries of all definitions. The server uses them to compare names without parsing every schema again. The summaries
 * are updated when the cache changes.
 */

import { cleanupFinalizer, isEstablished } from '../../../api/kinds/apiextensions/custom-resource-definition.ts'
import { isTrue } from '../../../api/kinds/apiextensions/definition-conditions.ts'
import type { CustomResourceDefinition, DefinitionNames } from '../../../api/kinds/apiextensions/definition-fields.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import { keyOf, type Resource } from '../../registry/catalogue/resource.ts'
import { readShared } from '../../registry/reads/read-shared.ts'
import { credibleNames, hasPluralAndKind } from './names.ts'
import { ownNames } from './own-names.ts'

export interface DefinitionSummary {
  readonly name: string
  readonly key: string
  readonly revision: number
  readonly uid: string
  readonly group: string
  /** The names that the definition requests, and the accepted names among them. */
  readonly requestedNames: DefinitionNames
  readonly acceptedNames: DefinitionNames
  readonly accepted: boolean
  readonly established: boolean
  readonly terminating: boolean
  /** Whether the objects of the definition must be deleted before the definition is removed. */
  readonly cleanup: boolean
  /**
   * Identifies the state in which the definition is served. The identifier changes whenever the served types must be
   * replaced.
   */
  readonly servedAs: string
}

/** Returns a string that identifies what is served for a definition with the given accepted names. */
export function servedAs({ metadata }: CustomResourceDefinition, names: DefinitionNames): string {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names
  return JSON.stringify([metadata.uid, metadata.generation, plural, singular, kind, listKind, shortNames, categories])
}

/**
 * Returns the API group in the name of a definition. For `widgets.stable.example.com`, this is `stable.example.com`.
 */
export function groupOf(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

export function pluralOf(name: string): string {
  return name.slice(0, Math.max(name.indexOf('.'), 0))
}

function byGroup(names: Iterable<string>): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>()
  for (const name of names) addTo(groups, name)
  return groups
}

function addTo(groups: Map<string, Set<string>>, name: string): void {
  const group = groupOf(name)
  const names = groups.get(group)
  if (names === undefined) groups.set(group, new Set([name]))
  else names.add(name)
}

export class DefinitionSummaries {
  readonly #resource: Resource
  readonly #catalogue: Catalogue
  readonly #known = new Map<string, DefinitionSummary>()
  /**
   * Names of definitions by group, including deleted definitions. Undefined until they are first needed after a reset.
   */
  #groups: Map<string, Set<string>> | undefined

  /** Starts tracking the definitions that `resource` stores. */
  constructor(resource: Resource, catalogue: Catalogue) {
    this.#resource = resource
    this.#catalogue = catalogue
    const { cache } = resource
    cache.onChange((key) => {
      if (key === undefined) this.#groups = undefined
      else if (this.#groups !== undefined) addTo(this.#groups, key.slice(cache.prefix.length))
    })
  }

  /** Returns the summary of a definition. Parses the definition only if it has changed. */
  get(name: string): DefinitionSummary | undefined {
    const cached = this.#resource.cache.get(keyOf(this.#resource, '', name))
    if (cached?.revision !== this.#known.get(name)?.revision) this.read(name)
    return this.#known.get(name)
  }

  /**
   * Returns the names of all cached definitions, and of deleted definitions whose deletion has not been processed yet.
   */
  names(): Set<string> {
    const stored = [...this.#resource.cache.slices({ namespace: undefined })].flat().map(({ name }) => name)
    return new Set([...stored, ...this.#known.keys()])
  }

  /** Returns all definitions of a group from the cache. */
  ofGroup(group: string): DefinitionSummary[] {
    this.#groups ??= byGroup(this.names())
    const names = this.#groups.get(group) ?? new Set()
    const summaries: DefinitionSummary[] = []
    for (const name of names) {
      const summary = this.get(name)
      if (summary === undefined) names.delete(name)
      else summaries.push(summary)
    }
    return summaries
  }

  /**
   * Returns a definition from the cache, or undefined if it does not exist. The result is shared, so callers must not
   * modify it.
   */
  read(name: string): CustomResourceDefinition | undefined {
    const cached = this.#resource.cache.get(keyOf(this.#resource, '', name))
    if (cached === undefined) {
      this.#known.delete(name)
      return undefined
    }
    const object = readShared(this.#resource, name) as CustomResourceDefinition
    if (this.#known.get(name)?.revision !== cached.revision) this.#known.set(name, this.#note(object, cached))
    return object
  }

  #note(object: CustomResourceDefinition, { key, revision }: { key: string; revision: number }): DefinitionSummary {
    const { metadata, spec, status } = object
    const requestedNames = spec?.names ?? {}
    const group = spec?.group ?? ''
    const acceptedNames = credibleNames(status?.acceptedNames ?? {}, requestedNames, ownNames(this.#catalogue, group))
    const terminating = metadata.deletionTimestamp !== undefined
    return {
      name: metadata.name!,
      key,
      revision,
      uid: metadata.uid!,
      group,
      requestedNames,
      acceptedNames,
      accepted: isTrue(object, 'NamesAccepted'),
      established: isEstablished(object) && hasPluralAndKind(acceptedNames),
      terminating,
      cleanup: terminating && (metadata.finalizers ?? []).includes(cleanupFinalizer(this.#catalogue.vendor)),
      servedAs: servedAs(object, acceptedNames),
    }
  }
}
