/**
 * PriorityLevelConfiguration: how many requests of a level are carried out at once, and what becomes of further ones.
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
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { specAndStatus, statusAndNothingElse } from '../spec-and-status.ts'
import { conditionsStatus } from './types/conditions.ts'
import { mandatoryLevels } from './types/mandatory.ts'

const types = ['Exempt', 'Limited']
const responses = ['Queue', 'Reject']
const maxQueues = 10_000_000
/** How many bits there are to draw a hand of queues by. */
const maxBits = 60

const queuingFields = {
  queues: field(1, s.int32(), { doc: 'How many queues there are; 64 by default.' }),
  handSize: field(2, s.int32(), {
    doc: 'How many queues a flow may use, drawn by its name; 8 by default. Few keep a flood away from others.',
  }),
  queueLengthLimit: field(3, s.int32(), { doc: 'How many requests a queue holds; 50 by default.' }),
}

const queuing = s.object(queuingFields, {
  name: 'QueuingConfiguration',
  doc: 'The queues that requests wait in.',
  fill: (value) => {
    value.queues ||= 64
    value.handSize ||= 8
    value.queueLengthLimit ||= 50
  },
})

const responseFields = {
  type: field(1, s.string(), { zero: 'write', doc: 'Queue, or Reject.' }),
  queuing: field(2, queuing, { doc: 'The queues, for Queue.' }),
}

const limitResponse = s.object(responseFields, {
  name: 'LimitResponse',
  doc: 'What becomes of a request that is one too many.',
})

const limitedFields = {
  assuredConcurrencyShares: field(1, s.int32(), {
    doc: 'Its share of the requests that run at the same time, relative to other levels; 30 by default.',
  }),
  limitResponse: field(2, limitResponse, {
    zero: 'write',
    published: 'optional',
    doc: 'What becomes of a request that is one too many.',
  }),
}

const limited = s.object(limitedFields, {
  name: 'LimitedPriorityLevelConfiguration',
  doc: 'How many requests of a level run at the same time.',
  fill: (value) => {
    value.assuredConcurrencyShares ||= 30
  },
})

const specFields = {
  type: field(1, s.string(), { zero: 'write', doc: 'Limited, or Exempt, which is never held up.' }),
  limited: field(2, limited, { doc: 'The limits, for Limited.' }),
}

const spec = s.object(specFields, {
  name: 'PriorityLevelConfigurationSpec',
  doc: 'How many requests of the level run at the same time.',
  check: checkSpec,
})

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'How many requests of the level run at the same time.' }),
  status: field(3, conditionsStatus('PriorityLevelConfiguration'), {
    zero: 'write',
    doc: 'What is known of its state.',
  }),
}

export type PriorityLevelConfiguration = ObjectOf<typeof fields>

const queued = (name: string, doc: string, part: keyof typeof queuingFields) =>
  column(name, doc, ({ spec }: PriorityLevelConfiguration) => spec?.limited?.limitResponse?.queuing?.[part] ?? '<none>')

const columns: readonly Column<PriorityLevelConfiguration>[] = [
  nameColumn,
  column('Type', 'Whether it is limited.', ({ spec }) => spec?.type ?? ''),
  column(
    'AssuredConcurrencyShares',
    'Its share of all that is carried out at once.',
    ({ spec }) => spec?.limited?.assuredConcurrencyShares ?? '<none>',
  ),
  queued('Queues', 'How many queues there are.', 'queues'),
  queued('HandSize', 'How many queues a flow may use.', 'handSize'),
  queued('QueueLengthLimit', 'How many requests a queue holds.', 'queueLengthLimit'),
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
  doc: 'How many requests of a priority level run at the same time.',
  fields,
  rules: specAndStatus<PriorityLevelConfiguration>({
    newStatus: () => ({}),
    generation: ({ spec }) => spec,
    validate: checkExempt,
  }),
  views: { columns, subresources: { status: statusAndNothingElse } },
})

export const priorityLevelConfigurationV1beta1 = defineVersion(priorityLevelConfiguration, {
  version: 'v1beta1',
  fields,
  deprecated: {
    since: 'v1.23',
    until: 'v1.26',
    instead: { group: 'flowcontrol.apiserver', version: 'v1beta2', kind: 'PriorityLevelConfiguration' },
  },
})

function checkExempt({ metadata, spec = {} }: PriorityLevelConfiguration): FieldError[] {
  const { name = '' } = metadata
  const { type = '' } = spec
  const mandatory = mandatoryLevels.get(name)
  const isFixed = mandatory === undefined || sameJson(spec, mandatory)
  const text = "type must be 'Exempt' if and only if name is 'exempt'"
  return [
    ...((name === 'exempt') === (type === 'Exempt') ? [] : [invalid('spec.type', type, text)]),
    ...(isFixed ? [] : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]),
  ]
}

/** What is there but does not count is refused unseen. */
function checkSpec({ type = '', limited }: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const place = child(path, 'limited')
  if (type === 'Exempt') return limited ? [forbidden(place, 'must be nil if the type is not Limited')] : []
  if (type !== 'Limited') return [notSupported(child(path, 'type'), type, types)]
  return limited ? checkLimited(limited, place) : [required(place, 'must not be empty when type is Limited')]
}

function checkLimited(limited: InferFields<typeof limitedFields>, path: FieldPath): FieldError[] {
  const { assuredConcurrencyShares: shares = 0, limitResponse = {} } = limited
  return [
    ...(shares > 0 ? [] : [invalid(child(path, 'assuredConcurrencyShares'), shares, 'must be positive')]),
    ...checkResponse(limitResponse, child(path, 'limitResponse')),
  ]
}

function checkResponse({ type = '', queuing }: InferFields<typeof responseFields>, path: FieldPath): FieldError[] {
  const place = child(path, 'queuing')
  if (type === 'Reject') return queuing ? [forbidden(place, 'must be nil if limitResponse.type is not Queue')] : []
  if (type !== 'Queue') return [notSupported(child(path, 'type'), type, responses)]
  return queuing ? checkQueuing(queuing, place) : [required(place, 'must not be empty if limitResponse.type is Queue')]
}

function checkQueuing(value: InferFields<typeof queuingFields>, path: FieldPath): FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = value
  const told = (part: keyof typeof queuingFields, text: string | undefined) =>
    text === undefined ? [] : [invalid(child(path, part), value[part], text)]
  return [
    ...told('queueLengthLimit', queueLengthLimit > 0 ? undefined : 'must be positive'),
    ...told('queues', queues > 0 ? undefined : 'must be positive'),
    ...told('queues', queues <= maxQueues ? undefined : `must not be greater than ${maxQueues}`),
    ...told('handSize', faultOfHand(queues, handSize)),
  ]
}

/** A hand is drawn by so many bits of a hash that there are enough for every one of its cards. */
function faultOfHand(queues: number, handSize: number): string | undefined {
  if (handSize <= 0) return 'must be positive'
  if (handSize > queues) return `should not be greater than queues (${queues})`
  if (Math.ceil(Math.log2(queues) * handSize) <= maxBits) return undefined
  return `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxBits}`
}
