/**
 * Resolves the Service of each aggregated API server and requests its discovery document, to check whether the server
 * is reachable. Checks run after changes, every 30 seconds, and every few seconds while a backend is unreachable. The
 * result is reported in the APIService's `Available` condition. The proxy relies only on this server's own results in
 * memory, because other clients can write the condition.
 */
import { type APIService, apiService } from '../../api/kinds/apiregistration/api-service.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { everyOf, fromCache, type Source } from '../../client/reconcile/sources.ts'
import { CallError } from '../../wire/http/client/call-error.ts'
import type { HttpsCaller } from '../outbound/https-caller.ts'
import { NoServiceAddress } from '../outbound/service-address.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { withCondition, writeStatus } from '../upkeep/status-conditions.ts'
import { aggregatorHeaders } from './aggregator.ts'
import type { Backend, Backends } from './backends.ts'
import { resourcesIn } from './discovered-resources.ts'

const checkTimeoutMs = 5_000
const periodMs = 30_000
const retryMs = 3_000

interface Finding {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export interface AvailabilityParts {
  readonly catalogue: Catalogue
  readonly backends: Backends
  readonly caller: HttpsCaller
  /** Called when a backend becomes reachable again. */
  readonly onReached: (backend: Backend) => void
}

export class Availability {
  readonly #parts: AvailabilityParts
  /** The last check result of each backend. A changed APIService gets a new Backend object, which has no result yet. */
  readonly #results = new WeakMap<Backend, Finding>()
  #lookAgain: (name: string) => void = () => {}

  constructor(parts: AvailabilityParts) {
    this.#parts = parts
  }

  /** Returns the reason why the last check failed, or undefined if it passed. */
  faultOf(backend: Backend): string | undefined {
    const results = this.#results.get(backend)
    return results?.status === 'False' ? results.message : undefined
  }

  /** Schedules an early check after a request to the backend has failed. */
  suspect({ name }: Backend): void {
    this.#lookAgain(name)
  }

  /** The loop that runs the availability checks. Undefined if the server does not serve APIServices. */
  get loop(): Loop | undefined {
    const { catalogue, backends } = this.#parts
    const services = catalogue.stored(apiService.group, apiService.plural)
    if (services === undefined) return undefined
    const remote = () => [...backends.all()].map(({ name }) => name)
    return {
      name: 'api-service-availability',
      sources: [
        fromCache(services.cache),
        ...this.#placesOfBackends(),
        everyOf(periodMs, remote),
        { connect: (add) => this.#connect(add) },
      ],
      concurrency: 16,
      reconcile: async (name, signal) => {
        const isReachable = await this.#look(services, name, signal)
        return isReachable ? 'done' : { afterMs: retryMs }
      },
    }
  }

  #connect(add: (name: string) => void): () => void {
    this.#lookAgain = add
    return () => {
      this.#lookAgain = () => {}
    }
  }

  /**
   * Watches everything that determines the address of a Service. A change triggers checks of all backends in the
   * Service's namespace.
   */
  #placesOfBackends(): Source[] {
    const { catalogue, backends } = this.#parts
    const inNamespace = (key: string) => {
      const namespace = key.slice(0, key.indexOf('/'))
      return [...backends.all()].flatMap(({ name, service }) => (service.namespace === namespace ? [name] : []))
    }
    const types = [
      ['core', 'services'],
      ['core', 'endpoints'],
      ['discovery', 'endpointslices'],
    ] as const
    const resources = types.flatMap(([group, plural]) => catalogue.stored(group, plural) ?? [])
    return resources.map(({ cache }) => fromCache(cache, { keysOf: inNamespace }))
  }

  async #look(services: Resource, name: string, signal: AbortSignal): Promise<boolean> {
    const { backends } = this.#parts
    const backend = backends.findByName(name)
    const results = backend === undefined ? undefined : await this.#check(backend, signal)
    if (backend !== undefined && results !== undefined) this.#note(backend, results)
    const now = timestamp(services.clock.now())
    const next = (object: ApiObject) => {
      const finding = results ?? this.#withoutBackend(object)
      return withCondition(object, { type: 'Available', ...finding }, now)
    }
    await writeStatus(services, { name, signal, next })
    return results?.status !== 'False'
  }

  #note(backend: Backend, results: Finding): void {
    if (results.status === 'False') this.#parts.backends.noteDiscovery(backend, undefined)
    const isNew = results.status === 'True' && this.#results.get(backend)?.status !== 'True'
    this.#results.set(backend, results)
    if (isNew) this.#parts.onReached(backend)
  }

  /** Returns the result for an APIService whose version this server serves itself. */
  #withoutBackend(object: ApiObject): Finding {
    const { group = '', version = '', service } = (object as APIService).spec ?? {}
    if (service === undefined || !this.#parts.backends.isBuiltIn(group, version)) return local
    return { status: 'False', reason: 'BuiltIn', message: 'the API server serves this version itself' }
  }

  async #check(backend: Backend, signal: AbortSignal): Promise<Finding> {
    try {
      await this.#discover(backend, signal).catch((error: unknown) => {
        // A single broken connection proves nothing, so repeat the check once.
        const isBroken = error instanceof CallError && (error.fault === 'connection' || error.fault === 'cut')
        if (!isBroken || error instanceof NoServiceAddress) throw error
        return this.#discover(backend, signal)
      })
      return { status: 'True', reason: 'Passed', message: 'the backend responds' }
    } catch (error) {
      if (error instanceof NoServiceAddress) return { status: 'False', reason: error.reason, message: error.message }
      // A local limit says nothing about the backend, so let the loop retry the check.
      if (!(error instanceof CallError) || error.fault === 'limit' || signal.aborted) throw error
      const message = `cannot read the discovery document: ${error.message}`
      return { status: 'False', reason: 'FailedDiscoveryCheck', message }
    }
  }

  async #discover(backend: Backend, signal: AbortSignal): Promise<void> {
    const { backends, caller } = this.#parts
    const { group, version } = backend
    const destination = backends.destinationOf(backend)
    const path = `/apis/${group}/${version}`
    const { body } = await caller.get({
      destination,
      path,
      headers: aggregatorHeaders,
      timeoutMs: checkTimeoutMs,
      signal,
    })
    backends.noteDiscovery(backend, await resourcesIn(body))
  }
}

const local: Finding = { status: 'True', reason: 'Local', message: 'the API server serves this version itself' }
