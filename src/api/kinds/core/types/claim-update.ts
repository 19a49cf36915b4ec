/**
 * Rules for updates of a PersistentVolumeClaim: the class may be set once, and a bound claim may request more storage.
 */
import { defined, sameJson } from '../../../json/json.ts'
import { type FieldError, forbidden } from '../../../model/field-error.ts'
import { compareQuantities } from '../../../model/quantity.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { immutableField } from '../../immutable.ts'
import type { PersistentVolumeClaim } from './claim-fields.ts'
import { mayRecover } from './claim-resize.ts'
import type { PersistentVolumeClaimSpec } from './claim-spec.ts'
import type { ResourceList } from './resource-list.ts'
import { quantityOf } from './resource-names.ts'
import { quantityIn } from './resources.ts'

/** Returns the key of the beta annotation that preceded `storageClassName`. */
export function classKey(vendor: Vendor): string {
  return vendorKey(vendor, 'storage-class', 'volume.beta')
}

/**
 * Rejects changes to the class and to its old annotation, except that the class may move from the annotation to the
 * field.
 */
export function checkClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, vendor: Vendor): FieldError[] {
  if (movesClass(next, previous, vendor)) return []
  const key = classKey(vendor)
  const after = next.metadata.annotations?.[key] ?? ''
  const before = previous.metadata.annotations?.[key] ?? ''
  return immutableField(`metadata.annotations.${key}`, after, before)
}

function movesClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, vendor: Vendor): boolean {
  const key = classKey(vendor)
  const before = previous.metadata.annotations?.[key]
  const after = next.metadata.annotations?.[key] ?? before
  const moved = previous.spec?.storageClassName === undefined && next.spec?.storageClassName === before
  return before !== undefined && moved && after === before
}

export function checkSpecUpdate(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  context: RuleContext,
): FieldError[] {
  const { spec: after = {} } = next
  const { spec: before = {} } = previous
  const same = sameJson(unchanging(next, previous, context), before)
  const text = `spec is immutable after creation except ${
    isAtLeast(emulationOf(context).version, '1.29')
      ? 'resources.requests and volumeAttributesClassName'
      : 'resources.requests'
  } for bound claims`
  return [
    ...(same ? [] : [forbidden('spec', text)]),
    ...checkSize(next, previous, context),
    ...immutableField('spec.volumeMode', after.volumeMode, before.volumeMode),
  ]
}

/** Returns the new spec with all permitted changes undone, so that any remaining difference is an error. */
function unchanging(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  context: RuleContext,
): PersistentVolumeClaimSpec {
  const { vendor } = context
  const { spec = {}, status } = next
  const { spec: before = {} } = previous
  const copy = { ...spec }
  if (!before.volumeName) delete copy.volumeName
  if (movesClass(next, previous, vendor) || gainsClass(next, previous, context)) delete copy.storageClassName
  const storage = before.resources?.requests?.storage
  if (status?.phase === 'Bound' && spec.resources?.requests && storage !== undefined)
    copy.resources = { ...spec.resources, requests: { ...spec.resources.requests, storage } }
  if (status?.phase === 'Bound' && hasAttributesClass(spec, context))
    copy.volumeAttributesClassName = before.volumeAttributesClassName!
  return defined(copy)
}

/**
 * Rejects a smaller size. With RecoverVolumeExpansionFailure, a claim may reduce its request to a size that is still
 * above its capacity.
 */
function checkSize(
  { spec }: PersistentVolumeClaim,
  { spec: before, status }: PersistentVolumeClaim,
  context: RuleContext,
): FieldError[] {
  const requestedSize = storageIn(spec?.resources?.requests)
  if (compareQuantities(requestedSize, storageIn(before?.resources?.requests)) >= 0) return []
  const path = 'spec.resources.requests.storage'
  if (!mayRecover(context)) return [forbidden(path, 'field can not be less than previous value')]
  const held = compareQuantities(requestedSize, storageIn(status?.capacity)) > 0
  return held ? [] : [forbidden(path, 'field can not be less than status.capacity')]
}

/** Whether the update gives the claim its first storage class. A default class may be assigned to an existing claim. */
function gainsClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, context: RuleContext): boolean {
  if (!emulationOf(context).gates.has('RetroactiveDefaultStorageClass')) return false
  const key = classKey(context.vendor)
  const isAnnotated = [next, previous].some(({ metadata }) => Object.hasOwn(metadata.annotations ?? {}, key))
  return !isAnnotated && previous.spec?.storageClassName === undefined && next.spec?.storageClassName !== undefined
}

/** Whether `volumeAttributesClassName` may change. Since 1.34, it may also be unset. */
function hasAttributesClass(spec: PersistentVolumeClaimSpec, context: RuleContext): boolean {
  const { version, gates } = emulationOf(context)
  if (!gates.has('VolumeAttributesClass')) return false
  return spec.volumeAttributesClassName !== undefined || isAtLeast(version, '1.34')
}

/** Rejects the removal of the attributes class from a claim whose volume has an attributes class. */
export function checkAttributesClass(
  { spec }: PersistentVolumeClaim,
  { spec: before, status }: PersistentVolumeClaim,
  context: RuleContext,
): FieldError[] {
  const name = spec?.volumeAttributesClassName
  if (name || name === before?.volumeAttributesClassName) return []
  const isNewer = isAtLeast(emulationOf(context).version, '1.34')
  const needsClass = isNewer ? status?.currentVolumeAttributesClassName : before?.volumeAttributesClassName
  if (needsClass === undefined) return []
  const what = name === undefined ? 'nil' : 'an empty string'
  const when = isNewer ? 'when status.currentVolumeAttributesClassName is set' : 'once the class is set'
  return [forbidden('spec.volumeAttributesClassName', `update to ${what} is forbidden ${when}`)]
}

function storageIn(list: ResourceList | undefined) {
  return quantityIn(list, 'storage') ?? quantityOf('0')
}
