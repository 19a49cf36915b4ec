/**
 * Node selectors in affinities of Pods and volumes: at least one term must match. A term consists of requirements on
 * labels and on the node name, all of which must be met. A term without requirements matches nothing.
 */

/** The properties of a node against which node selectors are matched. */
export interface SelectableNode {
  readonly name: string
  label(key: string): string | undefined
}

/** A requirement on a node's label or name. */
export interface NodeRequirement {
  readonly key?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

/** A term of a node selector. A node must meet all its requirements. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[]
  readonly matchFields?: readonly NodeRequirement[]
}

/** Returns the part of a Node object that selectors use. */
export function selectableNode({
  metadata: { name = '', labels = {} },
}: {
  readonly metadata: { readonly name?: string; readonly labels?: { readonly [key: string]: string } }
}): SelectableNode {
  return { name, label: (key) => (Object.hasOwn(labels, key) ? labels[key] : undefined) }
}

/** Whether any of the terms matches the node. */
export function selectsNode(terms: readonly NodeSelectorTerm[], node: SelectableNode): boolean {
  return terms.some((term) => termSelectsNode(term, node))
}

/** Whether the term matches the node. */
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

/**
 * Parses an integer. If the string is not an integer, returns NaN, which is neither greater nor less than any number.
 */
function wholeNumber(text = ''): number {
  return /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
}
