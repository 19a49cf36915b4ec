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

/** A policy and one of its bindings. */
export interface Candidate<P extends BoundPolicy> {
  readonly policy: P
  readonly binding: P['bindings'][number]
}

/** The candidates for one type of request, in evaluation order. */
export class Candidates<P extends BoundPolicy> {
  /** Whether the selection depends on the labels of the namespace. */
  readonly usesNamespace: boolean
  /** Whether the selection depends on the labels of the object. */
  readonly usesObject: boolean
  readonly #all: Candidate<P>[] = []
  /** Positions of the candidates that require certain values of a label, by label and value. */
  readonly #byLabel = new Map<string, number[]>()
  /** Positions of all other candidates. */
  readonly #unindexed: number[] = []

  /** Orders the candidates like `policies` and their bindings. `request` represents all requests of its type. */
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

  /** Returns the candidates whose selectors may match the labels, in order. */
  select({ namespace, objects }: SelectedLabels): readonly Candidate<P>[] {
    if (this.#byLabel.size === 0) return this.#all
    const positions = new Set(this.#unindexed)
    const keys = [...labelKeys('namespace', namespace), ...objects.flatMap((labels) => labelKeys('object', labels))]
    for (const key of keys) for (const position of this.#byLabel.get(key) ?? []) positions.add(position)
    return [...positions].sort((a, b) => a - b).map((position) => this.#all[position]!)
  }

  /** Adds the next candidate to the index. `required` contains the labels of which a request must have one. */
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

/** Maximum number of entries in the index for one candidate. */
const maxEntries = 8

/**
 * Returns the labels of which a request must have one in order to match the selectors. Returns undefined if there is no
 * such requirement, or if it allows too many values for the index.
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
