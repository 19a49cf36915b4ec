/**
 * The selectors of a request, for authorizers that consider selectors (`AuthorizeWithSelectors`). Selectors that cannot
 * be parsed are ignored here. The request fails later, when the selector is used.
 */
import type { Question as ReviewQuestion } from '../../api/kinds/authorization/review.ts'
import { ApiError } from '../../api/model/api-error.ts'
import { checkLabelValue } from '../../api/model/names.ts'
import { type FieldRequirement, parseFieldSelector } from '../../api/selectors/field-selector.ts'
import { parseLabelSelector, type Requirement, requirementsOf } from '../../api/selectors/label-selector.ts'

/** The parsed requirements of a request's label and field selectors. */
export interface RequestSelectors {
  readonly fields: readonly FieldRequirement[]
  readonly labels: readonly Requirement[]
}

/** The selectors in an access review, and the errors found in them. */
export interface ReviewSelectors extends RequestSelectors {
  readonly errors: readonly string[]
}

const selectiveVerbs: readonly string[] = ['list', 'watch', 'deletecollection']

/** Returns a function that parses the selectors in a query on its first call. Returns undefined if there are none. */
export function selectorsIn(verb: string, query: URLSearchParams): (() => RequestSelectors) | undefined {
  if (!selectiveVerbs.includes(verb)) return undefined
  return parsedSelectors({
    fieldSelector: query.get('fieldSelector') ?? '',
    labelSelector: query.get('labelSelector') ?? '',
  })
}

interface SelectorTexts {
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

/** Returns a function that parses the given selectors on its first call. Returns undefined if both are empty. */
export function parsedSelectors({
  fieldSelector: fields = '',
  labelSelector: labels = '',
}: SelectorTexts): (() => RequestSelectors) | undefined {
  if (fields === '' && labels === '') return undefined
  let parsed: RequestSelectors | undefined
  return () => {
    parsed ??= {
      fields: parsedOr(() => parseFieldSelector(fields)) ?? [],
      labels: parsedOr(() => parseLabelSelector(labels)) ?? [],
    }
    return parsed
  }
}

type Attributes = NonNullable<ReviewQuestion['resourceAttributes']>

/** Reads the selectors of a validated access review. */
export function selectorsOfReview({ fieldSelector, labelSelector }: Attributes): ReviewSelectors {
  const fields = fieldSelector === undefined ? { requirements: [], isComplete: true } : readFields(fieldSelector)
  const labels = labelSelector === undefined ? { requirements: [], isComplete: true } : readLabels(labelSelector)
  return {
    fields: fields.requirements,
    labels: labels.requirements,
    errors: [...errorOf('fieldSelector', fields), ...errorOf('labelSelector', labels)],
  }
}

interface Parsed<T> {
  readonly requirements: readonly T[]
  readonly isComplete: boolean
}

function errorOf(name: string, { requirements, isComplete }: Parsed<unknown>): string[] {
  const part = requirements.length > 0 ? 'partially ignored' : 'ignored'
  return isComplete ? [] : [`spec.resourceAttributes.${name} ${part} due to parse error`]
}

function readFields({ rawSelector = '', requirements = [] }: NonNullable<Attributes['fieldSelector']>) {
  if (rawSelector !== '') return parsed(() => parseFieldSelector(rawSelector))
  return readable(requirements, ({ key = '', operator, values = [] }): FieldRequirement | undefined => {
    const [value, ...more] = values
    if ((operator !== 'In' && operator !== 'NotIn') || value === undefined || more.length > 0) return undefined
    return { path: key, equal: operator === 'In', value }
  })
}

const labelOperators: readonly (string | undefined)[] = ['In', 'NotIn', 'Exists', 'DoesNotExist']

function readLabels({ rawSelector = '', requirements = [] }: NonNullable<Attributes['labelSelector']>) {
  if (rawSelector !== '') return parsed(() => parseLabelSelector(rawSelector))
  return readable(requirements, (requirement): Requirement | undefined => {
    const isValid = (requirement.values ?? []).every((value) => checkLabelValue(value).length === 0)
    if (!labelOperators.includes(requirement.operator) || !isValid) return undefined
    return requirementsOf({ matchExpressions: [requirement] })[0]
  })
}

/** Parses requirements, and drops those that cannot be parsed. */
function readable<T, R>(all: readonly T[], read: (one: T) => R | undefined): Parsed<R> {
  const requirements = all.map(read).filter((each) => each !== undefined)
  return { requirements, isComplete: requirements.length === all.length }
}

function parsed<T>(parse: () => readonly T[]): Parsed<T> {
  const requirements = parsedOr(parse)
  return { requirements: requirements ?? [], isComplete: requirements !== undefined }
}

/** Parses a selector. Returns undefined if the selector is invalid. */
function parsedOr<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
