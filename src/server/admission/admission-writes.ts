/** Lets admission plugins write objects. These writes pass through admission, just as the writes of clients do. */
import type { Admission } from '../../apiserver/admission/admission.ts'
import type { OwnWrites } from '../../apiserver/admission/own-writes.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import { stored } from '../../apiserver/registry/reads/lookup.ts'
import { updateAtOnce } from '../../apiserver/registry/verbs/update.ts'
import { contextOf, createIn } from '../../apiserver/upkeep/own-objects.ts'
import { maxReservedKeys, type Store } from '../../storage/store/store.ts'

interface OwnWritesParts {
  readonly catalogue: Catalogue
  readonly store: Store
  readonly admission: () => Admission
}

/** Returns functions that admission plugins use to create objects and update their status. */
export function ownWritesIn({ catalogue, store, admission }: OwnWritesParts): OwnWrites {
  return {
    createMissing: async (type, { namespace, name }, rest) => {
      const context = contextOf(stored(catalogue, type), namespace, 'CreateOptions')
      await createIn({ ...context, admission: admission() }, name, rest)
    },
    changeStatus: async (type, { namespace, name }, next) => {
      const context = { ...contextOf(stored(catalogue, type), namespace, 'UpdateOptions'), subresource: 'status' }
      // Bypass the object's write queue. A request that deletes a quota is at the head of that quota's write queue
      // while it waits for this write, so queuing here would cause a deadlock.
      await updateAtOnce(context, name, async (previous) => {
        const { status, ...terms } = await next(previous)
        return { object: { ...previous, status }, managed: false, terms }
      })
    },
    reservedKeys: async (prefix) => (await store.list({ prefix, limit: maxReservedKeys, count: false })).entries,
    release: async (key) => {
      const entry = await store.get(key)
      if (entry !== undefined) await store.commit({ key, expected: entry.revision, value: undefined })
    },
  }
}
