/**
 * Compiled affinity terms of a Pod: label selectors as matchers, and namespaces as sets. Equal Pods share their terms.
 */
import type { Pod } from '../../api/kinds/core/pod.ts'
import { LabelMatcher, type Labels, requirementsOf, type SelectorObject } from '../../api/selectors/label-selector.ts'

type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>
type TermOfApi = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number]
type WeightedOfApi = NonNullable<
  NonNullable<Affinity['podAffinity']>['preferredDuringSchedulingIgnoredDuringExecution']
>[number]

/** Returns the labels of a namespace, or undefined if the namespace is unknown. */
export type NamespaceLabels = (namespace: string) => Labels

/** The properties of a Pod against which label and namespace selectors are matched. */
export interface SelectablePod {
  readonly namespace: string
  readonly labels: Labels
}

/** A compiled affinity term: the Pods that it selects, and its topology key. */
export class PodTerm {
  readonly topologyKey: string
  readonly matcher: LabelMatcher | undefined
  readonly #namespaces: ReadonlySet<string>
  readonly #namespaceMatcher: LabelMatcher | undefined

  constructor({ topologyKey = '', labelSelector, namespaces = [], namespaceSelector }: TermOfApi, own: string) {
    this.topologyKey = topologyKey
    this.matcher = matcherOf(labelSelector)
    this.#namespaceMatcher = matcherOf(namespaceSelector)
    this.#namespaces = new Set(namespaces.length === 0 && namespaceSelector === undefined ? [own] : namespaces)
  }

  /** Whether a Pod matches the term's label selector and namespaces. */
  matches({ namespace, labels }: SelectablePod, labelsOf: NamespaceLabels): boolean {
    return this.matcher?.matches(labels) === true && this.#isIn(namespace, labelsOf)
  }

  #isIn(namespace: string, labelsOf: NamespaceLabels): boolean {
    if (this.#namespaces.has(namespace)) return true
    return this.#namespaceMatcher?.matches(labelsOf(namespace)) === true
  }
}

export interface WeightedTerm {
  readonly weight: number
  readonly term: PodTerm
}

/** A Pod's affinity and anti-affinity terms, required and preferred. */
export interface PodTerms {
  readonly affinity: readonly PodTerm[]
  readonly antiAffinity: readonly PodTerm[]
  readonly preferredAffinity: readonly WeightedTerm[]
  readonly preferredAntiAffinity: readonly WeightedTerm[]
}

/** The terms of all Pods without affinity or anti-affinity. */
export const noTerms: PodTerms = {
  affinity: [],
  antiAffinity: [],
  preferredAffinity: [],
  preferredAntiAffinity: [],
}

export function termsOf({ podAffinity = {}, podAntiAffinity = {} }: Affinity, namespace: string): PodTerms {
  return {
    affinity: required(podAffinity, namespace),
    antiAffinity: required(podAntiAffinity, namespace),
    preferredAffinity: preferred(podAffinity, namespace),
    preferredAntiAffinity: preferred(podAntiAffinity, namespace),
  }
}

/** Compiles a selector. Returns undefined for a missing selector, which selects no Pods. */
export function matcherOf(selector: SelectorObject | undefined): LabelMatcher | undefined {
  return selector === undefined ? undefined : new LabelMatcher(requirementsOf(selector))
}

function required(
  { requiredDuringSchedulingIgnoredDuringExecution: terms = [] }: NonNullable<Affinity['podAffinity']>,
  namespace: string,
): PodTerm[] {
  return terms.map((term) => new PodTerm(term, namespace))
}

function preferred(
  { preferredDuringSchedulingIgnoredDuringExecution: terms = [] }: NonNullable<Affinity['podAffinity']>,
  namespace: string,
): WeightedTerm[] {
  return terms.flatMap(({ weight = 0, podAffinityTerm: term }: WeightedOfApi) =>
    term === undefined || weight === 0 ? [] : [{ weight, term: new PodTerm(term, namespace) }],
  )
}
