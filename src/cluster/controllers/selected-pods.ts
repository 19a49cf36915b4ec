/**
 * Finds pods by selector, and objects by the pods that they select. Indexes make the cost of a lookup depend on the
 * number of pods with a label from the selector, not on the total number of pods.
 */

import type { Pod } from '../../api/kinds/core/pod.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import { type Labels, requirementsOf, type SelectorObject } from '../../api/selectors/label-selector.ts'
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { Informer, ObjectChange } from '../../client/informers/informer.ts'
import type { Index } from '../../client/informers/object-index.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import { type SelectingOwners, selectingOwners } from './workloads/selecting-owners.ts'

/** Returns the selector of an object. If the selector is undefined, the object selects no pods. */
export type SelectorOf<T> = (object: T) => SelectorObject | undefined

/** Finds the pods that an object selects, and the objects that select a pod. */
export class PodSelection<T extends ObjectBase> {
  readonly #pods: Index<Pod>
  readonly #selectors: SelectingOwners<T>
  readonly #selectorOf: SelectorOf<T>

  constructor(pods: Informer<Pod>, selectors: Informer<T>, selectorOf: SelectorOf<T>) {
    this.#pods = podsByLabel(pods)
    this.#selectors = selectingOwners(selectors, selectorOf)
    this.#selectorOf = selectorOf
  }

  /** Returns the pods that an object selects in its namespace. */
  podsOf(object: T): Pod[] {
    const selector = this.#selectorOf(object)
    if (selector === undefined) return []
    return this.#smallestCandidateSet(object.metadata.namespace, selector)
      .flatMap((place) => this.#pods.get(place))
      .filter(({ metadata }) => this.#selectors.selects(object, metadata.labels ?? {}))
  }

  /** Returns the objects that select a pod in their namespace. */
  selecting(pod: Pod): T[] {
    return this.#selectors.of(pod)
  }

  /** Whether the object's selector matches these labels. */
  selects(object: T, labels: Labels): boolean {
    return this.#selectors.selects(object, labels)
  }

  /** Returns the keys of the objects that select a pod before or after its change. */
  keysOf({ previous, object }: ObjectChange<Pod>): Set<string> {
    const states = [previous, object].filter((pod) => pod !== undefined)
    return new Set(states.flatMap((pod) => this.selecting(pod)).map(objectKey))
  }

  /** Returns index keys that cover all selected pods and as few other pods as possible. */
  #smallestCandidateSet(namespace: string | undefined, selector: SelectorObject): string[] {
    const labelChoices = requirementsOf(selector).flatMap((each) =>
      each.op === 'in' ? [[...new Set(each.values)].map((value) => indexKey(namespace, `${each.key}=${value}`))] : [],
    )
    const choices = [[indexKey(namespace)], ...labelChoices]
    const sizes = choices.map((places) => places.reduce((sum, place) => sum + this.#pods.count(place), 0))
    return choices[sizes.indexOf(Math.min(...sizes))]!
  }
}

/**
 * Returns an informer's index of pods by namespace, and by namespace and label. All callers share one index per
 * informer.
 */
const podsByLabel = memoizeByObject((pods: Informer<Pod>) =>
  pods.index(({ metadata: { namespace, labels = {} } }) => [
    indexKey(namespace),
    ...Object.entries(labels).map(([key, value]) => indexKey(namespace, `${key}=${value}`)),
  ]),
)

function indexKey(namespace: string | undefined, label = ''): string {
  return `${namespace}/${label}`
}
