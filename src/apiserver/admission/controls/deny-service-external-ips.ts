/**
 * DenyServiceExternalIPs: rejects new external IPs of Services, because a Service could redirect traffic for any
 * address. Existing external IPs may be kept or removed.
 */

import { service as services } from '../../../api/kinds/core/service.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import type { Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

export function denyServiceExternalIps(): Control<Service> {
  return {
    name: 'DenyServiceExternalIPs',
    handles: { operations: ['CREATE', 'UPDATE'], types: [services], subresources: [''] },
    validate: (request) => {
      const previousAddresses = new Set(addressesOf(request.oldObject))
      const added = addressesOf(request.object).filter((address) => !previousAddresses.has(address))
      if (added.length > 0)
        throw refusal(
          request,
          `Use of external IPs is denied by admission control (spec.externalIPs: ${added.join(', ')})`,
        )
    },
  }
}

function addressesOf(service: Service | undefined): readonly string[] {
  return service?.spec?.externalIPs ?? []
}
