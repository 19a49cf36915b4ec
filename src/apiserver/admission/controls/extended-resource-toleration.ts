/**
 * ExtendedResourceToleration: nodes with rare hardware are tainted with the name of that resource, so that only pods
 * that ask for it go there. Such pods tolerate the taint by themselves.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import { isExtended } from '../../../api/kinds/core/types/resource-names.ts'
import type { Toleration } from '../../../api/kinds/core/types/scheduling.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Control } from '../admission.ts'

export function extendedResourceToleration({ vendor }: { readonly vendor: Vendor }): Control<Pod> {
  return {
    name: 'ExtendedResourceToleration',
    handles: { operations: ['CREATE', 'UPDATE'], types: [pods], subresources: [''] },
    mutate: ({ object }) => {
      const spec = object.spec ?? {}
      const { tolerations = [] } = spec
      const tolerated = new Set(tolerations.filter(isOfOurs).map(({ key }) => key))
      const lacking = resourcesOf(spec, vendor).filter((key) => !tolerated.has(key))
      const added = lacking.map((key): Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' }))
      return added.length === 0 ? undefined : { ...object, spec: { ...spec, tolerations: [...tolerations, ...added] } }
    },
  }
}

/** One such as is added here. What tolerates more, such as every taint, is left as it is and stands beside it. */
function isOfOurs({ operator, effect }: Toleration): boolean {
  return operator === 'Exists' && effect === 'NoSchedule'
}

/** What nodes advertise and others do not have: `example.com/gpu`. Each once, in order. */
function resourcesOf({ initContainers = [], containers = [] }: PodSpec, vendor: Vendor): string[] {
  const names = [...initContainers, ...containers].flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
  return [...new Set(names)].filter((name) => isExtended(name, vendor)).sort()
}
