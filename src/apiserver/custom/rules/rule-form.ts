/**
 * The fields of a CEL rule, and the validation of these fields. Each Kubernetes version ignores fields that later
 * versions introduced.
 */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import {
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../api/model/field-error.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'] as const
export type RuleReason = (typeof reasons)[number]

/** A CEL rule of a schema. Absent text fields are ''. */
export interface Rule {
  readonly rule: string
  readonly message: string
  /** The expression that returns the message. The expression takes precedence over `message`. */
  readonly messageExpression: string
  /** The reason for the error response, as written in the rule. The reason may be invalid. */
  readonly reason: string | undefined
  /** Path of the field to report, relative to the validated value. Empty for the value itself. */
  readonly fieldPath: string
  /** Whether a rule that uses `oldSelf` also runs on a create. Undefined if the field is not set. */
  readonly optionalOldSelf: boolean | undefined
}

/** Reads the CEL rules at one node of a schema. Ignores fields that the emulated version does not have. */
export function rulesOf(schema: JsonObject, prefix: string, { version, gates }: Emulation): Rule[] {
  const rules = schema[`${prefix}validations`]
  if (!Array.isArray(rules)) return []
  const since = (first: '1.27' | '1.28', value: Json | undefined) => (isAtLeast(version, first) ? value : undefined)
  return rules.filter(isObject).map(({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }) => ({
    rule: textOrEmpty(rule),
    message: textOrEmpty(message),
    messageExpression: textOrEmpty(since('1.27', messageExpression)),
    reason: typeof since('1.28', reason) === 'string' ? (reason as string) : undefined,
    fieldPath: textOrEmpty(since('1.28', fieldPath)),
    optionalOldSelf:
      gates.has('CRDValidationRatcheting') && typeof optionalOldSelf === 'boolean' ? optionalOldSelf : undefined,
  }))
}

function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the errors that can be found without compiling the expression. `schema` is the schema of the value. */
export function formFaults(rule: Rule, schema: JsonObject, path: FieldPath): FieldError[] {
  return [
    ...textFaults(rule, path),
    ...(rule.messageExpression !== '' && rule.messageExpression.trim() === ''
      ? [required(child(path, 'messageExpression'), 'must contain more than whitespace')]
      : []),
    ...(rule.reason !== undefined && !reasons.includes(rule.reason as RuleReason)
      ? [notSupported(child(path, 'reason'), rule.reason, reasons)]
      : []),
    ...fieldPathFaults(rule, schema, child(path, 'fieldPath')),
  ]
}

function textFaults({ rule, message, messageExpression }: Rule, path: FieldPath): FieldError[] {
  const trimmedMessage = message.trim()
  const faults = rule.trim() === '' ? [required(child(path, 'rule'), 'rule is not specified')] : []
  const atMessage = child(path, 'message')
  if (message !== '' && trimmedMessage === '')
    faults.push(invalid(atMessage, message, 'message must be non-empty if specified'))
  else if (trimmedMessage.includes('\n'))
    faults.push(invalid(atMessage, message, 'message must not contain line breaks'))
  else if (rule.trim().includes('\n') && trimmedMessage === '' && messageExpression === '')
    faults.push(required(atMessage, 'message must be specified if rule contains line breaks'))
  return faults
}

function fieldPathFaults({ fieldPath }: Rule, schema: JsonObject, path: FieldPath): FieldError[] {
  if (fieldPath === '') return []
  return [
    ...(fieldPath.trim() === '' ? [invalid(path, fieldPath, 'must contain more than whitespace')] : []),
    ...(fieldPath.includes('\n') ? [invalid(path, fieldPath, 'must not contain line breaks')] : []),
    ...(resolveFieldPath(fieldPath, schema) === undefined
      ? [invalid(path, fieldPath, 'must be the path of a field in the schema')]
      : []),
  ]
}

const step = /\.([A-Za-z_][A-Za-z0-9_-]*)|\['((?:[^'\\]|\\['\\])*)'\]/y

/**
 * Parses a path such as `.spec['a.b']` and follows it in a schema. Returns undefined if the schema has no such field,
 * or if the path leads into a list.
 */
export function resolveFieldPath(path: string, schema: JsonObject): readonly PathStep[] | undefined {
  const steps: PathStep[] = []
  let here: Json | undefined = schema
  for (step.lastIndex = 0; step.lastIndex < path.length; ) {
    const match = step.exec(path)
    if (match === null || !isObject(here)) return undefined
    const [, plain, quoted] = match
    const name = plain ?? quoted!.replaceAll(/\\(.)/g, '$1')
    const { properties, additionalProperties }: JsonObject = here
    const isKey: boolean = isObject(additionalProperties)
    here = isKey ? additionalProperties : isObject(properties) ? own(properties, name) : undefined
    if (here === undefined) return undefined
    steps.push({ name, isKey })
  }
  return steps.length === 0 ? undefined : steps
}

/** One step of a path: a field name or a map key. */
export interface PathStep {
  readonly name: string
  readonly isKey: boolean
}
