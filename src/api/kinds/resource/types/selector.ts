/**
 * A DeviceSelector is a CEL expression that selects devices by driver, attributes and capacities. The API server
 * compiles the expressions (`device-selectors.ts` in `apiserver/admission/policy`).
 */
import { child, required, tooLong } from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { maxTextBytes } from './lists.ts'

/** Maximum length of an expression. Longer expressions are not compiled. */
export const maxExpressionBytes = maxTextBytes

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
    check: ({ expression: text = '' }, path) =>
      Buffer.byteLength(text) > maxExpressionBytes ? [tooLong(child(path, 'expression'), maxExpressionBytes)] : [],
  },
)

const selectorFields = { cel: field(1, expression, { doc: 'CEL expression that selects devices.' }) }

export type DeviceSelector = InferFields<typeof selectorFields>

export const deviceSelector = s.object(selectorFields, {
  name: 'DeviceSelector',
  doc: 'Selects devices. Exactly one field must be set.',
  check: ({ cel }, path) => (cel === undefined ? [required(child(path, 'cel'))] : []),
})
