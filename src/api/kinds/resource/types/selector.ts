/** DeviceSelector: a CEL expression that selects devices by driver, attributes and capacities. */
import { check as checkTypes } from '../../../cel/checker.ts'
import { SyntaxIssue, showIssues } from '../../../cel/issues.ts'
import { parse } from '../../../cel/parser.ts'
import { type CelType, mapOf, types } from '../../../cel/types.ts'
import { child, type FieldError, type FieldPath, invalid, required, tooLong } from '../../../model/field-error.ts'
import { field, s } from '../../../schema/schema.ts'
import { maxTextBytes } from './lists.ts'

const expression = s.object(
  {
    expression: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'CEL expression that returns true for suitable devices. The variable `device` has the fields `driver`, `attributes`, `capacity` and `allowMultipleAllocations`.',
    }),
  },
  {
    name: 'CELDeviceSelector',
    doc: 'A CEL expression that selects devices.',
    check: ({ expression: text = '' }, path) => checkExpression(text, child(path, 'expression')),
  },
)

export const deviceSelector = s.object(
  { cel: field(1, expression, { doc: 'CEL expression that selects devices.' }) },
  {
    name: 'DeviceSelector',
    doc: 'Selects devices. Exactly one field must be set.',
    check: ({ cel }, path) => (cel === undefined ? [required(child(path, 'cel'))] : []),
  },
)

/** Attributes and capacities by domain and name. */
const byDomain = mapOf(types.string, mapOf(types.string, types.dyn))

const device: CelType = {
  kind: 'object',
  fields: new Map([
    ['driver', { type: types.string }],
    ['attributes', { type: byDomain }],
    ['capacity', { type: byDomain }],
    ['allowMultipleAllocations', { type: types.bool }],
  ]),
}
const variables = new Map([['device', device]])

function checkExpression(text: string, path: FieldPath): FieldError[] {
  if (Buffer.byteLength(text) > maxTextBytes) return [tooLong(path, maxTextBytes)]
  const why = compileError(text)
  return why === undefined ? [] : [invalid(path, text, why)]
}

/** Returns what is wrong with an expression. */
function compileError(text: string): string | undefined {
  try {
    const { type, issues } = checkTypes(parse(text), variables)
    if (issues.length > 0) return `compilation failed: ${showIssues(text, issues)}`
    return type.kind === 'bool' || type.kind === 'dyn' ? undefined : `must evaluate to bool, not ${type.kind}`
  } catch (error) {
    if (error instanceof SyntaxIssue) return `compilation failed: ${showIssues(text, [error.issue])}`
    throw error
  }
}
