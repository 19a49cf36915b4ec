/**
 * The stored policies with their bindings, compiled once per change. The policies whose rules match a type of request
 * are cached, so that unrelated policies cost a request nothing.
 */
import {
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicySpec,
  validatingAdmissionPolicy,
} from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBinding,
} from '../../../api/kinds/admissionregistration/validating-admission-policy-binding.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForms } from '../object-forms.ts'
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts'
import { formFor, type Matcher, matcherOf } from './matching.ts'
import type { LoadPatterns } from './policy-faults.ts'

export interface Binding {
  readonly name: string
  readonly spec: NonNullable<ValidatingAdmissionPolicyBinding['spec']>
  readonly matcher: Matcher
}

export interface Policy {
  readonly name: string
  readonly spec: ValidatingAdmissionPolicySpec
  readonly matcher: Matcher
  readonly bindings: readonly Binding[]
  /** Compiles the expressions on first use. */
  readonly compiled: () => Promise<CompiledPolicy>
}

interface KnownPolicy extends Omit<Policy, 'bindings'> {
  /** Identifies the stored state. */
  readonly state: string
}

const none: readonly Policy[] = []

export class Policies {
  readonly #lookup: Lookup
  readonly #loadPatterns: LoadPatterns
  readonly #isStored: boolean
  #known = new Map<string, KnownPolicy>()
  #policies: readonly Policy[] = none
  #candidates = new WeakMap<ObjectForms, Map<string, readonly Policy[]>>()
  #isOutdated = true

  /** Create it before the caches are loaded. */
  constructor(lookup: Lookup, loadPatterns: LoadPatterns) {
    this.#lookup = lookup
    this.#loadPatterns = loadPatterns
    const outdate = () => {
      this.#isOutdated = true
    }
    const follower = { changed: outdate, reset: outdate }
    const hasPolicies = lookup.follow(validatingAdmissionPolicy, follower)
    this.#isStored = lookup.follow(validatingAdmissionPolicyBinding, follower) && hasPolicies
  }

  /** All policies with at least one binding. */
  get all(): readonly Policy[] {
    if (this.#isOutdated) this.#refresh()
    return this.#policies
  }

  /** Returns the policies whose rules match this type of request, whatever the name of its object. */
  candidates(request: AdmissionRequest): readonly Policy[] {
    const { all } = this
    if (all.length === 0) return none
    const { forms, operation, subresource, namespace } = request
    const ofForms = this.#candidates.get(forms) ?? new Map<string, readonly Policy[]>()
    const key = `${operation} ${subresource} ${namespace !== ''}`
    const known = ofForms.get(key)
    if (known !== undefined) return known
    const found = all.filter(({ matcher }) => formFor(matcher, request, 'any name') !== undefined)
    this.#candidates.set(forms, ofForms.set(key, found))
    return found
  }

  #refresh(): void {
    this.#isOutdated = false
    if (!this.#isStored) return
    const bindings = new Map<string, Binding[]>()
    for (const [{ name }, { spec }] of this.#lookup.readAllUncached(validatingAdmissionPolicyBinding)) {
      if (spec === undefined) continue
      const ofPolicy = bindings.get(spec.policyName ?? '') ?? []
      ofPolicy.push({ name, spec, matcher: matcherOf(spec.matchResources) })
      bindings.set(spec.policyName ?? '', ofPolicy)
    }
    const stored = [...this.#lookup.readAllUncached(validatingAdmissionPolicy)]
    this.#known = new Map(stored.map(([{ name }, policy]) => [name, this.#policyOf(name, policy)]))
    const bound = [...this.#known.values()].flatMap((policy) => {
      const ofPolicy = bindings.get(policy.name)
      return ofPolicy === undefined ? [] : [{ ...policy, bindings: ofPolicy }]
    })
    this.#policies = bound.sort((a, b) => compareUtf8(a.name, b.name))
    this.#candidates = new WeakMap()
  }

  #policyOf(name: string, { metadata, spec = {} }: ValidatingAdmissionPolicy): KnownPolicy {
    const state = `${metadata.uid} ${metadata.generation}`
    const known = this.#known.get(name)
    if (known?.state === state) return known
    let compiled: Promise<CompiledPolicy> | undefined
    const compile = async () => {
      const readPattern = await this.#loadPatterns()
      return await new TimeSlice().run(compilePolicy(spec, { readPattern }))
    }
    return { name, spec, state, matcher: matcherOf(spec.matchConstraints), compiled: () => (compiled ??= compile()) }
  }
}
