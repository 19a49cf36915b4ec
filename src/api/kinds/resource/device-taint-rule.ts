/** A DeviceTaintRule adds a taint to devices, in addition to the taints that their driver reports. */
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
  driver: field(2, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the driver that manages the devices. If unset, devices of all drivers match.',
  }),
  pool: field(3, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the pool that contains the devices. If unset, devices in all pools match.',
  }),
  device: field(4, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the device. If unset, devices match regardless of their names.',
  }),
}

const selector = s.object(selectorFields, {
  name: 'DeviceTaintSelector',
  doc: 'Selects devices. A device must match all fields that are set.',
  check: checkSelector,
})

const spec = s.object(
  {
    deviceSelector: field(1, selector, { doc: 'Selects the devices to taint. If unset, no devices are tainted.' }),
    taint: field(2, deviceTaint, { zeroValue: 'write', published: 'required', doc: 'Taint to add to the devices.' }),
  },
  { name: 'DeviceTaintRuleSpec', doc: 'Specification of a DeviceTaintRule.' },
)

const status = s.object(
  {
    conditions: field(1, conditions, {
      doc: 'Conditions of the rule, such as EvictionInProgress. At most 8 conditions.',
    }),
  },
  { name: 'DeviceTaintRuleStatus', doc: 'Observed status of a DeviceTaintRule.' },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Taint to add, and the devices to add it to.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the rule.' }),
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
  doc: 'A rule that adds a taint to devices.',
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

/** Sets the time of the rule's taint if the client has not set it. */
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
