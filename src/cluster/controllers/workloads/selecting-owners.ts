/**
 * Finds the owners in a namespace whose selector matches an object. Each owner is indexed by one label that its
 * selector requires. The cost of a lookup therefore depends on the number of labels on the object, not on the number of
 * owners.
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
  /** Returns the owners in the object's namespace that select it. */
  of(object: ObjectBase): O[]
  /** Whether the selector of this owner matches the labels. */
  selects(owner: O, labels: Labels): boolean
}

/** Indexes the owners of an informer by selector. An owner without a selector selects no objects. */
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
      const candidates = Object.entries(labels).flatMap(([key, value]) => index.get(`${namespace} ${key}=${value}`))
      return [...candidates, ...index.get(`${namespace}`)].filter((owner) => selects(owner, labels))
    },
  }
}
