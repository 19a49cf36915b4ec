/**
 * Data sources of a claim: `dataSource` names a claim or a snapshot, and `dataSourceRef` names any object.
 * `dataSourceRef` requires the feature gate AnyVolumeDataSource. With the gate enabled, both fields have the same
 * value.
 */
import { groupName } from '../../../model/vendor.ts'
import type { PrepareContext, RuleContext } from '../../../schema/context.ts'
import { dropGated } from '../../../schema/gated-fields.ts'
import type { PersistentVolumeClaimSpec } from './claim-spec.ts'

/**
 * Drops unsupported data sources unless the stored claim already has them, for example from before the gate was
 * disabled. Mutates the spec.
 */
export function agreeOnDataSources(
  spec: PersistentVolumeClaimSpec,
  previous: PersistentVolumeClaimSpec | undefined,
  context: PrepareContext,
): void {
  const feature = 'AnyVolumeDataSource'
  const open = context.gates?.has(feature) ?? false
  if (!open && previous?.dataSourceRef === undefined)
    dropGated(spec, 'dataSourceRef', { path: 'spec', feature, onDropped: context.onDropped })
  if (previous?.dataSource === undefined && !isClaimOrSnapshot(spec.dataSource, context)) delete spec.dataSource
  if (!open) return
  const source = spec.dataSource ?? spec.dataSourceRef
  if (source === undefined) return
  spec.dataSource ??= source
  spec.dataSourceRef ??= source
}

function isClaimOrSnapshot(source: PersistentVolumeClaimSpec['dataSource'], { vendor }: RuleContext): boolean {
  const { apiGroup = '', kind } = source ?? {}
  if (apiGroup === '') return kind === 'PersistentVolumeClaim'
  return kind === 'VolumeSnapshot' && apiGroup === groupName(vendor, 'snapshot.storage')
}
