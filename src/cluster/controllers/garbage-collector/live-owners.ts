/**
 * Reads the state of owners from the server for each decision. Nothing is cached, because restoring a backup brings
 * back deleted objects with their UIDs and undoes unfinished deletions.
 *
 * Concurrent callers share one read of an owner, but only if the read starts after their calls. A caller that reads the
 * dependent first is therefore safe: if the store is restored between the two reads, the server rejects the caller's
 * write, which carries the dependent's resourceVersion.
 */

import type { ObjectMeta } from '../../../api/model/object.ts'
import { SharedLookup } from '../../../base/concurrency/shared-lookup.ts'
import type { Client } from '../../../client/requests/client.ts'
import { getMetadata } from '../../../client/requests/metadata-form.ts'
import { type ResourceType, typeName } from '../../../client/requests/resource-type.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import { type Waits, waitsOf } from './owner-graph.ts'

/** An object identified by its UID, which distinguishes it from a later object with the same name. */
export interface Individual {
  readonly type: ResourceType
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
}

/**
 * The state of an owner. `absent` means that no object has this name and UID. `unserved` means that the server does not
 * serve the type, so the object may exist. All other values describe the objects that the owner's deletion waits for.
 */
export type OwnerState = 'absent' | 'unserved' | Waits

type ReadOutcome = ObjectMeta | 'absent' | 'unserved'

interface Read {
  readonly lookup: SharedLookup<ReadOutcome>
  callers: number
}

export class LiveOwners {
  readonly #client: Client
  /** Running requests, by the type, namespace and name of the object. */
  readonly #reads = new Map<string, Read>()

  constructor(client: Client) {
    this.#client = client
  }

  async stateOf(owner: Individual, signal: AbortSignal): Promise<OwnerState> {
    const metadata = await this.#read(owner, signal)
    if (typeof metadata === 'string') return metadata
    return metadata.uid === owner.uid ? waitsOf(metadata) : 'absent'
  }

  async #read(owner: Individual, signal: AbortSignal): Promise<ReadOutcome> {
    const key = `${typeName(owner.type)}/${owner.namespace ?? ''}/${owner.name}`
    const pendingRead = this.#reads.get(key) ?? { lookup: new SharedLookup(() => this.#get(owner, signal)), callers: 0 }
    this.#reads.set(key, pendingRead)
    pendingRead.callers++
    try {
      return await pendingRead.lookup.ask()
    } finally {
      if (--pendingRead.callers === 0) this.#reads.delete(key)
    }
  }

  /** Reads the object. The request contains no resourceVersion, so the response contains the latest state. */
  async #get({ type, namespace, name }: Individual, signal: AbortSignal): Promise<ReadOutcome> {
    try {
      const place = namespace === undefined ? { name } : { name, namespace }
      return await getMetadata(this.#client, type, { ...place, signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
      return saysAbsent(error, name) ? 'absent' : 'unserved'
    }
  }
}

/**
 * Whether an error proves that the named object does not exist. A 404 for a path that is not served, for example
 * because its version was removed or its definition is changing, proves nothing.
 */
export function saysAbsent(error: unknown, name: string): boolean {
  return isNotFound(error) && error instanceof StatusError && error.status.details?.name === name
}
