/** What a slice says of itself: which Service it is for, who manages it, and the labels that it takes from its Service. */
import type { Service } from '../../kinds/core/types/service-spec.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { headlessLabel, isHeadless } from './service-endpoints.ts'

export function serviceLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'service-name')
}

export function managerLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'managed-by', 'endpointslice')
}

export function managedBy({ groupDomain }: Vendor): string {
  return `endpointslice-controller.${groupDomain}`
}

/** The labels of a Service's slices: those of the Service, but for those that say what a slice is. */
export function labelsFor(service: Service, vendor: Vendor): Record<string, string> {
  const own = [headlessLabel(vendor), serviceLabel(vendor), managerLabel(vendor)]
  const taken = Object.entries(service.metadata.labels ?? {}).filter(([key]) => !own.includes(key))
  return {
    ...Object.fromEntries(taken),
    ...(isHeadless(service) ? { [headlessLabel(vendor)]: '' } : {}),
    [serviceLabel(vendor)]: service.metadata.name ?? '',
    [managerLabel(vendor)]: managedBy(vendor),
  }
}
