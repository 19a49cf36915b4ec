/**
 * Node selectors, as affinities of Pods and of volumes hold them: terms of which one must match, each with requirements
 * on labels and on the name of the node, which must all be met. A term without requirements matches nothing.
 */

/** What is looked at of a node. */
export interface SelectableNode {
  readonly name: string
  label(key: string): string | undefined
}

/** A requirement on a label or a field. */
export interface NodeRequirement {
  readonly key?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

/** Requirements that a node must meet, all of them. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[]
  readonly matchFields?: readonly NodeRequirement[]
}

/** What is looked at of a Node object. */
export function selectableNode({
  metadata: { name = '', labels = {} },
}: {
  readonly metadata: { readonly name?: string; readonly labels?: { readonly [key: string]: string } }
}): SelectableNode {
  return { name, label: (key) => (Object.hasOwn(labels, key) ? labels[key] : undefined) }
}

/** Whether one of the terms matches the node. */
export function selectsNode(terms: readonly NodeSelectorTerm[], node: SelectableNode): boolean {
  return terms.some((term) => termSelectsNode(term, node))
}

/** Whether this term matches the node. */
export function termSelectsNode(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: SelectableNode,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((each) => isMet(each, node.label(each.key ?? ''))) &&
    matchFields.every((each) => isMet(each, each.key === 'metadata.name' ? node.name : undefined))
  )
}

function isMet({ operator, values = [] }: NodeRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return wholeNumber(value) > wholeNumber(values[0])
    case 'Lt':
      return wholeNumber(value) < wholeNumber(values[0])
    default:
      return false
  }
}

/** NaN, which is neither above nor below anything, for what is not a whole number. */
function wholeNumber(text = ''): number {
  return /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
}
