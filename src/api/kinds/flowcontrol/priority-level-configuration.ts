/**
 * A PriorityLevelConfiguration limits the number of concurrent requests of a priority level, and queues or rejects the
 * excess.
 */

import { sameJson } from '../../json/json.ts'
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../model/field-error.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, isSince, type RuleContext } from '../../schema/context.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type Infer, type InferFields, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { specAndStatus, statusAndNothingElse } from '../spec-and-status.ts'
import { conditionsStatus } from './types/conditions.ts'
import { mandatoryLevels } from './types/mandatory.ts'

const types = ['Exempt', 'Limited']
const responses = ['Queue', 'Reject']
const maxQueues = 10_000_000
/** Number of hash bits that are available for selecting the queues of a flow. */
const maxBits = 60

const queuingFields = {
  queues: field(1, s.int32(), { doc: 'Number of queues, from 1 to 10000000. Defaults to 64.' }),
  handSize: field(2, s.int32(), {
    doc: 'Number of queues that shuffle sharding assigns to each flow. Must not exceed `queues`. Defaults to 8.',
  }),
  queueLengthLimit: field(3, s.int32(), {
    doc: 'Maximum number of requests that can wait in each queue. Defaults to 50.',
  }),
}

const queuing = s.object(queuingFields, {
  name: 'QueuingConfiguration',
  doc: 'Queues for requests that exceed the concurrency limit.',
  fill: (value) => {
    value.queues ||= 64
    value.handSize ||= 8
    value.queueLengthLimit ||= 50
  },
})

const responseFields = {
  type: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'What to do with requests that exceed the concurrency limit: `Queue` or `Reject`.',
  }),
  queuing: field(2, queuing, {
    doc: 'Queue configuration. Required if the type is `Queue`, and forbidden if the type is `Reject`.',
  }),
}

const limitResponse = s.object(responseFields, {
  name: 'LimitResponse',
  doc: 'What to do with requests that exceed the concurrency limit.',
})

export const limitedFields = {
  assuredConcurrencyShares: field(1, s.int32(), {
    zeroValue: 'keep',
    doc: "Share of the server's concurrency for this priority level, relative to the other priority levels. Must be positive. Defaults to 30.",
  }),
  limitResponse: field(2, limitResponse, {
    zeroValue: 'write',
    published: 'optional',
    doc: 'What to do with requests that exceed the concurrency limit.',
  }),
  lendablePercent: field(3, s.int32(), {
    zeroValue: 'keep',
    since: '1.26',
    doc: "Percentage of this level's concurrency that other levels can borrow, from 0 to 100. Defaults to 0.",
  }),
  borrowingLimitPercent: field(4, s.int32(), {
    zeroValue: 'keep',
    since: '1.26',
    doc: 'Maximum concurrency that this level can borrow from other levels, as a percentage of its own. If unset, there is no limit.',
  }),
}

/** Whether levels in v1 may have 0 shares, so that they can only borrow seats from other levels. True since 1.30. */
const allowsNoShares = (context: RuleContext) => isSince('1.30', context)

const limited = s.object(limitedFields, {
  name: 'LimitedPriorityLevelConfiguration',
  doc: 'Limits for a priority level.',
  fill: (value, context) => {
    if (!allowsNoShares(context)) value.assuredConcurrencyShares ||= 30
    value.assuredConcurrencyShares ??= 30
    if (isSince('1.26', context)) value.lendablePercent ??= 0
  },
})

const exempt = s.object(
  {
    nominalConcurrencyShares: field(1, s.int32(), {
      zeroValue: 'keep',
      doc: "Share of the server's concurrency that is reserved for this level. Defaults to 0.",
    }),
    lendablePercent: field(2, s.int32(), {
      zeroValue: 'keep',
      doc: "Percentage of this level's concurrency that other levels can borrow, from 0 to 100. Defaults to 0.",
    }),
  },
  {
    name: 'ExemptPriorityLevelConfiguration',
    doc: 'Concurrency settings of an exempt priority level.',
    fill: (value) => {
      value.nominalConcurrencyShares ??= 0
      value.lendablePercent ??= 0
    },
  },
)

