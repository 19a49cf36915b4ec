/** PersistentVolumeClaimSpec: the storage that a claim asks for, or that a pod asks for by a template of a claim. */
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { sameJson } from '../../../json/json.ts'
import { checkDnsSubdomain } from '../../../model/names.ts'
import { quantitySign } from '../../../model/quantity.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { accessModes, checkAccessModes } from './access-modes.ts'
import { typedLocalObjectReference } from './local-references.ts'
import { quantityIn, resourceRequirements } from './resources.ts'

const fields = {
  accessModes: field(1, accessModes, {
    doc: 'How the volume is to be mounted: ReadWriteOnce, ReadOnlyMany or ReadWriteMany.',
  }),
  selector: field(4, labelSelector, { doc: 'Which volumes may be bound; any if unset.' }),
  resources: field(2, resourceRequirements, { zero: 'write', doc: 'How much is needed, as requests.storage.' }),
  volumeName: field(3, s.string(), { doc: 'The volume that is bound to the claim.' }),
  storageClassName: field(5, s.string(), {
    zero: 'keep',
    doc: 'The class of the volume. Empty is a volume without a class; unset, the default class.',
  }),
  volumeMode: field(6, s.oneOf('Block', 'Filesystem'), {
    zero: 'keep',
    default: 'Filesystem',
    doc: 'Whether it is used as a Filesystem or as a raw Block device.',
  }),
  dataSource: field(7, typedLocalObjectReference, {
    doc: 'A snapshot or a claim whose content the volume starts with.',
  }),
  dataSourceRef: field(8, typedLocalObjectReference, { doc: 'Like dataSource, of any kind.' }),
}

export type PersistentVolumeClaimSpec = InferFields<typeof fields>

export const persistentVolumeClaimSpec = s.object(fields, {
  name: 'core.v1.PersistentVolumeClaimSpec',
  doc: 'The requested storage: its size, its class and how it is used.',
  check: checkClaim,
})

function checkClaim(spec: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  const { accessModes: modes = [], storageClassName: className = '', dataSource, dataSourceRef } = spec
  const modesPath = child(path, 'accessModes')
  return [
    ...(modes.length === 0 ? [required(modesPath, 'at least 1 access mode is required')] : []),
    ...checkAccessModes(modes, modesPath),
    ...checkStorage(spec, at(child(path, 'resources'), 'storage')),
    ...(className === '' ? [] : checkDnsSubdomain(className)).map((text) =>
      invalid(child(path, 'storageClassName'), className, text),
    ),
    ...(dataSource ? checkDataSource(dataSource, child(path, 'dataSource')) : []),
    ...(dataSourceRef ? checkDataSource(dataSourceRef, child(path, 'dataSourceRef')) : []),
    ...(dataSource && dataSourceRef && !sameJson(dataSource, dataSourceRef)
      ? [invalid(path, 'dataSource', 'must match dataSourceRef')]
      : []),
  ]
}

function checkStorage({ resources }: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  const size = quantityIn(resources?.requests, 'storage')
  if (size === undefined) return [required(path)]
  return quantitySign(size) > 0 ? [] : [invalid(path, resources!.requests!.storage, 'must be greater than zero')]
}

type DataSource = NonNullable<PersistentVolumeClaimSpec['dataSource']>

/** Of the kinds without a group only a claim can be copied. */
function checkDataSource({ name = '', kind = '', apiGroup = '' }: DataSource, path: FieldPath): FieldError[] {
  return [
    ...(name === '' ? [required(child(path, 'name'))] : []),
    ...(kind === '' ? [required(child(path, 'kind'))] : []),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, 'must be PersistentVolumeClaim when `apiGroup` is empty')]
      : []),
  ]
}
