/**
 * A FlowSchema selects requests, divides them into flows and assigns them to a priority level. The flows of a level
 * share its capacity fairly.
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
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the PriorityLevelConfiguration.' }) },
  { name: 'PriorityLevelConfigurationReference', doc: 'Reference to a PriorityLevelConfiguration.' },
)

const distinguisher = s.object(
  {
    type: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'How requests are divided into flows: by the requesting user (`ByUser`) or by the namespace of the request (`ByNamespace`).',
    }),
  },
  {
    name: 'FlowDistinguisherMethod',
    doc: 'Specifies how the requests of a FlowSchema are divided into flows.',
    check: ({ type = '' }, path) => (methods.includes(type) ? [] : [notSupported(child(path, 'type'), type, methods)]),
  },
)

const specFields = {
  priorityLevelConfiguration: field(1, reference, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Priority level to which matching requests are assigned.',
  }),
  matchingPrecedence: field(2, s.int32(), {
    doc: 'Precedence among FlowSchemas that match the same request, from 1 to 10000. The lowest number takes precedence. Defaults to 1000.',
  }),
  distinguisherMethod: field(3, distinguisher, {
    doc: 'Specifies how matching requests are divided into flows. If unset, all matching requests form a single flow.',
  }),
  rules: field(4, s.list(policyRulesWithSubjects), {
    doc: 'Rules that select requests. A request matches the FlowSchema if it matches at least one rule.',
  }),
}

const spec = s.object(specFields, {
  name: 'FlowSchemaSpec',
  doc: 'Specification of a FlowSchema: the requests that it matches and their priority level.',
  fill: (value) => {
    if (!value.matchingPrecedence) value.matchingPrecedence = 1000
  },
  check: checkSpec,
})

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Requests that the FlowSchema matches, and their priority level.' }),
  status: field(3, conditionsStatus('FlowSchema'), { zeroValue: 'write', doc: 'Observed status of the FlowSchema.' }),
}

export type FlowSchema = ObjectOf<typeof fields>

const columns: readonly Column<FlowSchema>[] = [
  nameColumn,
  column(
    'PriorityLevel',
    'Priority level to which matching requests are assigned.',
    ({ spec }) => spec?.priorityLevelConfiguration?.name || '<none>',
  ),
  column(
    'MatchingPrecedence',
    'Precedence among FlowSchemas that match the same request. The lowest number takes precedence.',
    ({ spec }) => spec?.matchingPrecedence ?? 0,
  ),
  column(
    'DistinguisherMethod',
    'How matching requests are divided into flows.',
    ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>',
  ),
  ageColumn,
  column(
    'MissingPL',
    'Whether the priority level does not exist.',
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
  doc: 'Selects requests, divides them into flows and assigns them to a priority level.',
  fields,
  rules: specAndStatus<FlowSchema>({
    newStatus: () => ({}),
    generation: ({ spec }) => spec,
    validate: checkMandatory,
  }),
  views: { columns, subresources: { status: statusAndNothingElse } },
  until: '1.29',
  deprecated: {
    since: '1.26',
    instead: { group: 'flowcontrol.apiserver', version: 'v1beta3', kind: 'FlowSchema' },
  },
})

export const flowSchemaV1beta1 = defineVersion(flowSchema, {
  version: 'v1beta1',
  fields,
  until: '1.26',
  deprecated: { since: '1.23', instead: { group: 'flowcontrol.apiserver', version: 'v1beta2', kind: 'FlowSchema' } },
})

const newerFields = {
  ...fields,
  status: { ...fields.status, schema: conditionsStatus('FlowSchema', 'merge') },
}

export const flowSchemaV1beta3 = defineVersion(flowSchema, {
  version: 'v1beta3',
  fields: newerFields,
  since: '1.26',
  until: '1.32',
  deprecated: { since: '1.29', instead: { group: 'flowcontrol.apiserver', version: 'v1', kind: 'FlowSchema' } },
})

export const flowSchemaV1 = defineVersion(flowSchema, { version: 'v1', fields: newerFields, since: '1.29' })

function checkSpec(value: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const { priorityLevelConfiguration: { name = '' } = {}, matchingPrecedence: precedence = 0 } = value
  const place = child(path, 'matchingPrecedence')
  const namePlace = child(path, 'priorityLevelConfiguration.name')
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