export const specFields = {
  type: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Type of the priority level: `Limited`, or `Exempt` if its requests are never queued or rejected.',
  }),
  limited: field(2, limited, {
    doc: 'Limits of the priority level. Required if the type is `Limited`, and forbidden if the type is `Exempt`.',
  }),
  exempt: field(3, exempt, {
    since: '1.28',
    doc: 'Concurrency settings of the priority level. Allowed only if the type is `Exempt`.',
  }),
}

const spec = s.object(specFields, {
  name: 'PriorityLevelConfigurationSpec',
  doc: 'Specification of a priority level.',
  check: checkSpec,
})

export const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired limits of the priority level.' }),
  status: field(3, conditionsStatus('PriorityLevelConfiguration'), {
    zeroValue: 'write',
    doc: 'Observed status of the priority level.',
  }),
}

export type PriorityLevelConfiguration = ObjectOf<typeof fields>

const queued = (name: string, doc: string, part: keyof typeof queuingFields) =>
  column(name, doc, ({ spec }: PriorityLevelConfiguration) => spec?.limited?.limitResponse?.queuing?.[part] ?? '<none>')

const shares = (name: string) =>
  column(
    name,
    "Share of the server's concurrency for this priority level.",
    ({ spec }: PriorityLevelConfiguration) => spec?.limited?.assuredConcurrencyShares ?? '<none>',
  )

const columns: readonly Column<PriorityLevelConfiguration>[] = [
  nameColumn,
  column('Type', 'Whether the priority level is limited or exempt.', ({ spec }) => spec?.type ?? ''),
  { ...shares('AssuredConcurrencyShares'), until: '1.26' },
  { ...shares('NominalConcurrencyShares'), since: '1.26' },
  queued('Queues', 'Number of queues.', 'queues'),
  queued('HandSize', 'Number of queues that shuffle sharding assigns to each flow.', 'handSize'),
  queued('QueueLengthLimit', 'Maximum number of requests that wait in each queue.', 'queueLengthLimit'),
  ageColumn,
]

export const priorityLevelConfiguration = defineKind({
  names: {
    group: 'flowcontrol.apiserver',
    version: 'v1beta2',
    kind: 'PriorityLevelConfiguration',
    plural: 'prioritylevelconfigurations',
    scope: 'Cluster',
  },
  doc: 'A priority level with limits on concurrent requests.',
  fields,
  rules: specAndStatus<PriorityLevelConfiguration>({
    newStatus: () => ({}),
    generation: ({ spec }) => spec,
    validate: checkExempt,
  }),
  views: { columns, subresources: { status: statusAndNothingElse } },
  until: '1.29',
  deprecated: {
    since: '1.26',
    instead: { group: 'flowcontrol.apiserver', version: 'v1beta3', kind: 'PriorityLevelConfiguration' },
  },
})

export const priorityLevelConfigurationV1beta1 = defineVersion(priorityLevelConfiguration, {
  version: 'v1beta1',
  fields,
  until: '1.26',
  deprecated: {
    since: '1.23',
    instead: { group: 'flowcontrol.apiserver', version: 'v1beta2', kind: 'PriorityLevelConfiguration' },
  },
})

function checkExempt({ metadata, spec = {} }: PriorityLevelConfiguration, context: RuleContext): FieldError[] {
  const { name = '' } = metadata
  const { type = '' } = spec
  const mandatory = mandatoryLevels(emulationOf(context).version).get(name)
  const isFixed = mandatory === undefined || sameJson(withoutExempt(spec), withoutExempt(mandatory as typeof spec))
  const text = "type must be 'Exempt' if and only if name is 'exempt'"
  return [
    ...((name === 'exempt') === (type === 'Exempt') ? [] : [invalid('spec.type', type, text)]),
    ...(isFixed ? [] : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]),
  ]
}

/** Returns the spec without the concurrency of the exempt level, which users may change. */
function withoutExempt({ exempt: _, ...rest }: InferFields<typeof specFields>) {
  return rest
}

