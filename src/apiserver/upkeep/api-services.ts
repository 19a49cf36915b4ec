/**
 * Registers a local APIService for every API version that this server serves, so that clients can list API versions as
 * they can with kube-apiserver. Built-in versions are registered at every start. Versions of custom resources are
 * registered while a definition serves them. The server itself does not need these objects, because it routes requests
 * by its catalogue.
 *
 * `aggregation/` handles the APIServices that refer to a Service.
 */

import type { JsonObject } from '../../api/json/json.ts'
import { customResourceDefinition } from '../../api/kinds/apiextensions/custom-resource-definition.ts'
import type { CustomResourceDefinition } from '../../api/kinds/apiextensions/definition-fields.ts'
import { type APIService, apiService } from '../../api/kinds/apiregistration/api-service.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { vendorKey } from '../../api/model/vendor.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart, fromCache, type Source } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource, ServedType } from '../registry/catalogue/resource.ts'
import { readShared } from '../registry/reads/read-shared.ts'
import { deleteObject } from '../registry/verbs/delete.ts'
import { ownWrite } from '../registry/writes/server-write.ts'
import { createMissing, getCached, ignoreNotFound } from './own-objects.ts'

/** A version of an API group, as an APIService registers it. */
interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** Creates the loop that registers API versions. Returns undefined if the server does not serve APIServices. */
export function apiServiceLoop(catalogue: Catalogue): Loop | undefined {
  const services = catalogue.stored(apiService.group, apiService.plural)
  return services && new Registrations(services, catalogue).loop
}

/** The discovery priorities of the built-in groups, by group ID. Other groups come after them. */
const groupPriorities: { readonly [group: string]: number } = {
  core: 18_000,
  apps: 17_800,
  events: 17_750,
  authentication: 17_700,
  authorization: 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  certificates: 17_300,
  networking: 17_200,
  policy: 17_100,
  'rbac.authorization': 17_000,
  storage: 16_800,
  apiextensions: 16_700,
  admissionregistration: 16_700,
  scheduling: 16_600,
  coordination: 16_500,
  node: 16_300,
  discovery: 16_200,
  'flowcontrol.apiserver': 16_100,
}
const otherGroups = 16_000
const versionPriorities: { readonly [version: string]: number } = { v2: 30, v1beta2: 21, v1: 15, v2beta2: 1 }
const otherVersions = 9
const customPriorities = { groupPriorityMinimum: 1000, versionPriority: 100 }

function nameOf(group: string, version: string): string {
  return `${version}.${group}`
}

/** Returns the APIServices to register for the built-in versions, by name. */
function ownRegistrations(catalogue: Catalogue): Map<string, Registration> {
  const own = catalogue.all().filter(isRegistered)
  return new Map(
    own.map(({ group, kind: { group: id, version } }) => {
      const groupPriorityMinimum = groupPriorities[id] ?? otherGroups
      const versionPriority = id === 'core' ? 1 : (versionPriorities[version] ?? otherVersions)
      const priorities = { groupPriorityMinimum, versionPriority }
      return [nameOf(group, version), { group, version, managed: 'onstart', priorities }]
    }),
  )
}

/**
 * Returns whether a type's version is registered as an APIService. The API group of APIServices is not registered, and
 * of the core group, only v1 is registered.
 */
function isRegistered({ group, kind }: ServedType): boolean {
  return kind.origin === 'built-in' && kind.group !== apiService.group && (group !== '' || kind.version === 'v1')
}

interface Registration extends GroupVersion {
  /**
   * Values of the `automanaged` label. An APIService with `onstart` is checked only at startup. An APIService with
   * `true` is deleted once no definition serves its version.
   */
  readonly managed: 'onstart' | 'true'
  readonly priorities: JsonObject
}

async function register(services: Resource, { group, version, managed, priorities }: Registration): Promise<void> {
  const metadata = { labels: { [managedKey(services)]: managed } }
  const spec = { ...(group === '' ? {} : { group }), version, ...priorities }
  await createMissing(services, { namespace: '', name: nameOf(group, version) }, { metadata, spec })
}

