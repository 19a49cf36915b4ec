/** A MatchCondition is a CEL expression that determines whether a webhook or a policy applies to a request. */
import { field, s } from '../../../schema/schema.ts'

export const matchCondition = s.object(
  {
    name: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Name of the condition, unique within its list. The name appears in errors, metrics and audit annotations.',
    }),
    expression: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'CEL expression that must evaluate to true for the request to match.',
    }),
  },
  { name: 'MatchCondition', doc: 'A CEL condition that a request must meet.' },
)
