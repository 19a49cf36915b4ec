/**
 * Whatever this server serves is registered as a local APIService: its own groups at every start, those of custom
 * resources while a definition serves them. Clients find there who serves what, as with kube-apiserver; this server
 * itself serves by its catalogue.
 *
 * Those that name a Service say in their status that requests are not handed on to it, and requests are told the same:
 * aggregation is not built.
 */
import type { WorkQueueMetrics } from '../controllers/work-queue-metrics.ts'
import { customResourceDefinition } from '../kinds/apiextensions/custom-resource-definition.ts'
import type { CustomResourceDefinition } from '../kinds/apiextensions/definition-fields.ts'
import { type APIService, apiService } from '../kinds/apiregistration/api-service.ts'
import { type ApiError, serviceUnavailable } from '../model/api-error.ts'
import type { JsonObject } from '../model/json.ts'
import { type ApiObject, timestamp } from '../model/object.ts'
import { vendorKey } from '../model/vendor.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { deleteObject } from '../registry/delete.ts'
import { ownWrite } from '../registry/own-write.ts'
import type { Resource, ServedType } from '../registry/resource.ts'
import type { Log } from '../telemetry/log.ts'
import { KeptObjects, withCondition, writeStatus } from './kept-objects.ts'
import { createMissing, heardOf, ifThere } from './own-writes.ts'

interface Parts {
  readonly catalogue: Catalogue
  readonly metrics: WorkQueueMetrics
  readonly log: Log
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

/** Which version of which group a request is for. */
interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** Why nobody answers for this version, where it is another's to answer. */
export type ServedElsewhere = (version: GroupVersion) => ApiError | undefined

/** Resolves when everything that is served by now is registered. The caches have been loaded. */
export async function startApiServices(parts: Parts): Promise<ServedElsewhere> {
  const services = parts.catalogue.stored(apiService.group, apiService.plural)
  // A server may be made of other kinds alone, as some tests do.
  if (services === undefined) return () => undefined
  await registerOwn(services, parts.catalogue)
  const registrations = new Registrations(services, parts)
  registrations.start()
  parts.opened.defer(() => registrations.stop())
  return ({ group, version }) => {
    const found = heardOf(services, { namespace: '', name: nameOf(group, version) }) as APIService | undefined
    return found?.spec?.service === undefined ? undefined : notBuilt(nameOf(group, version))
  }
}

function notBuilt(name: string): ApiError {
  return serviceUnavailable(
    `the APIService "${name}" names a Service, and this server does not hand requests on: aggregation is not built`,
  )
}

/** Where the groups of this server stand in the order, by their short ids; others come after them. */
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

async function registerOwn(services: Resource, catalogue: Catalogue): Promise<void> {
  const own = catalogue.all().filter(isRegistered)
  const wanted = new Map(own.map((type) => [nameOf(type.group, type.kind.version), type]))
  await Promise.all(
    [...wanted.values()].map(({ group, kind: { group: id, version } }) => {
      const priorities = {
        groupPriorityMinimum: groupPriorities[id] ?? otherGroups,
        versionPriority: id === 'core' ? 1 : (versionPriorities[version] ?? otherVersions),
      }
      return register(services, { group, version }, { managed: 'onstart', priorities })
    }),
  )
}

/** Who registers is not registered itself; and of the core group there is v1 alone. */
function isRegistered({ group, kind }: ServedType): boolean {
  return kind.evolution === undefined && kind.group !== apiService.group && (group !== '' || kind.version === 'v1')
}

interface Registration {
  /** How long it stays: until the next start decides, or as long as a definition serves it. */
  readonly managed: 'onstart' | 'true'
  readonly priorities: JsonObject
}

async function register(
  services: Resource,
  { group, version }: GroupVersion,
  { managed, priorities }: Registration,
): Promise<void> {
  const metadata = { labels: { [managedKey(services)]: managed } }
  const spec = { ...(group === '' ? {} : { group }), version, ...priorities }
  await createMissing(services, { namespace: '', name: nameOf(group, version) }, { metadata, spec })
}

function managedKey({ vendor }: Resource): string {
  return vendorKey(vendor, 'automanaged', 'kube-aggregator')
}

/** Those of custom resources, and the state of those that name a Service. */
class Registrations {
  readonly #services: Resource
  readonly #definitions: Resource | undefined
  readonly #kept: KeptObjects
  /** What each definition serves, and by which definitions each name is served. */
  readonly #served = new Map<string, readonly string[]>()
  readonly #servers = new Map<string, Set<string>>()
  #unfollow = () => {}

