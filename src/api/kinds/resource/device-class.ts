/** A DeviceClass describes devices that claims can request, and how to configure them. */
import { child, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
import { ageColumn, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { isExtended } from '../core/types/resource-names.ts'
import { countsGeneration } from '../generation.ts'
import { classConfiguration } from './types/configuration.ts'
import { checkList } from './types/lists.ts'
import { deviceSelector } from './types/selector.ts'

const spec = s.object(
  {
    selectors: field(1, s.list(deviceSelector), {
      doc: 'Selectors, all of which a device must match. At most 32 selectors.',
    }),
    config: field(2, s.list(classConfiguration), { doc: 'Configuration to apply to the devices. At most 32 entries.' }),
    extendedResourceName: field(4, s.string(), {
      zeroValue: 'keep',
      since: '1.34',
      gate: 'DRAExtendedResource',
      doc: 'Name of the extended resource through which pods can request the devices, for example `example.com/gpu`.',
    }),
  },
  {
    name: 'DeviceClassSpec',
    doc: 'Specification of a DeviceClass.',
    check: ({ selectors, config, extendedResourceName: name }, path, context) => [
      ...checkList(selectors, child(path, 'selectors'), {}),
      ...checkList(config, child(path, 'config'), {}),
      ...checkExtendedName(name, child(path, 'extendedResourceName'), context),
    ],
  },
)

export const deviceClassFields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Selectors for the devices of the class, and their configuration.',
  }),
}

export type DeviceClass = ObjectOf<typeof deviceClassFields>

export const deviceClass = defineKind({
  names: { group: 'resource', version: 'v1', kind: 'DeviceClass', plural: 'deviceclasses', scope: 'Cluster' },
  since: '1.34',
  doc: 'A class of devices that claims can request, with their configuration.',
  fields: deviceClassFields,
  rules: countsGeneration(({ spec }: DeviceClass) => spec),
  lifecycle: { deleteAnswers: 'object' },
  views: { columns: [nameColumn, ageColumn] },
})

function checkExtendedName(name: string | undefined, path: FieldPath, { vendor }: RuleContext): FieldError[] {
  return name === undefined || isExtended(name, vendor)
    ? []
    : [invalid(path, name, 'must be an extended resource name')]
}

export const deviceClassV1beta2 = defineVersion(deviceClass, {
  version: 'v1beta2',
  fields: deviceClassFields,
  since: '1.33',
  optIn: true,
})
