/**
 * A PersistentVolumeClaim requests storage and binds to one volume. A bound claim may request more storage. The rest of
 * its spec is immutable.
 */

import { parseQuantity } from '../../model/quantity.ts'
import type { Vendor } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind } from '../../schema/kind.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { keep, plainStatus, specAndStatus } from '../spec-and-status.ts'
import { abbreviateModes } from './types/access-modes.ts'
import { claimFields, type PersistentVolumeClaim } from './types/claim-fields.ts'
import { checkStatus, mayRecover } from './types/claim-resize.ts'
import { checkAttributesClass, checkClass, checkSpecUpdate, classKey } from './types/claim-update.ts'
import { agreeOnDataSources } from './types/data-sources.ts'
import { classAnnotationWarnings } from './types/persistent-volume-warnings.ts'

export type { PersistentVolumeClaim }

const columns: readonly Column<PersistentVolumeClaim>[] = [
  nameColumn,
  column('Status', 'Lifecycle phase of the claim.', ({ metadata, status }) =>
    metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
  ),
  column('Volume', 'Name of the bound volume.', ({ spec }) => spec?.volumeName ?? ''),
  column('Capacity', 'Capacity of the bound volume.', (claim) =>
    hasVolumeName(claim) ? (claim.status?.capacity?.storage ?? '0') : '',
  ),
  column('Access Modes', 'Access modes of the bound volume.', (claim) =>
    hasVolumeName(claim) ? abbreviateModes(claim.status?.accessModes) : '',
  ),
  column('StorageClass', 'StorageClass of the claim.', (claim, _, vendor) => classOf(claim, vendor)),
  {
    ...column(
      'VolumeAttributesClass',
      'VolumeAttributesClass of the claim.',
      ({ spec }: PersistentVolumeClaim) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    since: '1.29',
  },
  ageColumn,
  column('VolumeMode', 'Volume mode: Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? '<unset>', 1),
]

export const persistentVolumeClaim = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    shortNames: ['pvc'],
    scope: 'Namespaced',
  },
  doc: 'A request for storage, which binds to a PersistentVolume.',
  fields: claimFields,
  rules: specAndStatus<PersistentVolumeClaim>({
    newStatus: () => ({ phase: 'Pending' }),
    prepareForCreate: ({ spec = {} }, context) => agreeOnDataSources(spec, undefined, context),
    prepareForUpdate: ({ spec = {} }, previous, context) => agreeOnDataSources(spec, previous.spec, context),
    validateUpdate: (next, previous, context) =>
      context.subresource === 'status'
        ? checkStatus(next.status ?? {}, context)
        : [
            ...checkClass(next, previous, context.vendor),
            ...checkSpecUpdate(next, previous, context),
            ...checkAttributesClass(next, previous, context),
          ],
    warnings: (claim, _, context) =>
      context.subresource === '' && isAtLeast(emulationOf(context).version, '1.26') ? warningsFor(claim, context) : [],
  }),
  lifecycle: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
    subresources: { status: { ...plainStatus, prepareForUpdate: keepAllButStatus } },
  },
})

function hasVolumeName({ spec }: PersistentVolumeClaim): boolean {
  return !!spec?.volumeName
}

/** Returns the storage class of a claim. The beta annotation is older than the field and takes precedence. */
function classOf({ metadata, spec }: PersistentVolumeClaim, vendor: Vendor): string {
  return metadata.annotations?.[classKey(vendor)] ?? spec?.storageClassName ?? ''
}

/**
 * Restores every part of a claim except the status. Drops status fields whose feature gate is disabled, unless the
 * stored object already has them.
 */
function keepAllButStatus(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, context: RuleContext): void {
  keep(next, previous, 'spec')
  if (next.status === undefined || mayRecover(context)) return
  if (previous.status?.allocatedResources === undefined) delete next.status.allocatedResources
  if (previous.status?.resizeStatus === undefined) delete next.status.resizeStatus
}

function warningsFor({ metadata, spec }: PersistentVolumeClaim, { vendor }: RuleContext): string[] {
  const { requests = {}, limits = {} } = spec?.resources ?? {}
  return [
    ...classAnnotationWarnings(metadata.annotations ?? {}, vendor),
    ...fractionWarning(requests.storage, 'spec.resources.requests[storage]'),
    ...fractionWarning(limits.storage, 'spec.resources.limits[storage]'),
  ]
}

function fractionWarning(size: string | undefined, path: string): string[] {
  const isWhole = size === undefined || (parseQuantity(size)?.nanos ?? 0n) % 1_000_000_000n === 0n
  return isWhole ? [] : [`${path}: "${size}" is a fraction of a byte; use a whole number`]
}
