/**
 * Data sources of a claim: `dataSource` refers to a claim or a snapshot, and `dataSourceRef` to any object.
 * `dataSourceRef` requires the feature gate AnyVolumeDataSource. With the gate enabled, both fields have the same
 * value.
 */
import { groupName } from '../../../model/vendor.ts'
import { emulationOf, type PrepareContext, type RuleContext } from '../../../schema/context.ts'
import type { PersistentVolumeClaimSpec } from './claim-spec.ts'

/**
 * Drops data sources of unsupported kinds unless the stored claim already has such a data source. Sets both fields to
 * the same value if the gate is enabled. Modifies the spec.
 */
export function agreeOnDataSources(
  spec: PersistentVolumeClaimSpec,
  previous: PersistentVolumeClaimSpec | undefined,
  context: PrepareContext,
): void {
  const { gates } = emulationOf(context)
  if (!gates.has('CrossNamespaceVolumeDataSource')) dropForeignSource(spec, previous)
  const isInUse = previous?.dataSource !== undefined || (previous?.dataSourceRef ?? spec.dataSourceRef) !== undefined
  if (!isInUse && !isClaimOrSnapshot(spec.dataSource, context)) delete spec.dataSource
  if (!gates.has('AnyVolumeDataSource')) return
  if (spec.dataSource !== undefined) spec.dataSourceRef ??= spec.dataSource
  else if (spec.dataSourceRef !== undefined && !spec.dataSourceRef.namespace) {
    const { namespace: _, ...source } = spec.dataSourceRef
    spec.dataSource = source
  }
}

/** Drops a reference to another namespace unless the stored claim already has a reference. */
function dropForeignSource(spec: PersistentVolumeClaimSpec, previous: PersistentVolumeClaimSpec | undefined): void {
  if (spec.dataSourceRef?.namespace && previous?.dataSourceRef === undefined) delete spec.dataSourceRef
}

function isClaimOrSnapshot(source: PersistentVolumeClaimSpec['dataSource'], { vendor }: RuleContext): boolean {
  const { apiGroup = '', kind } = source ?? {}
  if (apiGroup === '') return kind === 'PersistentVolumeClaim'
  return kind === 'VolumeSnapshot' && apiGroup === groupName(vendor, 'snapshot.storage')
}
