/**
 * Version v1beta1 of dynamic resource allocation. Requests contain the fields that v1 groups under `exactly`. Devices
 * have a field `basic`, which contains the fields that v1 has in the device itself.
 */
import { defined } from '../../json/json.ts'
import { defineVersion } from '../../schema/kind.ts'
import { objectMeta } from '../../schema/object-meta.ts'
import { type Field, field, type Infer, s } from '../../schema/schema.ts'
import type { KubeVersion } from '../../versions/emulated-version.ts'
import { deviceClass, deviceClassFields } from './device-class.ts'
import { claimFields, resourceClaim } from './resource-claim.ts'
import { claimTemplateDocs, resourceClaimTemplate } from './resource-claim-template.ts'
import { resourceSlice, sliceFields, sliceSpecFields } from './resource-slice.ts'
import { devicesFields, type specFields } from './types/claim-spec.ts'
import { deviceFields } from './types/device.ts'
import { alternativeFields, exactFields, requestFields } from './types/request.ts'

const availability = { version: 'v1beta1', since: '1.32', optIn: true } as const

/** Returns the field with a different Protobuf number and, if specified, a different first version. */
function renumbered<F extends Field>(tag: number, original: F, since?: KubeVersion): F {
  return { ...original, tag, ...(since === undefined ? {} : { since }) }
}

const alternative = s.object(
  {
    ...alternativeFields,
    tolerations: renumbered(7, alternativeFields.tolerations),
    capacity: renumbered(8, alternativeFields.capacity),
  },
  { name: 'DeviceSubRequest', doc: 'One of several alternatives for satisfying a request.' },
)

const request = s.object(
  {
    name: requestFields.name,
    deviceClassName: renumbered(2, { ...exactFields.deviceClassName, zeroValue: 'omit' as const }),
    selectors: renumbered(3, exactFields.selectors),
    allocationMode: renumbered(4, exactFields.allocationMode),
    count: renumbered(5, exactFields.count),
    adminAccess: renumbered(6, exactFields.adminAccess),
    firstAvailable: { ...renumbered(7, requestFields.firstAvailable, '1.33'), schema: s.list(alternative) },
    tolerations: renumbered(8, exactFields.tolerations, '1.33'),
    capacity: renumbered(9, exactFields.capacity, '1.34'),
  },
  { name: 'DeviceRequest', doc: 'A request for devices in a claim.' },
)

const claim = s.object(
  { ...devicesFields, requests: field(1, s.list(request), { doc: 'Requests for devices. At most 32 requests.' }) },
  { name: 'DeviceClaim', doc: 'Requests for devices, with constraints and configuration.' },
)

const claimSpec = s.object(
  {
    devices: field(1, claim, {
      zeroValue: 'write',
      published: 'optional',
      doc: 'Requests for devices, with constraints and configuration.',
    }),
  },
  { name: 'ResourceClaimSpec', doc: 'Specification of a ResourceClaim. Immutable.' },
)

type Claim = Infer<typeof claimSpec>
type StoredClaim = Infer<typeof specFields.devices.schema>
type StoredRequest = NonNullable<StoredClaim['requests']>[number]
type Request = Infer<typeof request>

function fromStoredRequest({ name, exactly, firstAvailable }: StoredRequest): Request {
  return { ...defined({ name, firstAvailable }), ...exactly } as Request
}

/** Converts a device request. The result for a request with only alternatives has no `exactly`. */
function toStoredRequest({ name, firstAvailable, ...exactly }: Request): StoredRequest {
  const isExact = (firstAvailable ?? []).length === 0 || Object.keys(exactly).length > 0
  return { ...defined({ name, firstAvailable }), ...(isExact && { exactly }) } as StoredRequest
}

/** Converts each device request of a claim. */
function withRequests<A, B>(devices: { requests?: A[] } | undefined, convert: (request: A) => B) {
  const { requests, ...rest } = devices ?? {}
  return defined({ ...rest, requests: requests?.map(convert) })
}

