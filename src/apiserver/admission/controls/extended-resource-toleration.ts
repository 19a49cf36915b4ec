/**
 * ExtendedResourceToleration: lets pods that request special hardware, such as a GPU, tolerate the taints of nodes with
 * that hardware. The key of such a taint is the name of the resource.
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

/** Whether a toleration has the same operator and effect as the tolerations that this plugin adds. */
function isOfOurs({ operator, effect }: Toleration): boolean {
  return operator === 'Exists' && effect === 'NoSchedule'
}

/** Returns the extended resources that the pod requests, such as `example.com/gpu`, sorted and without duplicates. */
function resourcesOf({ initContainers = [], containers = [] }: PodSpec, vendor: Vendor): string[] {
  const names = [...initContainers, ...containers].flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
  return [...new Set(names)].filter((name) => isExtended(name, vendor)).sort()
}