function managedKey({ vendor }: Resource): string {
  return vendorKey(vendor, 'automanaged', 'kube-aggregator')
}

/** Maintains the APIServices of built-in versions and of custom resources. */
class Registrations {
  readonly #services: Resource
  readonly #definitions: Resource | undefined
  /**
   * APIServices of built-in versions that may have to be created. Each APIService is checked only once, so an
   * APIService that a user deletes stays deleted until the next start.
   */
  readonly #missingAtStart: Map<string, Registration>
  /** The group versions that each definition serves, to detect when one is no longer served. */
  readonly #served = new Map<string, readonly string[]>()
  readonly #servers = new Map<string, Set<string>>()

  constructor(services: Resource, catalogue: Catalogue) {
    this.#services = services
    this.#definitions = catalogue.stored(customResourceDefinition.group, customResourceDefinition.plural)
    this.#missingAtStart = ownRegistrations(catalogue)
  }

  get loop(): Loop {
    return {
      name: 'api-services',
      sources: [
        atStart(...this.#missingAtStart.keys()),
        ...this.#definitionSources(),
        fromCache(this.#services.cache, { expected: () => this.#servers.keys() }),
      ],
      concurrency: 64,
      reconcile: async (name, signal) => {
        await this.#reconcile(name, signal)
        return 'done'
      },
    }
  }

  #definitionSources(): Source[] {
    if (this.#definitions === undefined) return []
    const { cache } = this.#definitions
    return [fromCache(cache, { keysOf: (name) => this.#note(name), expected: () => this.#served.keys() })]
  }

  /**
   * Updates the versions that a definition serves. Returns all versions that the definition serves now or served
   * before. The APIServices of these versions must be checked.
   */
  #note(definition: string): Set<string> {
    const before = this.#served.get(definition) ?? []
    const now = this.#versionsOf(definition)
    if (now.length === 0) this.#served.delete(definition)
    else this.#served.set(definition, now)
    for (const name of before) this.#servers.get(name)?.delete(definition)
    for (const name of now) this.#serversOf(name).add(definition)
    return new Set([...before, ...now])
  }

  #serversOf(name: string): Set<string> {
    const serverSet = this.#servers.get(name) ?? new Set()
    this.#servers.set(name, serverSet)
    return serverSet
  }

  #versionsOf(definition: string): string[] {
    const existing = this.#definitions && readShared(this.#definitions, definition)
    const { spec: { group = '', versions = [] } = {} } = (existing ?? {}) as CustomResourceDefinition
    return versions.filter(({ served }) => served).map(({ name = '' }) => nameOf(group, name))
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const isServed = (this.#servers.get(name)?.size ?? 0) > 0
    if (!isServed) this.#servers.delete(name)
    const existing = getCached(this.#services, { namespace: '', name }) as APIService | undefined
    if (existing === undefined) {
      const custom = isServed ? { ...split(name), managed: 'true' as const, priorities: customPriorities } : undefined
      const requiredService = this.#missingAtStart.get(name) ?? custom
      if (requiredService !== undefined) await register(this.#services, requiredService)
      this.#missingAtStart.delete(name)
      return
    }
    this.#missingAtStart.delete(name)
    const isManaged = existing.metadata.labels?.[managedKey(this.#services)] === 'true'
    if (isManaged && !isServed && existing.spec?.service === undefined) await this.#unregister(existing, signal)
  }

  async #unregister({ metadata }: ApiObject, signal: AbortSignal): Promise<void> {
    const context = ownWrite(this.#services, { optionsKind: 'DeleteOptions', signal })
    // Specify the uid, so that a new object with the same name is not deleted.
    const just = {
      preconditions: [{ uid: metadata.uid }],
      gracePeriodSeconds: undefined,
      propagation: undefined,
    }
    await ignoreNotFound(deleteObject(context, metadata.name!, just))
  }
}

function split(name: string): GroupVersion {
  const dot = name.indexOf('.')
  return { version: name.slice(0, dot), group: name.slice(dot + 1) }
}
