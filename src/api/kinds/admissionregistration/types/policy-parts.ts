/** Fields and validation shared by validating admission policies, mutating admission policies and their bindings. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../model/field-error.ts'
import { checkDns1035Label, checkDnsSubdomain, checkPathSegment, checkQualifiedName } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { repeatedAt } from '../../core/types/repeated.ts'
import { labelSelector } from '../../meta/label-selector.ts'

const paramKindFields = {
  apiVersion: field(1, s.string(), { doc: 'API version of the parameter objects, such as `rules.example.com/v1`.' }),
  kind: field(2, s.string(), { doc: 'Kind of the parameter objects.' }),
}

export const paramKind = s.object(paramKindFields, {
  name: 'ParamKind',
  doc: "The kind of objects that hold a policy's parameters.",
  atomic: true,
  check: checkParamKind,
})

export type ParamKind = InferFields<typeof paramKindFields>

function checkParamKind({ apiVersion = '', kind = '' }: ParamKind, path: FieldPath): FieldError[] {
  const kindPath = child(path, 'kind')
  const mixedCase = (fault: string) => `may have mixed case, but should otherwise match: ${fault}`
  return [
    ...checkApiVersion(apiVersion, child(path, 'apiVersion')),
    ...(kind === ''
      ? [required(kindPath)]
      : checkDns1035Label(kind.toLowerCase()).map((fault) => invalid(kindPath, kind, mixedCase(fault)))),
  ]
}

function checkApiVersion(text: string, path: FieldPath): FieldError[] {
  if (text === '') return [required(path)]
  const parts = text.split('/', 3)
  if (parts.length > 2) return [invalid(path, text, `unexpected GroupVersion string: ${text}`)]
  const [group, version] = parts.length === 1 ? ['', parts[0]!] : [parts[0]!, parts[1]!]
  const faults = [...(group === '' ? [] : checkDnsSubdomain(group)), ...checkDns1035Label(version)]
  return faults.map((fault) => invalid(path, text, fault))
}

const paramRefFields = {
  name: field(1, s.string(), { doc: 'Name of the parameter object. Mutually exclusive with selector.' }),
  namespace: field(2, s.string(), {
    doc: 'Namespace of the parameter objects. Defaults to the namespace of the request.',
  }),
  selector: field(3, labelSelector, {
    doc: 'Label selector for the parameter objects. The policy is evaluated once for each selected object.',
  }),
  parameterNotFoundAction: field(4, s.string(), {
    zeroValue: 'keep',
    doc: "What to do if no parameter object exists: `Allow` skips the binding, and `Deny` applies the policy's `failurePolicy`. Required.",
  }),
}

export const paramRef = s.object(paramRefFields, {
  name: 'ParamRef',
  doc: "Refers to the objects that hold a binding's parameters.",
  atomic: true,
  check: checkParamRef,
})

export type ParamRef = InferFields<typeof paramRefFields>

const notFoundActions = ['Deny', 'Allow']

function checkParamRef({ name = '', selector, parameterNotFoundAction = '' }: ParamRef, path: FieldPath): FieldError[] {
  const actionPath = child(path, 'parameterNotFoundAction')
  const exclusive = 'name and selector are mutually exclusive'
  const namePath = child(path, 'name')
  return [
    ...(name === '' && selector === undefined ? [required(path, 'one of name or selector must be specified')] : []),
    ...(name !== '' && selector !== undefined
      ? [forbidden(namePath, exclusive), forbidden(child(path, 'selector'), exclusive)]
      : []),
    ...checkPathSegment(name).map((fault) => invalid(namePath, name, fault)),
    ...(parameterNotFoundAction === '' ? [required(actionPath)] : []),
    ...(parameterNotFoundAction !== '' && !notFoundActions.includes(parameterNotFoundAction)
      ? [notSupported(actionPath, parameterNotFoundAction, notFoundActions)]
      : []),
  ]
}

const variableFields = {
  name: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Name of the variable, which must be a CEL identifier. Other expressions refer to the variable as `variables.<name>`.',
  }),
  expression: field(2, s.string(), {
    zeroValue: 'write',
    doc: "CEL expression that returns the variable's value. The expression can use variables that are listed before this one.",
  }),
}

export const variable = s.object(variableFields, {
  name: 'Variable',
  doc: 'A named CEL expression that other expressions can use. The server evaluates it when it is first used, at most once per request.',
  atomic: true,
  check: checkVariable,
})

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const keywords = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])

function checkVariable(
  { name = '', expression = '' }: InferFields<typeof variableFields>,
  path: FieldPath,
): FieldError[] {
  const namePath = child(path, 'name')
  const isIdentifier = identifier.test(name) && !keywords.has(name)
  return [
    ...(name.trim() === '' ? [required(namePath, 'name is not specified')] : []),
    ...(name.trim() !== '' && !isIdentifier ? [invalid(namePath, name, 'must be a valid CEL identifier')] : []),
    ...(expression.trim() === '' ? [required(child(path, 'expression'), 'expression is not specified')] : []),
  ]
}

/** A named CEL expression that must be true for a policy or a webhook to apply. */
export interface MatchCondition {
  name?: string | undefined
  expression?: string | undefined
}

const maxConditions = 64

/** Validates match conditions except for their CEL expressions, which require a compiler. */
export function checkMatchConditions(conditions: readonly MatchCondition[] = [], path: FieldPath): FieldError[] {
  if (conditions.length > maxConditions) return [tooMany(path, conditions.length, maxConditions)]
  const repeated = repeatedAt(conditions.map(({ name = '' }) => name))
  return conditions.flatMap(({ name = '', expression = '' }, i) => {
    const namePath = child(at(path, i), 'name')
    return [
      ...(expression.trim() === '' ? [required(child(at(path, i), 'expression'))] : []),
      ...(name === '' ? [required(namePath)] : checkQualifiedName(name).map((fault) => invalid(namePath, name, fault))),
      ...(name !== '' && repeated.has(i) ? [duplicate(namePath, name)] : []),
    ]
  })
}

/** Validates the policy name in a binding. */
export function checkPolicyName(name: string | undefined = '', path: FieldPath): FieldError[] {
  if (name === '') return [required(path)]
  return checkDnsSubdomain(name).map((fault) => invalid(path, name, fault))
}
