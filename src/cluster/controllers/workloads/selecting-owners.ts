/**
 * Finds the owners of a namespace whose selector selects an object. Owners are found by one label that their selector
 * requires, so that it costs what the object has labels, not how many owners there are.
 */

import type { ObjectBase } from '../../../api/model/object.ts'
import {
  LabelMatcher,
  type Labels,
  requirementsOf,
  type SelectorObject,
} from '../../../api/selectors/label-selector.ts'
import type { Informer } from '../../../client/informers/informer.ts'

export interface SelectingOwners<O> {
  /** The owners in the namespace of the object that select it. */
  of(object: ObjectBase): O[]
  /** Whether the selector of this owner selects the labels. */
  selects(owner: O, labels: Labels): boolean
}

/** The owners of an informer by what they select; an owner without a selector selects nothing. */
export function selectingOwners<O extends ObjectBase>(
  informer: Informer<O>,
  selectorOf: (owner: O) => SelectorObject | undefined,
): SelectingOwners<O> {
  const matchers = new WeakMap<O, LabelMatcher>()
  const matcherOf = (owner: O): LabelMatcher | undefined => {
    const selector = selectorOf(owner)
    if (selector === undefined) return undefined
    const matcher = matchers.get(owner) ?? new LabelMatcher(requirementsOf(selector))
    matchers.set(owner, matcher)
    return matcher
  }
  const selects = (owner: O, labels: Labels) => matcherOf(owner)?.matches(labels) ?? false
  const index = informer.index((owner) => {
    const matcher = matcherOf(owner)
    if (matcher === undefined) return []
    const { choice } = matcher
    const { namespace } = owner.metadata
    return choice === undefined ? [`${namespace}`] : [...choice.values].map((v) => `${namespace} ${choice.key}=${v}`)
  })
  return {
    selects,
    of: ({ metadata: { namespace, labels = {} } }) => {
      const found = Object.entries(labels).flatMap(([key, value]) => index.get(`${namespace} ${key}=${value}`))
      return [...found, ...index.get(`${namespace}`)].filter((owner) => selects(owner, labels))
    },
  }
}
