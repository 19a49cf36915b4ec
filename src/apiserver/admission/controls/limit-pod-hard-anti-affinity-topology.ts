/**
 * LimitPodHardAntiAffinityTopology: allows required pod anti-affinity only per node. With a larger topology domain,
 * such as a zone, one pod could block the entire domain.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

export function limitPodHardAntiAffinityTopology({ vendor }: { readonly vendor: Vendor }): Control<Pod> {
  const hostname = vendorKey(vendor, 'hostname')
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    handles: { operations: ['CREATE', 'UPDATE'], types: [pods], subresources: [''] },
    validate: (request) => {
      const { affinity } = request.object.spec ?? {}
      const terms = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
      const other = terms.find(({ topologyKey }) => topologyKey !== hostname)
      if (other !== undefined)
        throw refusal(
          request,
          `spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution has topologyKey ${other.topologyKey} but only ${hostname} is allowed`,
        )
    },
  }
}
