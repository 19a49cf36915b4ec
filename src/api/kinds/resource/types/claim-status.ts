/** ResourceClaimStatus contains the allocated devices of a claim and the objects that use them. */
import { at, child, duplicate, type FieldError, forbidden, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain } from '../../../model/names.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { immutableField } from '../../immutable.ts'
import { checkAdminResults } from './admin-access.ts'
import { allocationResult, checkAllocation } from './allocation.ts'
import { type ResourceClaimSpec, requestNames } from './claim-spec.ts'
import { checkDeviceStatus, deviceKey, deviceStatus } from './device-status.ts'
import { checkList, checkName, keyFieldOf } from './lists.ts'

const consumer = s.object(
  {
    apiGroup: field(1, s.string(), { doc: 'API group of the object. Empty for the core group, to which pods belong.' }),
    resource: field(3, s.string(), { zeroValue: 'write', doc: 'Resource type of the object, such as `pods`.' }),
    name: field(4, s.string(), { zeroValue: 'write', doc: 'Name of the object.' }),
    uid: field(5, s.string(), { zeroValue: 'write', doc: 'UID of the object.' }),
  },
  {
    name: 'ResourceClaimConsumerReference',
    doc: 'An object that is allowed to use a claim.',
    check: ({ apiGroup = '', ...names }, path) => [
      ...(apiGroup === '' ? [] : checkName(apiGroup, child(path, 'apiGroup'), checkDnsSubdomain)),
      ...(['resource', 'name', 'uid'] as const).flatMap((key) => (names[key] ? [] : [required(child(path, key))])),
    ],
  },
)

const statusFields = {
  allocation: field(1, allocationResult, { doc: 'Devices that are allocated to the claim. Immutable while set.' }),
  reservedFor: field(2, s.list(consumer, { list: 'map', keys: ['uid'], patch: 'merge', mergeKey: 'uid' }), {
    doc: 'Objects that are allowed to use the claim. At most 256 objects.',
  }),
  devices: field(4, s.list(deviceStatus, { list: 'map', keys: ['driver', 'device', 'pool', 'shareID'] }), {
    gate: 'DRAResourceClaimDeviceStatus',
    doc: 'Status of each allocated device, reported by its driver.',
  }),
}

export type ResourceClaimStatus = InferFields<typeof statusFields>

export const resourceClaimStatus = s.object(statusFields, {
  name: 'ResourceClaimStatus',
  doc: 'Observed status of a ResourceClaim: the allocated devices and the objects that use them.',
})

interface Claim {
  readonly metadata: ApiObject['metadata']
  readonly spec?: ResourceClaimSpec
  readonly status?: ResourceClaimStatus
}

const maxConsumers = 256

/** Validates an update of the status. */
export function checkClaimStatus(next: Claim, previous: Claim, context: RuleContext): FieldError[] {
  const { reservedFor = [], allocation, devices = [] } = next.status ?? {}
  const before = previous.status?.allocation
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceKey))
  const path = 'status.allocation'
  return [
    ...checkAdminResults(allocation?.devices?.results, before?.devices?.results, context),
    ...checkList(reservedFor, 'status.reservedFor', {
      max: maxConsumers,
      key: ({ uid = '' }) => uid,
      keyField: keyFieldOf('uid', context),
    }),
    ...checkList(devices, 'status.devices', {
      max: maxConsumers,
      check: (each, place) => checkDeviceStatus(each, { allocated, path: place }, context),
    }),
    ...repeatedDevices(devices.map(deviceKey), context),
    ...checkReservations(next, previous),
    ...(allocation !== undefined && before !== undefined ? immutableField(path, allocation, before) : []),
    ...(allocation !== undefined && before === undefined
      ? checkAllocation(allocation, { names: requestNames(next.spec ?? {}), path }, context)
      : []),
  ]
}

/** Reports repeated devices. Before 1.36, the error contains the field `deviceID`, which the type does not have. */
function repeatedDevices(keys: readonly string[], context: RuleContext): FieldError[] {
  const name = keyFieldOf('deviceID', context)
  const path = 'status.devices'
  const seen = new Set<string>()
  return keys.flatMap((key, i) =>
    seen.size === seen.add(key).size
      ? [duplicate(name === undefined ? at(path, i) : child(at(path, i), name), JSON.parse(key))]
      : [],
  )
}

/** Rejects a reservation of an unallocated claim, and new consumers of a claim that is being deleted. */
function checkReservations(next: Claim, previous: Claim): FieldError[] {
  const path = 'status.reservedFor'
  const { reservedFor = [], allocation } = next.status ?? {}
  if (reservedFor.length === 0) return []
  if (allocation === undefined) return [forbidden(path, 'may not be specified when `allocated` is not set')]
  if (next.metadata.deletionTimestamp === undefined) return []
  const before = new Set((previous.status?.reservedFor ?? []).map(({ uid }) => uid))
  return reservedFor.every(({ uid }) => before.has(uid))
    ? []
    : [forbidden(path, 'new entries may not be added while `deletionTimestamp` is set')]
}