/** Rejects settings that do not apply to the type, without validating their values. */
function checkSpec(
  { type = '', limited, exempt }: InferFields<typeof specFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const place = child(path, 'limited')
  const exemptPlace = child(path, 'exempt')
  if (type === 'Exempt')
    return [
      ...(limited ? [forbidden(place, 'must be nil if the type is not Limited')] : []),
      ...(exempt ? checkExemptLimits(exempt, exemptPlace) : []),
    ]
  if (type !== 'Limited') return [notSupported(child(path, 'type'), type, types)]
  return [
    ...(exempt ? [forbidden(exemptPlace, 'must be nil if the type is Limited')] : []),
    ...(limited ? checkLimited(limited, place, context) : [required(place, 'must not be empty when type is Limited')]),
  ]
}

function checkExemptLimits(
  { nominalConcurrencyShares: shares = 0, lendablePercent }: Infer<typeof exempt>,
  path: FieldPath,
): FieldError[] {
  return [
    ...(shares >= 0
      ? []
      : [invalid(child(path, 'nominalConcurrencyShares'), shares, 'must be a non-negative integer')]),
    ...checkLendable(lendablePercent, child(path, 'lendablePercent')),
  ]
}

function checkLendable(percent: number = 0, path: FieldPath): FieldError[] {
  return percent >= 0 && percent <= 100 ? [] : [invalid(path, percent, 'must be between 0 and 100, inclusive')]
}

/** Versions with the newer field name `nominalConcurrencyShares`. */
const laterVersions: readonly (string | undefined)[] = ['flowcontrol.apiserver/v1beta3', 'flowcontrol.apiserver/v1']

function checkLimited(limited: InferFields<typeof limitedFields>, path: FieldPath, context: RuleContext): FieldError[] {
  const { assuredConcurrencyShares: shares = 0, limitResponse = {}, lendablePercent, borrowingLimitPercent } = limited
  const name = laterVersions.includes(context.through) ? 'nominalConcurrencyShares' : 'assuredConcurrencyShares'
  return [
    ...checkShares(shares, child(path, name), context),
    ...checkResponse(limitResponse, child(path, 'limitResponse'), context),
    ...checkLendable(lendablePercent, child(path, 'lendablePercent')),
    ...(borrowingLimitPercent !== undefined && borrowingLimitPercent < 0
      ? [invalid(child(path, 'borrowingLimitPercent'), borrowingLimitPercent, 'must be a non-negative integer')]
      : []),
  ]
}

function checkShares(shares: number, path: FieldPath, context: RuleContext): FieldError[] {
  if (allowsNoShares(context)) return shares >= 0 ? [] : [invalid(path, shares, 'must be a non-negative integer')]
  return shares > 0 ? [] : [invalid(path, shares, 'must be positive')]
}

function checkResponse(
  { type = '', queuing }: InferFields<typeof responseFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const place = child(path, 'queuing')
  if (type === 'Reject') return queuing ? [forbidden(place, 'must be nil if limitResponse.type is not Queue')] : []
  if (type === '' && isAtLeast(emulationOf(context).version, '1.36')) return [required(child(path, 'type'))]
  if (type !== 'Queue') return [notSupported(child(path, 'type'), type, responses)]
  return queuing ? checkQueuing(queuing, place) : [required(place, 'must not be empty if limitResponse.type is Queue')]
}

function checkQueuing(value: InferFields<typeof queuingFields>, path: FieldPath): FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = value
  const faultAt = (part: keyof typeof queuingFields, text: string | undefined) =>
    text === undefined ? [] : [invalid(child(path, part), value[part], text)]
  return [
    ...faultAt('queueLengthLimit', queueLengthLimit > 0 ? undefined : 'must be positive'),
    ...faultAt('queues', queues > 0 ? undefined : 'must be positive'),
    ...faultAt('queues', queues <= maxQueues ? undefined : `must not be greater than ${maxQueues}`),
    ...faultAt('handSize', faultOfHand(queues, handSize)),
  ]
}

/**
 * Returns the reason why a hand size is invalid. The hash of a flow selects a hand of queues, so the hash must have
 * enough bits for the whole hand.
 */
function faultOfHand(queues: number, handSize: number): string | undefined {
  if (handSize <= 0) return 'must be positive'
  if (handSize > queues) return `should not be greater than queues (${queues})`
  if (Math.ceil(Math.log2(queues) * handSize) <= maxBits) return undefined
  return `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxBits}`
}
