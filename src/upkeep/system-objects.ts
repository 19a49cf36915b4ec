/** The objects that always exist: created at every start where they are missing. */
import { flowSchema } from '../kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from '../kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../kinds/flowcontrol/types/mandatory.ts'
import { systemPriorityClasses } from '../kinds/scheduling/priority-class.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { systemNamespaces } from '../model/system-namespaces.ts'
import { type Vendor, vendorKey } from '../model/vendor.ts'
import type { Loop } from '../reconcile/loop.ts'
import { atStart } from '../reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { createMissing } from './own-objects.ts'

/** The namespace of the cluster's own parts. */
export const systemNamespace = 'kube-system'

/** The namespaces that always exist. */
const permanentNamespaces = ['default', ...systemNamespaces]

/** Objects of one kind without namespaces, each with what it has beside its name. */
interface Wanted {
  readonly type: { readonly group: string; readonly plural: string }
  readonly objects: (vendor: Vendor) => readonly (readonly [name: string, rest: JsonObject])[]
}

const wanted: readonly Wanted[] = [
  { type: { group: 'core', plural: 'namespaces' }, objects: () => permanentNamespaces.map((name) => [name, {}]) },
  {
    type: { group: 'scheduling', plural: 'priorityclasses' },
    objects: () => systemPriorityClasses.map(({ name, ...rest }) => [name, rest]),
  },
  { type: priorityLevelConfiguration, objects: (vendor) => withSpecs(mandatoryLevels, vendor) },
  { type: flowSchema, objects: (vendor) => withSpecs(mandatoryFlowSchemas, vendor) },
]

/** The annotation says that the server decides what is in them. */
function withSpecs(specs: ReadonlyMap<string, Json>, vendor: Vendor): [string, JsonObject][] {
  const metadata = { annotations: { [vendorKey(vendor, 'autoupdate-spec', 'apf')]: 'true' } }
  return [...specs].map(([name, spec]) => [name, { metadata, spec }])
}

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
  await Promise.all(
    objects(catalogue.vendor).map(([name, rest]) => createMissing(resource, { namespace: '', name }, rest)),
  )
}
