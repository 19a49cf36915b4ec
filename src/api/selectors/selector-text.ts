/** Formats an object's selector in query syntax. */
import type { SelectorObject } from './label-selector.ts'

type Expression = NonNullable<SelectorObject['matchExpressions']>[number]

/**
 * Formats a selector in query syntax, for example as `a=b,c in (d,e),!f`. The requirements are sorted by key. Throws an
 * error for an unknown operator. Nothing else is validated.
 */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: SelectorObject): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  const further = matchExpressions.map((each) => ({ key: each.key ?? '', text: expressionText(each) }))
  const inOrder = [...equal, ...further].sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  return inOrder.map(({ text }) => text).join(',')
}

function expressionText({ key = '', operator = '', values = [] }: Expression): string {
  switch (operator) {
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
    case 'In':
    case 'NotIn':
      return `${key} ${operator.toLowerCase()} (${values.toSorted().join(',')})`
    default:
      throw new TypeError(`${JSON.stringify(operator)} is not a valid label selector operator`)
  }
}
