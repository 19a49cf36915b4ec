/**
 * Downloads the OpenAPI documents of aggregated servers and merges them into this server's documents. The downloads run
 * when a backend becomes reachable, and then once a minute. If a backend does not respond, its last document remains
 * published. An invalid document is omitted and does not affect the other documents.
 */

import { parseSliced } from '../../api/codec/json.ts'
import { isObject, type Json, own } from '../../api/json/json.ts'
import { ApiError } from '../../api/model/api-error.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { everyOf } from '../../client/reconcile/sources.ts'
import { CallError } from '../../wire/http/client/call-error.ts'
import type { AggregatedDocuments, PublishedParts } from '../http/openapi/aggregated-documents.ts'
import type { HttpsCaller } from '../outbound/https-caller.ts'
import { assertFewValues } from '../outbound/json-effort.ts'
import { aggregatorHeaders } from './aggregator.ts'
import type { Backend, Backends } from './backends.ts'
import { partsOfDocument } from './openapi-document.ts'

const timeoutMs = 10_000
const periodMs = 60_000

interface Published {
  /** The document as downloaded. Used to detect changes to the backend's document. */
  readonly v2: Buffer | undefined
  readonly parts: PublishedParts | undefined
  /** URL of the backend's OpenAPI v3 document. The URL changes with the content. */
  readonly v3: string | undefined
}

export interface PublishedApisParts {
  readonly backends: Backends
  readonly caller: HttpsCaller
}

export class PublishedApis {
  readonly #parts: PublishedApisParts
  readonly #published = new WeakMap<Backend, Published>()
  #add: (name: string) => void = () => {}

  constructor(parts: PublishedApisParts) {
    this.#parts = parts
  }

  /** Returns the documents of all backends, in registration order. */
  all(): AggregatedDocuments {
    const all = [...this.#parts.backends.all()].map((backend) => ({ backend, ...this.#published.get(backend) }))
    return {
      documents: all.flatMap(({ parts }) => parts ?? []),
      v3: all.flatMap(({ backend: { group, version }, v3 }) =>
        v3 === undefined ? [] : [{ place: `apis/${group}/${version}`, hash: hashIn(v3) }],
      ),
    }
  }

  /** Downloads the documents of a backend as soon as it becomes reachable. */
  look({ name }: Backend): void {
    this.#add(name)
  }

  get loop(): Loop {
    const remote = () => [...this.#parts.backends.all()].map(({ name }) => name)
    const asked = (add: (name: string) => void) => {
      this.#add = add
      return () => {
        this.#add = () => {}
      }
    }
    return {
      name: 'aggregated-openapi',
      sources: [everyOf(periodMs, remote), { connect: asked }],
      reconcile: async (name, signal) => {
        const backend = this.#parts.backends.findByName(name)
        if (backend !== undefined) await this.#download(backend, signal)
        return 'done'
      },
    }
  }

  async #download(backend: Backend, signal: AbortSignal): Promise<void> {
    const before = this.#published.get(backend)
    try {
      const v2 = await this.#get(backend, '/openapi/v2', signal)
      const isSame = v2 !== undefined && before?.v2?.equals(v2)
      const parts = isSame ? before?.parts : v2 && partsOfDocument(await parse(v2), backend)
      const v3 = await this.#addressV3(backend, signal)
      if (!isSame || v3 !== before?.v3) this.#published.set(backend, { v2, parts, v3 })
    } catch (error) {
      // Keep publishing the last document. The availability loop reports the failure.
      if (!(error instanceof CallError || error instanceof ApiError)) throw error
    }
  }

  async #addressV3(backend: Backend, signal: AbortSignal): Promise<string | undefined> {
    const bytes = await this.#get(backend, '/openapi/v3', signal)
    if (bytes === undefined) return undefined
    const index = await parse(bytes)
    const paths = isObject(index) ? own(index, 'paths') : undefined
    const entry = isObject(paths) ? own(paths, `apis/${backend.group}/${backend.version}`) : undefined
    const address = isObject(entry) ? own(entry, 'serverRelativeURL') : undefined
    return typeof address === 'string' ? address : undefined
  }

  /** Downloads a document. Returns undefined if the backend does not have the document. */
  async #get(backend: Backend, path: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const { backends, caller } = this.#parts
    const destination = backends.destinationOf(backend)
    try {
      const { body } = await caller.get({ destination, path, headers: aggregatorHeaders, timeoutMs, signal })
      return body
    } catch (error) {
      if (error instanceof CallError && error.fault === 'answer') return undefined
      throw error
    }
  }
}

async function parse(bytes: Buffer): Promise<Json> {
  assertFewValues(bytes)
  return (await new TimeSlice().run(parseSliced(bytes))).value
}

/**
 * Returns the hash in a URL. Accepts only a well-formed hash, because the hash becomes part of this server's document.
 */
function hashIn(address: string): string {
  return /[?&]hash=([0-9A-Za-z_-]{1,128})(?:&|$)/.exec(address)?.[1] ?? ''
}
