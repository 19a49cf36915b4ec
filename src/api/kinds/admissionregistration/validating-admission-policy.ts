/**
 * A ValidatingAdmissionPolicy contains CEL expressions that can reject requests. A policy takes effect through
 * bindings. The expressions are compiled and checked in `apiserver/admission/policy`.
 */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../model/field-error.ts'
import { checkQualifiedName } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { byName } from '../list-keys.ts'
import { checkConditions, replacedConditions } from '../meta/condition.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { matchCondition } from './types/match-condition.ts'
import { checkConstraints, matchResources } from './types/match-resources.ts'
import { checkMatchConditions, paramKind, variable } from './types/policy-parts.ts'

const validationFields = {
  expression: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'CEL expression that must evaluate to true for the request to be admitted.',
  }),
  message: field(2, s.string(), { doc: 'Message to return if the expression evaluates to false.' }),
  reason: field(3, s.string(), {
    zeroValue: 'keep',
    doc: 'Machine-readable reason for the rejection, which also determines the HTTP status code. Defaults to `Invalid`.',
  }),
  messageExpression: field(4, s.string(), {
    doc: 'CEL expression that returns the message for a violation. Takes precedence over `message`.',
  }),
}

type Validation = InferFields<typeof validationFields>

const validation = s.object(validationFields, {
  name: 'Validation',
  doc: 'A CEL expression that must be true for a request to be admitted.',
  check: checkValidation,
})

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function checkValidation(value: Validation, path: FieldPath): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = value
  const messagePath = child(path, 'message')
  return [
    ...(expression.trim() === '' ? [required(child(path, 'expression'), 'expression is not specified')] : []),
    ...(messageExpression !== '' && messageExpression.trim() === ''
      ? [invalid(child(path, 'messageExpression'), messageExpression, 'must be non-empty if specified')]
      : []),
    ...(message !== '' && message.trim() === ''
      ? [invalid(messagePath, message, 'message must be non-empty if specified')]
      : []),
    ...(/[\n\r]/.test(message.trim()) ? [invalid(messagePath, message, 'message must not contain line breaks')] : []),
    ...(reason !== undefined && !reasons.includes(reason)
      ? [notSupported(child(path, 'reason'), reason, reasons)]
      : []),
  ]
}

const auditAnnotation = s.object(
  {
    key: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Key of the annotation. In the audit event, the key is prefixed with the name of the policy and a slash.',
    }),
    valueExpression: field(2, s.string(), {
      zeroValue: 'write',
      doc: "CEL expression that returns the annotation's value, or null to omit the annotation.",
    }),
  },
  { name: 'AuditAnnotation', doc: 'An annotation to add to audit events.' },
)

const maxAnnotations = 20
const maxValueExpression = 5 * 1024

interface AnnotationField {
  key?: string | undefined
  valueExpression?: string | undefined
}

function checkAnnotations(annotations: readonly AnnotationField[], policy: string, path: FieldPath): FieldError[] {
  const repeated = repeatedAt(annotations.map(({ key = '' }) => key))
  return [
    ...(annotations.length > maxAnnotations
      ? [invalid(path, '', `must not have more than ${maxAnnotations} auditAnnotations`)]
      : []),
    ...annotations.flatMap(({ key = '', valueExpression = '' }, i) => {
      const [keyPath, valuePath] = [child(at(path, i), 'key'), child(at(path, i), 'valueExpression')]
      const full = `${policy}/${key}`
      return [
        ...checkQualifiedName(full).map((fault) => invalid(keyPath, full, fault)),
        ...(repeated.has(i) ? [duplicate(keyPath, key)] : []),
        ...(valueExpression.trim() === '' ? [required(valuePath, 'valueExpression is not specified')] : []),
        ...(valueExpression.length > maxValueExpression
          ? [required(valuePath, `must not exceed ${maxValueExpression} bytes in length`)]
          : []),
      ]
    }),
  ]
}

const specFields = {
  paramKind: field(1, paramKind, {
    doc: "Kind of the objects that hold the policy's parameters. Leave unset if the policy takes no parameters.",
  }),
  matchConstraints: field(2, matchResources, { doc: 'Requests to which the policy applies. Required.' }),
  validations: field(3, s.list(validation), {
    doc: 'CEL expressions that requests must satisfy. Required if `auditAnnotations` is empty.',
  }),
  failurePolicy: field(4, s.oneOf('Fail', 'Ignore'), {
    zeroValue: 'keep',
    default: 'Fail',
    doc: 'What to do if an expression cannot be evaluated: `Fail` rejects the request, and `Ignore` admits it. Defaults to `Fail`.',
  }),
  auditAnnotations: field(5, s.list(auditAnnotation), {
    doc: 'Annotations to add to audit events. Required if `validations` is empty.',
  }),
  matchConditions: field(6, s.list(matchCondition, byName), {
    doc: 'Additional CEL conditions that a request must meet for the policy to apply. At most 64 conditions.',
  }),
  variables: field(7, s.list(variable, byName), {
    doc: "Named CEL expressions that the policy's other expressions can use, except its match conditions.",
  }),
}

