/** Creates the objects that must always exist. The loop runs at every start. */

import type { JsonObject } from '../../api/json/json.ts'
import { namespace } from '../../api/kinds/core/namespace.ts'
import { priorityClass, systemPriorityClasses } from '../../api/kinds/scheduling/priority-class.ts'
import type { StoredType } from '../../api/model/lookup.ts'
import { systemNamespaces } from '../../api/model/system-namespaces.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { createMissing } from './own-objects.ts'

/** The namespace of the cluster components. */
export const systemNamespace = 'kube-system'

/** The namespaces that always exist. */
const permanentNamespaces = ['default', ...systemNamespaces]

/** The required objects of one type, with their names and contents. */
interface RequiredObjects {
  readonly type: StoredType<unknown>
  readonly objects: () => readonly (readonly [name: string, rest: JsonObject])[]
}

const requiredObjects: readonly RequiredObjects[] = [
  { type: namespace, objects: () => permanentNamespaces.map((name) => [name, {}]) },
  {
    type: priorityClass,
    objects: () => systemPriorityClasses.map(({ name, ...rest }) => [name, rest]),
  },
]

/** Returns a loop that creates the namespaces and other objects that a cluster requires. */
export function systemObjectsLoop(catalogue: Catalogue): Loop {
  return {
    name: 'system-objects',
    sources: [atStart('all')],
    reconcile: async () => {
      await Promise.all(requiredObjects.map((each) => createAll(catalogue, each)))
      return 'done'
    },
  }
}

async function createAll(catalogue: Catalogue, { type, objects }: RequiredObjects): Promise<void> {
  const resource = catalogue.stored(type.group, type.plural)
  if (resource === undefined) return
  await Promise.all(objects().map(([name, rest]) => createMissing(resource, { namespace: '', name }, rest)))
}
