/**
 * The stored policies of one family, validating or mutating, with their bindings. Each policy is compiled once per
 * change. The policies whose rules match a type of request are cached, so that unrelated policies do not slow down a
 * request.
 */

import type { Compiling } from '../../../api/cel/policy-environment.ts'
import type { MatchResources } from '../../../api/kinds/admissionregistration/types/match-resources.ts'
import type { ParamRef } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import type { Lookup, StoredType } from '../../../api/model/lookup.ts'
import type { ObjectMeta } from '../../../api/model/object.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForms } from '../object-forms.ts'
import { Candidates } from './candidates.ts'
import type { CommonExpressions, PolicySpec } from './compiled-policy.ts'
import { DerivedObjects } from './derived-objects.ts'
import { type Matcher, matcherOf } from './matching.ts'
import type { LoadPatterns } from './policy-faults.ts'

/** The part of a binding's spec that bindings of both families have in common. */
export interface BindingSpec {
  policyName?: string | undefined
  paramRef?: ParamRef | undefined
  matchResources?: MatchResources | undefined
  validationActions?: readonly string[] | undefined
}

export interface Binding {
  readonly name: string
  readonly spec: BindingSpec
  readonly matcher: Matcher
}

export interface Policy<S extends PolicySpec = PolicySpec, C extends CommonExpressions = CommonExpressions> {
  readonly name: string
  readonly spec: S
  readonly matcher: Matcher
  readonly bindings: readonly Binding[]
  /** Compiles the expressions of the policy on first use. */
  readonly compiled: () => Promise<C>
}

interface StoredPolicy<S> {
  metadata: ObjectMeta
  spec?: S | undefined
}

interface StoredBinding {
  spec?: BindingSpec | undefined
}

/**
 * The kinds of a family's policies and bindings, and the function that compiles a policy. The families are validating
 * and mutating policies.
 */
export interface PolicyFamily<S extends PolicySpec, C extends CommonExpressions> {
  readonly policies: StoredType<StoredPolicy<S>>
  readonly bindings: StoredType<StoredBinding>
  readonly compile: (spec: S, compiling: Compiling) => Generator<void, C>
}

interface KnownPolicy<S extends PolicySpec, C extends CommonExpressions> extends Omit<Policy<S, C>, 'bindings'> {
  /** Changes whenever the policy or one of its bindings changes. */
  readonly state: string
}

export interface PolicyStoreParts {
  readonly lookup: Lookup
  readonly loadPatterns: LoadPatterns
}

export class Policies<S extends PolicySpec, C extends CommonExpressions> {
  readonly #family: PolicyFamily<S, C>
  readonly #loadPatterns: LoadPatterns
  readonly #policies: DerivedObjects<StoredPolicy<S>, KnownPolicy<S, C>>
  readonly #bindings: DerivedObjects<StoredBinding, Binding>
  #bound: readonly Policy<S, C>[] = []
  #candidates = new WeakMap<ObjectForms, Map<string, Candidates<Policy<S, C>>>>()

  /** Starts tracking the policies. Instances must be created before the caches are loaded. */
  constructor(family: PolicyFamily<S, C>, { lookup, loadPatterns }: PolicyStoreParts) {
    this.#family = family
    this.#loadPatterns = loadPatterns
    this.#policies = new DerivedObjects(
      lookup,
      family.policies,
      (name, object, before: KnownPolicy<S, C> | undefined) => this.#policyOf(name, object, before),
    )
    this.#bindings = new DerivedObjects(lookup, family.bindings, (name, { spec }) =>
      spec === undefined ? undefined : { name, spec, matcher: matcherOf(spec.matchResources) },
    )
  }

  /** Returns all policies with at least one binding, ordered by name. */
  get all(): readonly Policy<S, C>[] {
    if (!this.#policies.isStored || !this.#bindings.isStored) return this.#bound
    const hasNewPolicies = this.#policies.refresh()
    if (this.#bindings.refresh() || hasNewPolicies) this.#join()
    return this.#bound
  }

  /**
   * Returns the policies and bindings whose rules match requests of this type. Resource names in the rules are compared
   * later.
   */
  candidates(request: AdmissionRequest): Candidates<Policy<S, C>> {
    const { all } = this
    const { forms, operation, subresource, namespace } = request
    const ofForms = this.#candidates.get(forms) ?? new Map<string, Candidates<Policy<S, C>>>()
    const key = `${operation} ${subresource} ${namespace !== ''}`
    const cachedCandidates = ofForms.get(key)
    if (cachedCandidates !== undefined) return cachedCandidates
    const candidates = new Candidates(all, request)
    this.#candidates.set(forms, ofForms.set(key, candidates))
    return candidates
  }

  /** Gives each policy its bindings, after either of them has changed. */
  #join(): void {
    const bindings = Map.groupBy(this.#bindings.values(), ({ spec }) => spec.policyName ?? '')
    const bound: Policy<S, C>[] = []
    for (const policy of this.#policies.values()) {
      const ofPolicy = bindings.get(policy.name)
      if (ofPolicy !== undefined)
        bound.push({ ...policy, bindings: ofPolicy.toSorted((a, b) => compareUtf8(a.name, b.name)) })
    }
    this.#bound = bound.sort((a, b) => compareUtf8(a.name, b.name))
    this.#candidates = new WeakMap()
  }

  #policyOf(
    name: string,
    { metadata, spec = {} as S }: StoredPolicy<S>,
    before: KnownPolicy<S, C> | undefined,
  ): KnownPolicy<S, C> {
    const state = `${metadata.uid} ${metadata.generation}`
    if (before?.state === state) return before
    let compiled: Promise<C> | undefined
    const compile = async () => {
      const readPattern = await this.#loadPatterns()
      return await new TimeSlice().run(this.#family.compile(spec, { readPattern }))
    }
    return { name, spec, state, matcher: matcherOf(spec.matchConstraints), compiled: () => (compiled ??= compile()) }
  }
}
