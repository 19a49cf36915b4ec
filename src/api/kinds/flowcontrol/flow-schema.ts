/**
 * FlowSchema: which requests make up flows, and the priority level that these have. Flows of one level share it fairly.
 */

import { sameJson } from '../../json/json.ts'
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { specAndStatus, statusAndNothingElse } from '../spec-and-status.ts'
import { conditionsStatus } from './types/conditions.ts'
import { mandatoryFlowSchemas } from './types/mandatory.ts'
import { policyRulesWithSubjects } from './types/policy-rules.ts'

const lastPrecedence = 10_000
const methods = ['ByNamespace', 'ByUser']

const reference = s.object(
  { name: field(1, s.string(), { zero: 'write', doc: 'The name of the level.' }) },
  { name: 'PriorityLevelConfigurationReference', doc: 'A priority level.' },
)

const distinguisher = s.object(
  { type: field(1, s.string(), { zero: 'write', doc: 'ByUser or ByNamespace.' }) },
  {
    name: 'FlowDistinguisherMethod',
    doc: 'What distinguishes the flows of a schema.',
    check: ({ type = '' }, path) => (methods.includes(type) ? [] : [notSupported(child(path, 'type'), type, methods)]),
  },
)

const specFields = {
  priorityLevelConfiguration: field(1, reference, {
    zero: 'write',
    published: 'required',
    doc: 'The level that the requests have.',
  }),
  matchingPrecedence: field(2, s.int32(), {
    doc: 'Of the schemas that a request is for, the one with the least counts; from 1 to 10000, 1000 by default.',
  }),
  distinguisherMethod: field(3, distinguisher, { doc: 'What distinguishes its flows; they are one if unset.' }),
  rules: field(4, s.list(policyRulesWithSubjects), { doc: 'The requests that it is for; one rule is enough.' }),
}

const spec = s.object(specFields, {
  name: 'FlowSchemaSpec',
  doc: 'Which requests make up flows, and at which level.',
  fill: (value) => {
    if (!value.matchingPrecedence) value.matchingPrecedence = 1000
  },
  check: checkSpec,
})

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'Which requests make up flows, and at which level.' }),
  status: field(3, conditionsStatus('FlowSchema'), { zero: 'write', doc: 'What is known of its state.' }),
}

export type FlowSchema = ObjectOf<typeof fields>

const columns: readonly Column<FlowSchema>[] = [
  nameColumn,
  column(
    'PriorityLevel',
    'The level that the requests have.',
    ({ spec }) => spec?.priorityLevelConfiguration?.name || '<none>',
  ),
  column('MatchingPrecedence', 'The lower, the sooner it counts.', ({ spec }) => spec?.matchingPrecedence ?? 0),
  column(
    'DistinguisherMethod',
    'What distinguishes its flows.',
    ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>',
  ),
  ageColumn,
  column(
    'MissingPL',
    'Whether there is no such level.',
    ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  ),
]

export const flowSchema = defineKind({
  names: {
    group: 'flowcontrol.apiserver',
    version: 'v1beta2',
    kind: 'FlowSchema',
    plural: 'flowschemas',
    scope: 'Cluster',
  },
  doc: 'Which requests make up flows, and the priority level that these have.',
  fields,
  rules: specAndStatus<FlowSchema>({
    newStatus: () => ({}),
    generation: ({ spec }) => spec,
    validate: checkMandatory,
  }),
  views: { columns, subresources: { status: statusAndNothingElse } },
})

export const flowSchemaV1beta1 = defineVersion(flowSchema, {
  version: 'v1beta1',
  fields,
  deprecated: {
    since: 'v1.23',
    until: 'v1.26',
    instead: { group: 'flowcontrol.apiserver', version: 'v1beta2', kind: 'FlowSchema' },
  },
})

function checkSpec(value: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const { priorityLevelConfiguration: { name = '' } = {}, matchingPrecedence: precedence = 0 } = value
  const [place, namePlace] = [child(path, 'matchingPrecedence'), child(path, 'priorityLevelConfiguration.name')]
  const nameFaults = name === '' ? [] : checkDnsSubdomain(name)
  return [
    ...(precedence > 0 ? [] : [invalid(place, precedence, 'must be a positive value')]),
    ...(precedence <= lastPrecedence ? [] : [invalid(place, precedence, `must not be greater than ${lastPrecedence}`)]),
    ...(name === '' ? [required(namePlace, 'must reference a priority level')] : []),
    ...nameFaults.map((fault) => invalid(namePlace, name, fault)),
  ]
}

function checkMandatory({ metadata, spec = {} }: FlowSchema): FieldError[] {
  const { name = '' } = metadata
  const mandatory = mandatoryFlowSchemas.get(name)
  const isFirst = spec.matchingPrecedence === 1 && name !== 'exempt'
  const isFixed = mandatory === undefined || sameJson(spec, mandatory)
  const text = "only the schema named 'exempt' may have matchingPrecedence 1"
  return [
    ...(isFirst ? [invalid('spec.matchingPrecedence', 1, text)] : []),
    ...(isFixed ? [] : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]),
  ]
}
