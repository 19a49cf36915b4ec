/**
 * Metadata of EndpointSlices: the Service label, the label for the managing loop, and the labels and annotations that
 * are copied from the owner (a Service or an Endpoints object).
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

/** Returns the name of the loop that mirrors user-managed Endpoints. */
export function mirroredBy({ groupDomain }: Vendor): string {
  return `endpointslicemirroring-controller.${groupDomain}`
}

/** Returns the key of a slice's Service, or undefined if another controller manages the slice. */
export function serviceKey(
  { metadata: { namespace, labels = {} } }: EndpointSlice,
  vendor: Vendor,
  manager: string,
): string | undefined {
  const service = labels[serviceLabel(vendor)]
  return service !== undefined && labels[managerLabel(vendor)] === manager ? `${namespace}/${service}` : undefined
}

/** Metadata shared by all slices of one Service. */
export interface SliceOrigin {
  /** Owner of the slices. They are deleted together with the owner. */
  readonly owner: Service | Endpoints
  readonly labels: Readonly<Record<string, string>>
  /** Annotations of the slices. If undefined, their existing annotations are kept. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** Returns the metadata of slices that are computed from the pods of a Service. */
export function fromService(service: Service, vendor: Vendor): SliceOrigin {
  return { owner: service, labels: labelsFor(service, vendor) }
}

/**
 * Returns the metadata of mirrored slices. Copies all labels and annotations that do not describe the Endpoints object
 * itself.
 */
export function fromEndpoints(endpoints: Endpoints, vendor: Vendor): SliceOrigin {
  const { name = '', labels = {}, annotations = {} } = endpoints.metadata
  const omittedKeys = new Set([triggerTimeKey(vendor), vendorKey(vendor, 'last-applied-configuration', 'kubectl')])
  const mirroredAnnotations = Object.entries(annotations).filter(([key]) => !omittedKeys.has(key))
  return {
    owner: endpoints,
    labels: { ...labels, [serviceLabel(vendor)]: name, [managerLabel(vendor)]: mirroredBy(vendor) },
    annotations: Object.fromEntries(mirroredAnnotations),
  }
}

/**
 * Returns the labels of a Service's slices: the labels of the Service without reserved labels, and the labels that this
 * loop sets.
 */
function labelsFor(service: Service, vendor: Vendor): Record<string, string> {
  const own = [headlessLabel(vendor), serviceLabel(vendor), managerLabel(vendor)]
  const serviceLabels = Object.entries(service.metadata.labels ?? {}).filter(([key]) => !own.includes(key))
  return {
    ...Object.fromEntries(serviceLabels),
    ...(isHeadless(service) ? { [headlessLabel(vendor)]: '' } : {}),
    [serviceLabel(vendor)]: service.metadata.name ?? '',
    [managerLabel(vendor)]: managedBy(vendor),
  }
}
