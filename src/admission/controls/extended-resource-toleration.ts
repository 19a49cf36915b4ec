/**
 * ExtendedResourceToleration: nodes with rare hardware are tainted with the name of that resource, so that only pods that
 * ask for it go there. Such pods tolerate the taint by themselves.
 */
import type { PodSpec } from '../../kinds/core/types/pod-spec.ts'
import { isExtended } from '../../kinds/core/types/resource-names.ts'
import type { Toleration } from '../../kinds/core/types/scheduling.ts'
import type { Vendor } from '../../model/vendor.ts'
import type { Control } from '../admission.ts'
import { covers } from '../merge-tolerations.ts'

export function extendedResourceToleration({ vendor }: { readonly vendor: Vendor }): Control {
  return {
    name: 'ExtendedResourceToleration',
    handles: { operations: ['CREATE', 'UPDATE'], types: [{ group: 'core', plural: 'pods' }], subresources: [''] },
    mutate: ({ object }) => {
      const spec = (object!.spec ?? {}) as PodSpec
      const { tolerations = [] } = spec
      const lacking = resourcesOf(spec, vendor)
        .map((key): Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' }))
        .filter((wanted) => !tolerations.some((one) => covers(one, wanted)))
      return lacking.length === 0
        ? undefined
        : { ...object!, spec: { ...spec, tolerations: [...tolerations, ...lacking] } }
    },
  }
}

/** What nodes advertise and others do not have: `example.com/gpu`. Each once, in order. */
function resourcesOf({ initContainers = [], containers = [] }: PodSpec, vendor: Vendor): string[] {
  const names = [...initContainers, ...containers].flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
  return [...new Set(names)].filter((name) => isExtended(name, vendor)).sort()
}
