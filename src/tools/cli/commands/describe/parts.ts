/** Building blocks of descriptions: titled lines, tables, conditions and quantities. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { annotationsText, labelsText } from './fields.ts'

/** Writes one line per title, such as `Status:<tab>Running`. Omits titles whose value is undefined. */
export function lines(entries: { readonly [title: string]: string | number | boolean | undefined }, lead = ''): string {
  return Object.entries(entries)
    .filter(([, value]) => value !== undefined)
    .map(([title, value]) => `${lead}${title}:\t${value}\n`)
    .join('')
}

/**
 * Writes the start of every description: name, namespace, labels and annotations. The text `more` is inserted before
 * the labels.
 */
export function head(object: ApiObject, more = ''): string {
  const { name = '', namespace } = object.metadata
  return `${lines({ Name: name, Namespace: namespace })}${more}${labelsText(object)}${annotationsText(object)}`
}

/** Writes a table: headings, a separator line and rows, all indented. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], lead = '  '): string {
  const rules = headings.map((heading) => '-'.repeat(heading.length))
  return [headings, rules, ...rows].map((row) => `${lead}${row.join('\t')}\n`).join('')
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastHeartbeatTime?: string
  readonly lastTransitionTime?: string
}

const conditionColumns: readonly (readonly [heading: string, cell: (condition: Condition) => string | undefined])[] = [
  ['Type', ({ type }) => type],
  ['Status', ({ status }) => status],
  ['LastHeartbeatTime', ({ lastHeartbeatTime }) => lastHeartbeatTime && timeText(lastHeartbeatTime)],
  [
    'LastTransitionTime',
    ({ lastHeartbeatTime, lastTransitionTime }) => lastHeartbeatTime && timeText(lastTransitionTime),
  ],
  ['Reason', ({ reason }) => reason],
  ['Message', ({ message }) => message],
]

/** Formats conditions as a table. Omits columns that are empty for every condition. */
export function conditionsText(conditions: readonly Condition[] | undefined): string {
  if (conditions === undefined || conditions.length === 0) return ''
  const columns = conditionColumns.filter(([, cell]) => conditions.some((condition) => cell(condition)))
  const rows = conditions.map((condition) => columns.map(([, cell]) => cell(condition) ?? ''))
  return `Conditions:\n${table(
    columns.map(([heading]) => heading),
    rows,
  )}`
}

/** Writes a title such as `Limits:`, followed by one line for each resource. */
export function quantitiesText(
  title: string,
  quantities: { readonly [name: string]: string } | undefined,
  lead: string,
): string {
  const names = Object.keys(quantities ?? {}).sort(compareUtf8)
  if (names.length === 0) return ''
  return `${lead}${title}:\n${names.map((name) => `${lead}  ${name}:\t${quantities![name]}\n`).join('')}`
}

/** Formats pairs such as `a=b,c=d`. Returns `<none>` if there are none. */
export function pairsText(pairs: { readonly [key: string]: string } | undefined): string {
  const all = Object.entries(pairs ?? {}).map(([key, value]) => `${key}=${value}`)
  return all.length === 0 ? '<none>' : all.sort(compareUtf8).join(',')
}

interface LabelSelector {
  readonly matchLabels?: { readonly [key: string]: string }
  readonly matchExpressions?: readonly { key?: string; operator?: string; values?: readonly string[] }[]
}

/**
 * Formats a selector in the syntax that users write, such as `a=b,c in (d,e)`. Returns `<none>` if the selector matches
 * nothing.
 */
export function selectorText(selector: LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const all = [...labels.sort(compareUtf8), ...(selector?.matchExpressions ?? []).map(requirementText)]
  return all.length === 0 ? '<none>' : all.join(',')
}

function requirementText({
  key = '',
  operator = '',
  values = [],
}: {
  key?: string
  operator?: string
  values?: readonly string[]
}): string {
  if (operator === 'Exists') return key
  if (operator === 'DoesNotExist') return `!${key}`
  return `${key} ${operator === 'In' ? 'in' : operator === 'NotIn' ? 'notin' : operator} (${values.join(',')})`
}

/** Formats a time in readable form. Returns `<unset>` if there is no time. */
export function timeText(time: string | undefined): string {
  return time === undefined ? '<unset>' : new Date(time).toUTCString().replace('GMT', '+0000')
}

/** Returns the phase, or `Terminating` for an object that is being deleted. */
export function phaseText({ metadata }: Pick<ApiObject, 'metadata'>, phase: string | undefined): string {
  return metadata.deletionTimestamp === undefined ? (phase ?? '') : 'Terminating'
}
