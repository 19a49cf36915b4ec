/**
 * Data sources of a claim: `dataSource` names a claim or a snapshot, and `dataSourceRef` names any object.
 * `dataSourceRef` requires the feature gate AnyVolumeDataSource. With the gate enabled, both fields have the same
 * value.
 */
import { groupName } from '../../../model/vendor.ts'
import { emulationOf, type PrepareContext, type RuleContext } from '../../../schema/context.ts'
import type { PersistentVolumeClaimSpec } from './claim-spec.ts'

/**
 * Drops data sources of unsupported kinds unless the stored claim already has one. Sets both fields to the same value if
 * the gate is enabled. Mutates the spec.
 */
export function agreeOnDataSources(
  spec: PersistentVolumeClaimSpec,
  previous: PersistentVolumeClaimSpec | undefined,
  context: PrepareContext,
): void {
  if (previous?.dataSource === undefined && !isClaimOrSnapshot(spec.dataSource, context)) delete spec.dataSource
  if (!emulationOf(context).gates.has('AnyVolumeDataSource')) return
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
