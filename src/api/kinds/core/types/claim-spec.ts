/** PersistentVolumeClaimSpec describes the storage that a claim requests. Claim templates in pods also use it. */

import { sameJson } from '../../../json/json.ts'
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { quantitySign } from '../../../model/quantity.ts'
import { emulationOf, isEnabled, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { accessModes, checkAccessModes } from './access-modes.ts'
import { typedLocalObjectReference, typedObjectReference } from './local-references.ts'
import { quantityIn, resourceRequirements, volumeResourceRequirements } from './resources.ts'

const fields = {
  accessModes: field(1, accessModes, {
    doc: 'Access modes that the volume must support: `ReadWriteOnce`, `ReadOnlyMany` or `ReadWriteMany`. At least one is required.',
  }),
  selector: field(4, labelSelector, {
    doc: 'Label selector for the volumes to which the claim may be bound. If unset, volumes match regardless of their labels.',
  }),
  resources: field(2, volumeResourceRequirements, {
    earlier: { until: '1.29', schema: resourceRequirements },
    zeroValue: 'write',
    doc: 'Minimum amount of storage that the volume must provide, set as `requests.storage`.',
  }),
  volumeName: field(3, s.string(), { doc: 'Name of the PersistentVolume that is bound to the claim.' }),
  storageClassName: field(5, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the StorageClass. An empty string requests a volume without a StorageClass. If unset, the default StorageClass is used.',
  }),
  volumeMode: field(6, s.oneOf('Block', 'Filesystem'), {
    zeroValue: 'keep',
    default: 'Filesystem',
    doc: 'Whether the volume is used with a file system (`Filesystem`) or as a raw block device (`Block`). Defaults to `Filesystem`.',
  }),
  dataSource: field(7, typedLocalObjectReference, {
    doc: 'Snapshot or claim in the same namespace from which the new volume is populated.',
  }),
  dataSourceRef: field(8, typedObjectReference, {
    earlier: { until: '1.26', schema: typedLocalObjectReference },
    gate: 'AnyVolumeDataSource',
    doc: 'Object of any kind from which the new volume is populated. Requires the AnyVolumeDataSource feature gate.',
  }),
  volumeAttributesClassName: field(9, s.string(), {
    zeroValue: 'keep',
    since: '1.29',
    gate: 'VolumeAttributesClass',
    doc: 'Name of the VolumeAttributesClass. Unlike the StorageClass, it can be changed after the claim has been created.',
  }),
}

export type PersistentVolumeClaimSpec = InferFields<typeof fields>

export const persistentVolumeClaimSpec = s.object(fields, {
  name: 'core.v1.PersistentVolumeClaimSpec',
  doc: 'Specification of a PersistentVolumeClaim.',
  check: checkClaim,
})

/**
 * In the claim template of a pod, keep `volumeAttributesClassName` even if its feature is disabled. The field is
 * dropped when the claim is created.
 */
export const templatedClaimSpec: typeof persistentVolumeClaimSpec = {
  ...persistentVolumeClaimSpec,
  fields: { ...fields, volumeAttributesClassName: { ...fields.volumeAttributesClassName, gateDrops: 'never' } },
}

function checkClaim(spec: PersistentVolumeClaimSpec, path: FieldPath, context: RuleContext): FieldError[] {
  const { accessModes: modes = [], storageClassName: className = '', dataSource, dataSourceRef } = spec
  const hasClasses = isEnabled('VolumeAttributesClass', context)
  const attributesClass = (hasClasses && spec.volumeAttributesClassName) || undefined
  const modesPath = child(path, 'accessModes')
  return [
    ...(modes.length === 0 ? [required(modesPath, 'at least 1 access mode is required')] : []),
    ...checkAccessModes(modes, modesPath, context),
    ...checkStorage(spec, at(child(path, 'resources'), 'storage')),
    ...(className === '' ? [] : checkDnsSubdomain(className)).map((text) =>
      invalid(child(path, 'storageClassName'), className, text),
    ),
    ...(dataSource ? checkDataSource(dataSource, child(path, 'dataSource'), context) : []),
    ...(dataSourceRef ? checkDataSource(dataSourceRef, child(path, 'dataSourceRef'), context) : []),
    ...checkOneSource(spec, path),
    ...(attributesClass ? checkDnsSubdomain(attributesClass) : []).map((text) =>
      invalid(child(path, 'volumeAttributesClassName'), attributesClass, text),
    ),
  ]
}

function checkStorage({ resources }: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  const size = quantityIn(resources?.requests, 'storage')
  if (size === undefined) return [required(path)]
  return quantitySign(size) > 0 ? [] : [invalid(path, resources!.requests!.storage, 'must be greater than zero')]
}

type DataSource = NonNullable<PersistentVolumeClaimSpec['dataSource' | 'dataSourceRef']>

/**
 * Requires `dataSource` and `dataSourceRef` to name the same object. If `dataSourceRef` refers to another namespace,
 * `dataSource` must be unset.
 */
function checkOneSource({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  if (!dataSource || !dataSourceRef) return []
  const { namespace, ...reference } = dataSourceRef
  if (namespace) return [invalid(path, 'dataSource', 'may not be specified when dataSourceRef.namespace is specified')]
  return sameJson(dataSource, reference) ? [] : [invalid(path, 'dataSource', 'must match dataSourceRef')]
}

/** Validates `dataSource`. Without an API group, the only valid kind is PersistentVolumeClaim. */
function checkDataSource(source: DataSource, path: FieldPath, context: RuleContext): FieldError[] {
  const { name = '', kind = '', apiGroup = '' } = source
  const namespace = 'namespace' in source ? source.namespace : undefined
  const checksGroup = apiGroup !== '' && isAtLeast(emulationOf(context).version, '1.29')
  return [
    ...(name === '' ? [required(child(path, 'name'))] : []),
    ...(kind === '' ? [required(child(path, 'kind'))] : []),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, 'must be PersistentVolumeClaim when `apiGroup` is empty')]
      : []),
    ...(checksGroup ? checkDnsSubdomain(apiGroup) : []).map((text) => invalid(child(path, 'apiGroup'), apiGroup, text)),
    ...(namespace ? checkDnsLabel(namespace) : []).map((text) => invalid(child(path, 'namespace'), namespace, text)),
  ]
}