function fromStoredSpec(spec: { devices?: StoredClaim } | undefined): Claim {
  return { devices: withRequests(spec?.devices, fromStoredRequest) } as Claim
}

function toStoredSpec(spec: Claim | undefined): { devices: StoredClaim } {
  return { devices: withRequests(spec?.devices, toStoredRequest) as StoredClaim }
}

const claimVersionFields = { ...claimFields, spec: { ...claimFields.spec, schema: claimSpec } }

export const resourceClaimV1beta1 = defineVersion(resourceClaim, {
  ...availability,
  fields: claimVersionFields,
  fromStored: (object) => ({ ...object, spec: fromStoredSpec(object.spec) }),
  toStored: (object) => ({ ...object, spec: toStoredSpec(object.spec) }),
})

const templateSpec = s.object(
  {
    metadata: field(1, objectMeta, { zeroValue: 'write', doc: claimTemplateDocs.metadata }),
    spec: field(2, claimSpec, { zeroValue: 'write', published: 'required', doc: claimTemplateDocs.spec }),
  },
  { name: 'ResourceClaimTemplateSpec', doc: 'Specification of a ResourceClaimTemplate. Immutable.' },
)

export const resourceClaimTemplateV1beta1 = defineVersion(resourceClaimTemplate, {
  ...availability,
  fields: {
    spec: field(2, templateSpec, { zeroValue: 'write', published: 'required', doc: claimTemplateDocs.template }),
  },
  fromStored: (object) => ({ ...object, spec: { ...object.spec, spec: fromStoredSpec(object.spec?.spec) } }),
  toStored: (object) => ({ ...object, spec: { ...object.spec, spec: toStoredSpec(object.spec?.spec) } }),
})

export const deviceClassV1beta1 = defineVersion(deviceClass, { ...availability, fields: deviceClassFields })

const basicDevice = s.object(
  {
    attributes: renumbered(1, deviceFields.attributes),
    capacity: renumbered(2, deviceFields.capacity),
    consumesCounters: renumbered(3, deviceFields.consumesCounters, '1.33'),
    nodeName: renumbered(4, deviceFields.nodeName, '1.33'),
    nodeSelector: renumbered(5, deviceFields.nodeSelector, '1.33'),
    allNodes: renumbered(6, deviceFields.allNodes, '1.33'),
    taints: renumbered(7, deviceFields.taints, '1.33'),
    bindsToNode: renumbered(8, deviceFields.bindsToNode),
    bindingConditions: renumbered(9, deviceFields.bindingConditions),
    bindingFailureConditions: renumbered(10, deviceFields.bindingFailureConditions),
    allowMultipleAllocations: renumbered(11, deviceFields.allowMultipleAllocations),
    nodeAllocatableResourceMappings: renumbered(12, deviceFields.nodeAllocatableResourceMappings),
  },
  { name: 'BasicDevice', doc: 'Properties of a device.' },
)

const device = s.object(
  { name: deviceFields.name, basic: field(2, basicDevice, { doc: 'Properties of the device.' }) },
  { name: 'Device', doc: 'A device and its properties.' },
)

const sliceSpec = s.object(
  { ...sliceSpecFields, devices: { ...sliceSpecFields.devices, schema: s.list(device) } },
  { name: 'ResourceSliceSpec', doc: 'Specification of a ResourceSlice.' },
)

export const resourceSliceV1beta1 = defineVersion(resourceSlice, {
  ...availability,
  fields: { ...sliceFields, spec: { ...sliceFields.spec, schema: sliceSpec } },
  fromStored: (object) => {
    const { devices, ...spec } = object.spec ?? {}
    const converted = devices?.map(({ name, ...basic }) => ({ ...defined({ name }), basic }))
    return { ...object, spec: { ...spec, ...defined({ devices: converted }) } }
  },
  toStored: (object) => {
    const { devices, ...spec } = object.spec ?? {}
    const converted = devices?.map(({ name, basic }) => ({ ...defined({ name }), ...basic }))
    return { ...object, spec: { ...spec, ...defined({ devices: converted }) } }
  },
})
