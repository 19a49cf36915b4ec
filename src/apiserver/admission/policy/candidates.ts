/**
 * The policies and bindings whose rules match a type of request. They are indexed by a label that their selectors
 * require, so that policies and bindings for other namespaces or objects do not slow down a request.
 */
import type { Labels } from '../../../api/selectors/label-selector.ts'
import type { AdmissionRequest } from '../admission.ts'
import { isInNamespace } from '../webhook/select-webhooks.ts'
import { formFor, type Matcher, type SelectedLabels } from './matching.ts'

interface BoundPolicy {
  readonly matcher: Matcher
  readonly bindings: readonly { readonly matcher: Matcher }[]
}

/** A policy together with one of its bindings. The pair may apply to a request. */
export interface Candidate<P extends BoundPolicy> {
  readonly policy: P
  readonly binding: P['bindings'][number]
}

/**
 * Narrows the policies and bindings whose rules match a request to those whose selectors may match. The index uses the
 * labels that the selectors require.
 */
export class Candidates<P extends BoundPolicy> {
  /** Whether any candidate depends on the labels of the namespace. */
  readonly usesNamespace: boolean
  /** Whether any candidate depends on the labels of the object. */
  readonly usesObject: boolean
  readonly #all: Candidate<P>[] = []
  /** Positions in `#all` of the candidates that require a label value, keyed by label and value. */
  readonly #byLabel = new Map<string, number[]>()
  /** Positions in `#all` of the candidates that require no particular label. */
  readonly #unindexed: number[] = []

  /**
   * Indexes the policies and their bindings, in the given order. `request` represents all requests of the same type.
   */
  constructor(policies: readonly P[], request: AdmissionRequest) {
    const inNamespace = isInNamespace(request)
    const sources: readonly LabelSource[] = inNamespace ? ['namespace', 'object'] : ['object']
    for (const policy of policies) {
      if (formFor(policy.matcher, request, 'any name') === undefined) continue
      for (const binding of policy.bindings) {
        const { matcher } = binding
        if (matcher.rules.length > 0 && formFor(matcher, request, 'any name') === undefined) continue
        this.#index(requiredLabels(matcher, sources) ?? requiredLabels(policy.matcher, sources))
        this.#all.push({ policy, binding })
      }
    }
    const matchers = this.#all.flatMap(({ policy, binding }) => [policy.matcher, binding.matcher])
    this.usesNamespace = inNamespace && matchers.some(({ namespaceSelector }) => namespaceSelector !== undefined)
    this.usesObject = matchers.some(({ objectSelector }) => objectSelector !== undefined)
  }

  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  /** Returns the candidates that may apply to a request with these labels, in order. */
  select({ namespace, objects }: SelectedLabels): readonly Candidate<P>[] {
    if (this.#byLabel.size === 0) return this.#all
    const positions = new Set(this.#unindexed)
    const keys = [...labelKeys('namespace', namespace), ...objects.flatMap((labels) => labelKeys('object', labels))]
    for (const key of keys) for (const position of this.#byLabel.get(key) ?? []) positions.add(position)
    return [...positions].sort((a, b) => a - b).map((position) => this.#all[position]!)
  }

  /**
   * Adds the next candidate to the index. A request must have at least one of the `required` labels to match the
   * candidate.
   */
  #index(required: readonly string[] | undefined): void {
    const position = this.#all.length
    if (required === undefined) this.#unindexed.push(position)
    for (const key of required ?? []) {
      const positions = this.#byLabel.get(key)
      if (positions === undefined) this.#byLabel.set(key, [position])
      else positions.push(position)
    }
  }
}

type LabelSource = 'namespace' | 'object'

/** Maximum number of index entries per candidate. A candidate that would need more is not indexed. */
const maxEntries = 8

/**
 * Returns a set of labels. A request can match only if it has at least one of them. Returns undefined if the selectors
 * require no label, or allow too many values to index.
 */
function requiredLabels(matcher: Matcher, sources: readonly LabelSource[]): string[] | undefined {
  for (const source of sources) {
    const selector = source === 'namespace' ? matcher.namespaceSelector : matcher.objectSelector
    const choice = selector?.choice
    if (choice !== undefined && choice.values.size <= maxEntries)
      return [...choice.values].map((value) => labelKey(source, choice.key, value))
  }
  return undefined
}

function labelKeys(source: LabelSource, labels: Labels = {}): string[] {
  return Object.entries(labels).map(([name, value]) => labelKey(source, name, value))
}

function labelKey(source: LabelSource, name: string, value: string): string {
  return `${source} ${name}=${value}`
}
