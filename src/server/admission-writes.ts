/** What admission controls write themselves. Objects that they create pass the same admission as everybody's. */
import type { Admission } from '../admission/admission.ts'
import type { OwnWrites } from '../admission/own-writes.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { stored } from '../registry/lookup.ts'
import { updateObject } from '../registry/update.ts'
import { contextOf, createIn } from '../upkeep/own-objects.ts'

export function ownWritesIn(catalogue: Catalogue, admission: () => Admission): OwnWrites {
  return {
    createMissing: async (type, { namespace, name }, rest) => {
      const context = contextOf(stored(catalogue, type), namespace, 'CreateOptions')
      await createIn({ ...context, admission: admission() }, name, rest)
    },
    changeStatus: async (type, { namespace, name }, next) => {
      const context = { ...contextOf(stored(catalogue, type), namespace, 'UpdateOptions'), subresource: 'status' }
      await updateObject(context, name, (previous) => ({
        object: { ...previous, status: next(previous) },
        managed: false,
      }))
    },
  }
}
