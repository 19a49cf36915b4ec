/** Restrictions on user and group IDs. A restriction consists of a rule and, if the rule needs them, ID ranges. */
import { at, child, type FieldError, type FieldPath, invalid, notSupported } from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const rangeFields = {
  min: field(1, s.int64(), { zeroValue: 'write', published: 'required', doc: 'First ID of the range.' }),
  max: field(2, s.int64(), { zeroValue: 'write', published: 'required', doc: 'Last ID of the range.' }),
}

const idRange = s.object(rangeFields, { name: 'IDRange', doc: 'An inclusive range of IDs.' })

interface IdRule {
  readonly name: string
  readonly doc: string
  readonly rules: readonly string[]
  /** Whether to encode the rule even if it is empty. */
  readonly written?: boolean
  /** Whether to require ranges for rules that use them, and to reject ranges for all other rules. */
  readonly strict?: boolean
}

/** Returns the type of an ID restriction with the given rules. */
export function idRule({ name, doc, rules, written = false, strict = false }: IdRule) {
  const fields = {
    rule: field(1, s.string(), {
      zeroValue: written ? 'write' : 'omit',
      doc: `Rule for the IDs: one of ${rules.map((each) => `\`${each}\``).join(', ')}.`,
    }),
    ranges: field(2, s.list(idRange), { doc: 'Ranges of allowed IDs.' }),
  }
  return s.object(fields, {
    name,
    doc,
    check: ({ rule = '', ranges = [] }, path) => [
      ...(rules.includes(rule) ? [] : [notSupported(child(path, 'rule'), rule, rules)]),
      ...(strict && rules.includes(rule) ? checkUsed(rule, ranges, child(path, 'ranges')) : []),
      ...ranges.flatMap((range, i) => checkRange(range, at(child(path, 'ranges'), i))),
    ],
  })
}

type Range = InferFields<typeof rangeFields>

function checkUsed(rule: string, ranges: readonly Range[], path: FieldPath): FieldError[] {
  if (rule === 'RunAsAny') return ranges.length === 0 ? [] : [invalid(path, ranges, 'must be empty')]
  return ranges.length > 0 ? [] : [invalid(path, [], 'must provide at least one range')]
}

function checkRange({ min = 0, max = 0 }: Range, path: FieldPath): FieldError[] {
  return [
    ...(min < 0 ? [invalid(child(path, 'min'), min, 'min cannot be negative')] : []),
    ...(max < 0 ? [invalid(child(path, 'max'), max, 'max cannot be negative')] : []),
    ...(min > max ? [invalid(child(path, 'min'), min, 'min cannot be greater than max')] : []),
  ]
}
