/**
 * What a slice says of itself: which Service it is for, which loop manages it, and what it takes from the object that it is
 * made from: a Service, or Endpoints.
 */
import type { Endpoints } from '../../../api/kinds/core/endpoints.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import type { EndpointSlice } from '../../../api/kinds/discovery/endpoint-slice.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { headlessLabel, isHeadless } from './service-endpoints.ts'
import { triggerTimeKey } from './trigger-times.ts'

function serviceLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'service-name')
}

function managerLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'managed-by', 'endpointslice')
}

export function managedBy({ groupDomain }: Vendor): string {
  return `endpointslice-controller.${groupDomain}`
}

/** The loop that copies Endpoints which others write. */
export function mirroredBy({ groupDomain }: Vendor): string {
  return `endpointslicemirroring-controller.${groupDomain}`
}

/** The key of the Service that a slice of this manager is for; undefined for a slice of others. */
export function serviceKey(
  { metadata: { namespace, labels = {} } }: EndpointSlice,
  vendor: Vendor,
  manager: string,
): string | undefined {
  const service = labels[serviceLabel(vendor)]
  return service !== undefined && labels[managerLabel(vendor)] === manager ? `${namespace}/${service}` : undefined
}

/** What all slices of one Service have in common. */
export interface SliceOrigin {
  /** The object that they belong to, and go with. */
  readonly owner: Service | Endpoints
  readonly labels: Readonly<Record<string, string>>
  /** Undefined: those that a slice has are left alone. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** Slices made from the pods of a Service. */
export function fromService(service: Service, vendor: Vendor): SliceOrigin {
  return { owner: service, labels: labelsFor(service, vendor) }
}

/** Slices made from Endpoints: with all labels and annotations of these that are not about the Endpoints themselves. */
export function fromEndpoints(endpoints: Endpoints, vendor: Vendor): SliceOrigin {
  const { name = '', labels = {}, annotations = {} } = endpoints.metadata
  const left = new Set([triggerTimeKey(vendor), vendorKey(vendor, 'last-applied-configuration', 'kubectl')])
  const taken = Object.entries(annotations).filter(([key]) => !left.has(key))
  return {
    owner: endpoints,
    labels: { ...labels, [serviceLabel(vendor)]: name, [managerLabel(vendor)]: mirroredBy(vendor) },
    annotations: Object.fromEntries(taken),
  }
}

/** The labels of a Service's slices: those of the Service, but for those that say what a slice is. */
function labelsFor(service: Service, vendor: Vendor): Record<string, string> {
  const own = [headlessLabel(vendor), serviceLabel(vendor), managerLabel(vendor)]
  const taken = Object.entries(service.metadata.labels ?? {}).filter(([key]) => !own.includes(key))
  return {
    ...Object.fromEntries(taken),
    ...(isHeadless(service) ? { [headlessLabel(vendor)]: '' } : {}),
    [serviceLabel(vendor)]: service.metadata.name ?? '',
    [managerLabel(vendor)]: managedBy(vendor),
  }
}
