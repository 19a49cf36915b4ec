/** Which users and groups a policy lets pods run as: a rule, and ranges of ids for those that need some. */
import { at, child, type FieldError, type FieldPath, invalid, notSupported } from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const rangeFields = {
  min: field(1, s.int64(), { zero: 'write', published: 'required', doc: 'The first id.' }),
  max: field(2, s.int64(), { zero: 'write', published: 'required', doc: 'The last id.' }),
}

const idRange = s.object(rangeFields, { name: 'IDRange', doc: 'Ids from one to another.' })

interface IdRule {
  readonly name: string
  readonly doc: string
  readonly rules: readonly string[]
  /** Whether the rule is always written; else an empty one is left out. */
  readonly written?: boolean
  /** Whether ranges must be there with rules that use them, and with no other. */
  readonly strict?: boolean
}

/** The type of such a rule. */
export function idRule({ name, doc, rules, written = false, strict = false }: IdRule) {
  const fields = {
    rule: field(1, s.string(), { zero: written ? 'write' : 'omit', doc: `One of ${rules.join(', ')}.` }),
    ranges: field(2, s.list(idRange), { doc: 'The ids that are allowed.' }),
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
