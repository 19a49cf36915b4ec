/**
 * A VolumeAttributesClass contains parameters of a volume that can change during the volume's lifetime. The class
 * itself is immutable.
 */
import { sameJson } from '../../json/json.ts'
import { forbidden } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { checkParameters, checkProvisioner } from './types/class-rules.ts'

const fields = {
  driverName: field(2, s.string(), { required: true, zeroValue: 'write', doc: 'Name of the CSI driver. Immutable.' }),
  parameters: field(3, s.map(s.string()), {
    doc: 'Parameters that the CSI driver applies to the volumes of this class. Immutable.',
  }),
}

export type VolumeAttributesClass = ObjectOf<typeof fields>

export const volumeAttributesClass = defineKind({
  names: {
    group: 'storage',
    version: 'v1',
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    shortNames: ['vac'],
    scope: 'Cluster',
  },
  since: '1.34',
  doc: 'A class of parameters that can be applied to existing volumes.',
  fields,
  rules: {
    validate: ({ driverName = '', parameters = {} }) => [
      ...checkProvisioner(driverName, 'driverName'),
      ...checkParameters(parameters, { needsOne: true }),
    ],
    validateUpdate: (next, previous) =>
      (['driverName', 'parameters'] as const).flatMap((name) =>
        sameJson(next[name], previous[name]) ? [] : [forbidden(name, `updates to ${name} are forbidden.`)],
      ),
  },
  lifecycle: { deleteAnswers: 'object' },
  views: {
    columns: [
      nameColumn,
      column('DriverName', 'Name of the CSI driver.', ({ driverName }: VolumeAttributesClass) => driverName ?? ''),
      ageColumn,
    ],
  },
})

export const volumeAttributesClassV1beta1 = defineVersion(volumeAttributesClass, {
  version: 'v1beta1',
  fields,
  since: '1.31',
  optIn: true,
})
