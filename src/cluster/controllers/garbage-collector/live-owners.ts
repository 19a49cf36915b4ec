/**
 * The state of owners, read from the server for each decision. Nothing is remembered: when the store is restored from a
 * backup, deleted objects come back with their UIDs, and deletions that were under way are undone.
 *
 * Callers share a read of the same owner, but only a read that began after they asked. A caller that has read a
 * dependent before it asks therefore knows that no restore lies between the owner's absence and the dependent's version:
 * versions from before a restore are refused.
 */

import type { ObjectMeta } from '../../../api/model/object.ts'
import { SharedLookup } from '../../../base/concurrency/shared-lookup.ts'
import type { Client } from '../../../client/requests/client.ts'
import { getMetadata } from '../../../client/requests/metadata-form.ts'
import { type ResourceType, typeName } from '../../../client/requests/resource-type.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import { type Waits, waitsOf } from './owner-graph.ts'

/** An object in particular: not another that has its name later. */
export interface Individual {
  readonly type: ResourceType
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
}

/**
 * `absent`: no object has the name and the UID. `unserved`: the server does not serve the type, which says nothing of
 * objects. Else what the deletion of the object waits for.
 */
export type OwnerState = 'absent' | 'unserved' | Waits

type ReadOutcome = ObjectMeta | 'absent' | 'unserved'

interface Read {
  readonly lookup: SharedLookup<ReadOutcome>
  callers: number
}

export class LiveOwners {
  readonly #client: Client
  /** The reads that are under way, by type, namespace and name. */
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
    const read = this.#reads.get(key) ?? { lookup: new SharedLookup(() => this.#get(owner, signal)), callers: 0 }
    this.#reads.set(key, read)
    read.callers++
    try {
      return await read.lookup.ask()
    } finally {
      if (--read.callers === 0) this.#reads.delete(key)
    }
  }

  /** Without a resourceVersion: the most recent state. */
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
 * Whether an error says that the object of this name does not exist. A 404 of a path that is not served, as of a version
 * or of a definition that changes, says nothing of objects.
 */
export function saysAbsent(error: unknown, name: string): boolean {
  return isNotFound(error) && error instanceof StatusError && error.status.details?.name === name
}
