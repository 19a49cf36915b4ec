/** The objects that always exist: created at every start where they are missing. */

import type { JsonObject } from '../../api/json/json.ts'
import { namespace } from '../../api/kinds/core/namespace.ts'
import { priorityClass, systemPriorityClasses } from '../../api/kinds/scheduling/priority-class.ts'
import type { StoredType } from '../../api/model/lookup.ts'
import { systemNamespaces } from '../../api/model/system-namespaces.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { createMissing } from './own-objects.ts'

/** The namespace of the cluster's own parts. */
export const systemNamespace = 'kube-system'

/** The namespaces that always exist. */
const permanentNamespaces = ['default', ...systemNamespaces]

/** Objects of one kind without namespaces, each with what it has beside its name. */
interface Wanted {
  readonly type: StoredType<unknown>
  readonly objects: () => readonly (readonly [name: string, rest: JsonObject])[]
}

const wanted: readonly Wanted[] = [
  { type: namespace, objects: () => permanentNamespaces.map((name) => [name, {}]) },
  {
    type: priorityClass,
    objects: () => systemPriorityClasses.map(({ name, ...rest }) => [name, rest]),
  },
]

/** Keeps the namespaces and other objects that a server needs to be useful. */
export function systemObjectsLoop(catalogue: Catalogue): Loop {
  return {
    name: 'system-objects',
    sources: [atStart('all')],
    reconcile: async () => {
      await Promise.all(wanted.map((each) => createAll(catalogue, each)))
      return 'done'
    },
  }
}

async function createAll(catalogue: Catalogue, { type, objects }: Wanted): Promise<void> {
  const resource = catalogue.stored(type.group, type.plural)
  // A server may be made of other kinds alone, as some tests do.
  if (resource === undefined) return
  await Promise.all(objects().map(([name, rest]) => createMissing(resource, { namespace: '', name }, rest)))
}
