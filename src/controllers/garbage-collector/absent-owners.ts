/**
 * Whether the owner that a reference names is there, asked of the server itself. It is absent where nothing has its name,
 * or what has it has another UID. That is remembered for a while: a UID never comes back.
 *
 * What is remembered is the whole reference, not the UID alone: a wrong one, such as with another namespace, must not
 * make an owner absent to those that describe it rightly.
 */
import type { Clock } from '../../base/clock.ts'
import { TtlCache } from '../../base/ttl-cache.ts'
import type { Client } from '../../client/client.ts'
import { getMetadata } from '../../client/metadata-form.ts'
import { type ResourceType, typeName } from '../../client/resource-type.ts'
import { isNotFound, StatusError } from '../../client/status-error.ts'

/** An object in particular: not another that has its name later. */
export interface Individual {
  readonly type: ResourceType
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
}

const rememberedMs = 60 * 60_000

export class AbsentOwners {
  readonly #client: Client
  readonly #absent: TtlCache<boolean>

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#absent = new TtlCache(clock)
  }

  /** It was seen to go: nobody needs to be asked. */
  async noteAbsent(owner: Individual): Promise<void> {
    await this.#absent.get(keyOf(owner), async () => ({ value: true, ttlMs: rememberedMs }))
  }

  async isAbsent(owner: Individual, signal: AbortSignal): Promise<boolean> {
    return await this.#absent.get(keyOf(owner), async () => {
      const value = await this.#ask(owner, signal)
      return { value, ttlMs: value ? rememberedMs : 0 }
    })
  }

  async #ask({ type, namespace, name, uid }: Individual, signal: AbortSignal): Promise<boolean> {
    try {
      const place = namespace === undefined ? { name } : { name, namespace }
      return (await getMetadata(this.#client, type, { ...place, signal })).uid !== uid
    } catch (error) {
      if (isNotFound(error) && namesObject(error, name)) return true
      throw error
    }
  }
}

/** Whether an object was not found. A path that is not served any more, as a version may be, says nothing of objects. */
function namesObject(error: unknown, name: string): boolean {
  return error instanceof StatusError && error.status.details?.name === name
}

function keyOf({ type, namespace = '', name, uid }: Individual): string {
  return `${typeName(type)}/${namespace}/${name}/${uid}`
}