type Spec = InferFields<typeof specFields>

const spec = s.object(specFields, {
  name: 'ValidatingAdmissionPolicySpec',
  doc: 'Specification of a ValidatingAdmissionPolicy.',
  check: ({ matchConstraints, validations = [], auditAnnotations = [], matchConditions }, path) => {
    const none = 'validations or auditAnnotations must contain at least one item'
    const isEmpty = validations.length === 0 && auditAnnotations.length === 0
    return [
      ...checkConstraints(matchConstraints, child(path, 'matchConstraints')),
      ...checkMatchConditions(matchConditions, child(path, 'matchConditions')),
      ...(isEmpty ? ['validations', 'auditAnnotations'].map((name) => required(child(path, name), none)) : []),
    ]
  },
})

const warningFields = {
  fieldRef: field(2, s.string(), { zeroValue: 'write', doc: 'Path of the policy field that contains the expression.' }),
  warning: field(3, s.string(), { zeroValue: 'write', doc: 'Type errors found in the expression.' }),
}

const expressionWarning = s.object(warningFields, {
  name: 'ExpressionWarning',
  doc: 'A type-checking warning about one expression.',
  check: ({ fieldRef = '', warning = '' }, path) => [
    ...(fieldRef.trim() === '' ? [required(child(path, 'fieldRef'))] : []),
    ...(warning === '' ? [required(child(path, 'warning'))] : []),
  ],
})

const typeChecking = s.object(
  {
    expressionWarnings: field(1, s.list(expressionWarning), {
      doc: 'Warnings about expressions that contain type errors.',
    }),
  },
  {
    name: 'TypeChecking',
    doc: "Results of checking the policy's expressions against the types of the objects that the policy matches.",
  },
)

const statusFields = {
  observedGeneration: field(1, s.int64(), { doc: 'Most recent generation that the controller has processed.' }),
  typeChecking: field(2, typeChecking, {
    doc: 'Results of type checking. Set once all expressions have been checked.',
  }),
  conditions: field(3, replacedConditions, { doc: 'Conditions of the policy.' }),
}

const status = s.object(statusFields, {
  name: 'ValidatingAdmissionPolicyStatus',
  doc: 'Observed status of a ValidatingAdmissionPolicy.',
  check: (value, path) => checkConditions(value.conditions, child(path, 'conditions')),
})

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Specification of the policy.' }),
  status: field(3, status, {
    zeroValue: 'write',
    doc: 'Observed status of the policy, including type-checking warnings.',
  }),
}

/** A ValidatingAdmissionPolicy, including its metadata. */
export type ValidatingAdmissionPolicy = ObjectOf<typeof fields>
/** The spec of a ValidatingAdmissionPolicy. */
export type ValidatingAdmissionPolicySpec = Spec

export const validatingAdmissionPolicy = defineKind({
  names: {
    group: 'admissionregistration',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    categories: ['api-extensions'],
    scope: 'Cluster',
  },
  since: '1.30',
  doc: 'CEL expressions that can reject requests. A policy takes effect only through bindings.',
  fields,
  rules: specAndStatus<ValidatingAdmissionPolicy>({
    generation: ({ spec }) => spec,
    newStatus: () => ({}),
    validate: ({ metadata, spec }) =>
      checkAnnotations(spec?.auditAnnotations ?? [], metadata.name ?? '', 'spec.auditAnnotations'),
  }),
  views: {
    columns: [
      nameColumn,
      {
        ...column(
          'Validations',
          'Number of validations.',
          ({ spec }: ValidatingAdmissionPolicy) => (spec?.validations ?? []).length,
        ),
        type: 'integer',
      },
      column(
        'ParamKind',
        "Kind of the objects that hold the policy's parameters.",
        ({ spec }: ValidatingAdmissionPolicy) =>
          spec?.paramKind === undefined ? '<unset>' : `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`,
      ),
      ageColumn,
    ],
    subresources: { status: plainStatus },
  },
})

export const validatingAdmissionPolicyV1beta1 = defineVersion(validatingAdmissionPolicy, {
  version: 'v1beta1',
  fields,
  since: '1.28',
  until: '1.34',
  optIn: true,
})
