/** Parts that several descriptions have: conditions, quantities by name, tables. */
import { compareUtf8 } from '../../../base/utf8-order.ts'
import type { ApiObject } from '../../../model/object.ts'
import { annotationsText, labelsText } from './fields.ts'

/** Name, namespace, labels and annotations, as every description begins. */
export function head(object: ApiObject): string {
  const { name = '', namespace } = object.metadata
  const place = namespace === undefined ? '' : `Namespace:\t${namespace}\n`
  return `Name:\t${name}\n${place}${labelsText(object)}${annotationsText(object)}`
}

/** Rows below their headings, with a line between, each a step to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const rules = headings.map((heading) => '-'.repeat(heading.length))
  return [headings, rules, ...rows].map((row) => `  ${row.join('\t')}\n`).join('')
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
}

export function conditionsText(conditions: readonly Condition[] | undefined): string {
  if (conditions === undefined || conditions.length === 0) return ''
  const rows = conditions.map(({ type = '', status = '', reason = '', message = '' }) => [
    type,
    status,
    reason,
    message,
  ])
  return `Conditions:\n${table(['Type', 'Status', 'Reason', 'Message'], rows)}`
}

/** `Limits:` and below it a line for each resource. */
export function quantitiesText(
  title: string,
  quantities: { readonly [name: string]: string } | undefined,
  lead: string,
): string {
  const names = Object.keys(quantities ?? {}).sort(compareUtf8)
  if (names.length === 0) return ''
  return `${lead}${title}:\n${names.map((name) => `${lead}  ${name}:\t${quantities![name]}\n`).join('')}`
}

/** `a=b,c=d`, or `<none>`. */
export function pairsText(pairs: { readonly [key: string]: string } | undefined): string {
  const all = Object.entries(pairs ?? {}).map(([key, value]) => `${key}=${value}`)
  return all.length === 0 ? '<none>' : all.sort(compareUtf8).join(',')
}

/** A moment as people write it, or `<unset>`. */
export function timeText(time: string | undefined): string {
  return time === undefined ? '<unset>' : new Date(time).toUTCString().replace('GMT', '+0000')
}
