/** A MatchResources object selects the requests to which a policy or binding applies. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkPathSegment } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { repeatedAt } from '../../core/types/repeated.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { checkRule, ruleFields } from './rule.ts'

const namedRuleFields = {
  resourceNames: field(1, s.list(s.string()), {
    doc: 'Names of the objects to match. If empty, objects match regardless of their names.',
  }),
  ...ruleFields(2),
}

const namedRule = s.object(namedRuleFields, {
  name: 'NamedRuleWithOperations',
  doc: 'A rule that matches requests by operation, resource and object name.',
  atomic: true,
  check: (rule, path) => [...checkRule(rule, path), ...checkNames(rule.resourceNames, child(path, 'resourceNames'))],
})

export type NamedRule = InferFields<typeof namedRuleFields>

function checkNames(names: readonly string[] = [], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(names)
  return names.flatMap((name, i) =>
    repeated.has(i)
      ? [duplicate(at(path, i), name)]
      : checkPathSegment(name).map((fault) => invalid(at(path, i), name, fault)),
  )
}

const fields = {
  namespaceSelector: field(1, labelSelector, {
    default: {},
    doc: 'Selects requests by the labels of their namespace. By default, requests in all namespaces match.',
  }),
  objectSelector: field(2, labelSelector, {
    default: {},
    doc: 'Selects requests by the labels of the object. A match with either the old or the new object is enough. By default, all objects match.',
  }),
  resourceRules: field(3, s.list(namedRule), {
    doc: 'Rules that select requests. A request must match at least one of them.',
  }),
  excludeResourceRules: field(4, s.list(namedRule), {
    doc: 'Rules that exclude requests. They take precedence over `resourceRules`.',
  }),
  matchPolicy: field(7, s.oneOf('Equivalent', 'Exact'), {
    zeroValue: 'keep',
    default: 'Equivalent',
    doc: 'How rules match API versions: `Exact` matches only the versions that a rule lists, and `Equivalent` also matches requests for the same resource through another group or version. Defaults to `Equivalent`.',
  }),
}

export const matchResources = s.object(fields, {
  name: 'MatchResources',
  doc: 'Selects the requests to which a policy applies.',
  atomic: true,
})

export type MatchResources = InferFields<typeof fields>

/** Validates the match constraints of a policy or a binding. Only the constraints of a policy must name resources. */
export function checkConstraints(constraints: MatchResources | undefined, path: FieldPath): FieldError[] {
  if (constraints === undefined) return [required(path)]
  return (constraints.resourceRules ?? []).length === 0 ? [required(child(path, 'resourceRules'))] : []
}

const mutableOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/** Rejects rules of a mutating policy that match deletions. */
export function checkNoDeletions({ resourceRules = [] }: MatchResources = {}, path: FieldPath): FieldError[] {
  const operations = resourceRules.flatMap(({ operations = [] }) => operations)
  return operations
    .filter((operation) => !mutableOperations.includes(operation))
    .map((operation) => notSupported(child(path, 'resourceRules.operations'), operation, mutableOperations))
}