  constructor(services: Resource, { catalogue, metrics, log }: Parts) {
    this.#services = services
    this.#definitions = catalogue.stored(customResourceDefinition.group, customResourceDefinition.plural)
    this.#kept = new KeptObjects({
      resource: services,
      queue: 'api-services',
      look: (name, signal) => this.#look(name, signal),
      expected: () => this.#servers.keys(),
      complaint: 'an APIService is not in order yet; it is tried again',
      metrics,
      log,
    })
  }

  start(): void {
    this.#unfollow = this.#definitions?.cache.onChange((key) => this.#noteKey(key)) ?? this.#unfollow
    this.#noteKey(undefined)
    this.#kept.start()
  }

  async stop(): Promise<void> {
    this.#unfollow()
    await this.#kept.stop()
  }

  #noteKey(key: string | undefined): void {
    const cache = this.#definitions?.cache
    if (cache === undefined) return
    const all = () => new Set([...cache.all().map(({ name }) => name), ...this.#served.keys()])
    for (const name of key === undefined ? all() : [key.slice(cache.prefix.length)]) this.#note(name)
  }

  /** Takes in what a definition serves now, and looks at every version that it concerns. */
  #note(definition: string): void {
    const before = this.#served.get(definition) ?? []
    const now = this.#versionsOf(definition)
    if (now.length === 0) this.#served.delete(definition)
    else this.#served.set(definition, now)
    for (const name of before) this.#servers.get(name)?.delete(definition)
    for (const name of now) this.#serversOf(name).add(definition)
    for (const name of new Set([...before, ...now])) this.#kept.add(name)
  }

  #serversOf(name: string): Set<string> {
    const known = this.#servers.get(name) ?? new Set()
    this.#servers.set(name, known)
    return known
  }

  #versionsOf(definition: string): string[] {
    const found = this.#definitions && heardOf(this.#definitions, { namespace: '', name: definition })
    const { spec: { group = '', versions = [] } = {} } = (found ?? {}) as CustomResourceDefinition
    return versions.filter(({ served }) => served).map(({ name = '' }) => nameOf(group, name))
  }

  async #look(name: string, signal: AbortSignal): Promise<void> {
    const isServed = (this.#servers.get(name)?.size ?? 0) > 0
    if (!isServed) this.#servers.delete(name)
    const found = heardOf(this.#services, { namespace: '', name }) as APIService | undefined
    if (found === undefined) {
      if (isServed) await register(this.#services, split(name), { managed: 'true', priorities: customPriorities })
      return
    }
    const isManaged = found.metadata.labels?.[managedKey(this.#services)] === 'true'
    if (isManaged && !isServed && found.spec?.service === undefined) await this.#unregister(found, signal)
    else if (found.spec?.service !== undefined)
      await writeStatus(this.#services, { name, signal, next: (object) => this.#withState(object) })
  }

  async #unregister({ metadata }: ApiObject, signal: AbortSignal): Promise<void> {
    const context = ownWrite(this.#services, { optionsKind: 'DeleteOptions', signal })
    // Whoever has made another of this name meanwhile keeps it.
    const just = {
      uid: metadata.uid,
      resourceVersion: undefined,
      gracePeriodSeconds: undefined,
      propagation: undefined,
    }
    await ifThere(deleteObject(context, metadata.name!, just))
  }

  /** The object with the condition that it has as long as aggregation is not built. */
  #withState(object: ApiObject): ApiObject {
    if ((object as APIService).spec?.service === undefined) return object
    return withCondition(object, notAvailable, timestamp(this.#services.clock.now()))
  }
}

const notAvailable = {
  type: 'Available',
  status: 'False',
  reason: 'AggregationNotBuilt',
  message: 'requests are not handed on to Services: aggregation is not built',
} as const

function split(name: string): GroupVersion {
  const dot = name.indexOf('.')
  return { version: name.slice(0, dot), group: name.slice(dot + 1) }
}
