/**
 * Pods by selector, and objects by the pods that they select, through indexes: what a look-up costs depends on how many
 * pods share a label with the selector, not on how many there are.
 */

import type { Pod } from '../../api/kinds/core/pod.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import { type Labels, requirementsOf, type SelectorObject } from '../../api/selectors/label-selector.ts'
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { Informer, ObjectChange } from '../../client/informers/informer.ts'
import type { Index } from '../../client/informers/object-index.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import { type SelectingOwners, selectingOwners } from './workloads/selecting-owners.ts'

/** What an object selects; undefined: nothing. */
export type SelectorOf<T> = (object: T) => SelectorObject | undefined

/** Finds the pods that an object of an informer selects, and the objects that select a pod. */
export class PodSelection<T extends ObjectBase> {
  readonly #pods: Index<Pod>
  readonly #selectors: SelectingOwners<T>
  readonly #selectorOf: SelectorOf<T>

  constructor(pods: Informer<Pod>, selectors: Informer<T>, selectorOf: SelectorOf<T>) {
    this.#pods = podsByLabel(pods)
    this.#selectors = selectingOwners(selectors, selectorOf)
    this.#selectorOf = selectorOf
  }

  /** The pods of its namespace that an object selects. */
  podsOf(object: T): Pod[] {
    const selector = this.#selectorOf(object)
    if (selector === undefined) return []
    return this.#fewestPods(object.metadata.namespace, selector)
      .flatMap((place) => this.#pods.get(place))
      .filter(({ metadata }) => this.#selectors.selects(object, metadata.labels ?? {}))
  }

  /** The objects of its namespace that select a pod. */
  selecting(pod: Pod): T[] {
    return this.#selectors.of(pod)
  }

  /** Whether an object selects pods with these labels. */
  selects(object: T, labels: Labels): boolean {
    return this.#selectors.selects(object, labels)
  }

  /** The keys of the objects that select a changed pod, or did before the change. */
  keysOf({ previous, object }: ObjectChange<Pod>): Set<string> {
    const states = [previous, object].filter((pod) => pod !== undefined)
    return new Set(states.flatMap((pod) => this.selecting(pod)).map(objectKey))
  }

  /** The places in the index of pods that have all selected ones, and as few others as possible. */
  #fewestPods(namespace: string | undefined, selector: SelectorObject): string[] {
    const labelChoices = requirementsOf(selector).flatMap((each) =>
      each.op === 'in' ? [[...new Set(each.values)].map((value) => placeOf(namespace, `${each.key}=${value}`))] : [],
    )
    const choices = [[placeOf(namespace)], ...labelChoices]
    const sizes = choices.map((places) => places.reduce((sum, place) => sum + this.#pods.count(place), 0))
    return choices[sizes.indexOf(Math.min(...sizes))]!
  }
}

/** The pods of an informer by each of their labels, and by their namespace. */
const podsByLabel = memoizeByObject((pods: Informer<Pod>) =>
  pods.index(({ metadata: { namespace, labels = {} } }) => [
    placeOf(namespace),
    ...Object.entries(labels).map(([key, value]) => placeOf(namespace, `${key}=${value}`)),
  ]),
)

function placeOf(namespace: string | undefined, label = ''): string {
  return `${namespace}/${label}`
}
