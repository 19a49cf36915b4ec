/** DeviceTaintRule: adds a taint to devices, in addition to the taints that their driver reports. */
import { child, type FieldError } from '../../model/field-error.ts'
import { checkDnsLabel } from '../../model/names.ts'
import { timestamp } from '../../model/object.ts'
import { ageColumn, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkDriverName } from '../core/types/volumes/storage-systems.ts'
import { checkConditions, conditions } from '../meta/condition.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { deviceTaint } from './types/device.ts'
import { checkName, checkPoolName } from './types/lists.ts'

const selectorFields = {
  driver: field(2, s.string(), { zeroValue: 'keep', doc: 'Driver of the devices. Unset matches all drivers.' }),
  pool: field(3, s.string(), { zeroValue: 'keep', doc: 'Pool of the devices. Unset matches all pools.' }),
  device: field(4, s.string(), { zeroValue: 'keep', doc: 'Name of the device. Unset matches all devices.' }),
}

const selector = s.object(selectorFields, {
  name: 'DeviceTaintSelector',
  doc: 'Selects devices. All fields that are set must match.',
  check: checkSelector,
})

const spec = s.object(
  {
    deviceSelector: field(1, selector, { doc: 'Devices that get the taint. Unset selects no devices.' }),
    taint: field(2, deviceTaint, { zeroValue: 'write', published: 'required', doc: 'Taint of the devices.' }),
  },
  { name: 'DeviceTaintRuleSpec', doc: 'Specification of a DeviceTaintRule.' },
)

const status = s.object(
  { conditions: field(1, conditions, { doc: 'Conditions of the rule, such as EvictionInProgress. At most 8.' }) },
  { name: 'DeviceTaintRuleStatus', doc: 'Observed status of a DeviceTaintRule.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', published: 'required', doc: 'Devices and their taint.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status.' }),
}

export type DeviceTaintRule = ObjectOf<typeof fields>

export const deviceTaintRule = defineKind({
  names: {
    group: 'resource',
    version: 'v1beta2',
    kind: 'DeviceTaintRule',
    plural: 'devicetaintrules',
    scope: 'Cluster',
  },
  since: '1.36',
  gate: 'DRADeviceTaintRules',
  optIn: true,
  doc: 'Adds a taint to devices.',
  fields,
  rules: specAndStatus<DeviceTaintRule>({
    newStatus: () => ({}),
    generation: ({ spec }) => spec,
    prepareForCreate: addTime,
    prepareForUpdate: (next, _, context) => addTime(next, context),
    validate: ({ status }) => checkConditions(status?.conditions, 'status.conditions'),
  }),
  lifecycle: { deleteAnswers: 'object' },
  views: { columns: [nameColumn, ageColumn], subresources: { status: plainStatus } },
})

/** Sets the time of a taint that has none. */
function addTime({ spec }: DeviceTaintRule, { now }: PrepareContext): void {
  if (spec?.taint !== undefined) spec.taint.timeAdded ??= timestamp(now)
}

function checkSelector(
  { driver, pool, device }: InferFields<typeof selectorFields>,
  path: string,
  context: RuleContext,
): FieldError[] {
  return [
    ...(driver === undefined ? [] : checkDriverName(driver, child(path, 'driver'), context)),
    ...(pool === undefined ? [] : checkPoolName(pool, child(path, 'pool'))),
    ...(device === undefined ? [] : checkName(device, child(path, 'device'), checkDnsLabel)),
  ]
}
