/**
 * The stored policies of one family, validating or mutating, with their bindings. A policy is compiled when it is first
 * used. The policies whose rules match a type of request are cached, so that unrelated policies do not slow down a
 * request. There may be thousands of policies and bindings, so the server keeps only a few heap objects for each of
 * them to reduce the garbage collector's work.
 */

import type { Compiling } from '../../../api/cel/policy-environment.ts'
import type { MatchResources } from '../../../api/kinds/admissionregistration/types/match-resources.ts'
import type { ParamRef } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import type { Lookup, StoredType } from '../../../api/model/lookup.ts'
import type { ObjectMeta } from '../../../api/model/object.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { DerivedIndex, type Source } from '../../authz/derived-index.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForms } from '../object-forms.ts'
import { Candidates } from './candidates.ts'
import { type CommonExpressions, type PolicySettings, type PolicySpec, settingsOf } from './compiled-policy.ts'
import { formFor, type Matcher, matcherOf } from './matching.ts'
import type { LoadPatterns } from './policy-faults.ts'

/** The part of the spec that bindings of both families have in common. */
export interface BindingSpec {
  policyName?: string | undefined
  paramRef?: ParamRef | undefined
  matchResources?: MatchResources | undefined
  validationActions?: readonly string[] | undefined
}

export interface Binding {
  readonly name: string
  readonly paramRef: ParamRef | undefined
  /** The actions of a validating binding. */
  readonly actions: readonly string[]
  readonly matcher: Matcher
}

/** Prepares a stored binding for matching. */
function bindingOf(name: string, { paramRef, validationActions = [], matchResources }: BindingSpec): Binding {
  return { name, paramRef, actions: shareActions(validationActions), matcher: matcherOf(matchResources) }
}

/** Action lists, keyed by the joined names of their actions. Validation allows only a few different lists. */
const actionLists = new Map<string, readonly string[]>()
const maxActionLists = 100

/** Returns an earlier list with the same actions, so that thousands of bindings share it. */
function shareActions(actions: readonly string[]): readonly string[] {
  const key = actions.join()
  const known = actionLists.get(key)
  if (known === undefined && actionLists.size < maxActionLists) actionLists.set(key, actions)
  return known ?? actions
}

export interface Policy<C extends CommonExpressions = CommonExpressions> {
  readonly name: string
  readonly settings: PolicySettings
  readonly matcher: Matcher
  /** Identifies the version of the policy and its bindings. */
  readonly state: string
  /** The bindings in evaluation order. */
  readonly bindings: readonly Binding[]
  /** Compiles the expressions of the policy on first use. Returns a promise until they are compiled. */
  compiled(): C | Promise<C>
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

export interface PolicyStoreParts {
  readonly lookup: Lookup
  readonly loadPatterns: LoadPatterns
}

/** A stored policy. Its expressions are kept as a single text until a request needs them. */
interface KnownPolicy<C extends CommonExpressions> extends Omit<Policy<C>, 'bindings' | 'compiled'> {
  /** Identifies the version of the policy without its bindings. */
  readonly state: string
  /** The spec as JSON. */
  readonly spec: string
  compiled: C | Promise<C> | undefined
}

/** The bindings that name a policy. The policy need not exist. */
interface BindingGroup {
  readonly policyName: string
  readonly bindings: Map<string, Binding>
  /** The number of the last change to a binding of the group. */
  lastChange: number
}

/** The stored policies of one family with their bindings, kept up to date and compiled on first use. */
export class Policies<S extends PolicySpec, C extends CommonExpressions> {
  readonly #family: PolicyFamily<S, C>
  readonly #loadPatterns: LoadPatterns
  readonly #index: DerivedIndex
  readonly #policies = new Map<string, KnownPolicy<C>>()
  /** The bindings by the name of their policy. */
  readonly #groups = new Map<string, BindingGroup>()
  /** The group of each binding, by the name of the binding. */
  readonly #groupOf = new Map<string, BindingGroup>()
  /** Number of changes to bindings so far. */
  #bindingChanges = 0
  #candidates = new WeakMap<ObjectForms, Map<string, Candidates<Policy<C>>>>()

  /** Starts tracking the policies. Instances must be created before the caches are loaded. */
  constructor(family: PolicyFamily<S, C>, { lookup, loadPatterns }: PolicyStoreParts) {
    this.#family = family
    this.#loadPatterns = loadPatterns
    this.#index = new DerivedIndex(lookup, [
      sourceOf(family.policies, {
        take: (name, policy) => this.#takePolicy(name, policy),
        clear: () => {
          this.#policies.clear()
          this.#forgetCandidates()
        },
      }),
      sourceOf(family.bindings, {
        take: (name, binding) => this.#takeBinding(name, binding?.spec),
        clear: () => {
          this.#groups.clear()
          this.#groupOf.clear()
          this.#forgetCandidates()
        },
      }),
    ])
  }

  /** Whether there are no policies, so that no request has candidates. */
  get isEmpty(): boolean {
    return this.#index.current() === undefined && this.#policies.size === 0
  }

  /**
   * Returns the policies and bindings whose rules match this type of request, regardless of the name of its object.
   * Returns a promise if the server must first read many policies or bindings, for example after a start.
   */
  candidates(request: AdmissionRequest): Candidates<Policy<C>> | Promise<Candidates<Policy<C>>> {
    const pending = this.#index.current()
    return pending === undefined ? this.#candidatesFor(request) : pending.then(() => this.candidates(request))
  }

  /** Returns the policy with the given name, or undefined if there is none. */
  async find(name: string): Promise<Policy<C> | undefined> {
    await this.#loaded()
    const policy = this.#policies.get(name)
    return policy && this.#withBindings(policy)
  }

  /** Returns the names of all policies with the state of each, ordered by name. */
  async states(): Promise<ReadonlyMap<string, string>> {
    await this.#loaded()
    return new Map([...this.#policies.values()].sort(byName).map((policy) => [policy.name, this.#stateOf(policy)]))
  }

  async #loaded(): Promise<void> {
    for (let pending = this.#index.current(); pending !== undefined; pending = this.#index.current()) await pending
  }

  #stateOf({ name, state }: KnownPolicy<C>): string {
    return `${state} ${this.#groups.get(name)?.lastChange}`
  }

  #candidatesFor(request: AdmissionRequest): Candidates<Policy<C>> {
    const { forms, operation, subresource, namespace } = request
    const ofForms = this.#candidates.get(forms) ?? new Map<string, Candidates<Policy<C>>>()
    const key = `${operation} ${subresource} ${namespace !== ''}`
    const cachedCandidates = ofForms.get(key)
    if (cachedCandidates !== undefined) return cachedCandidates
    const policies = [...this.#policies.values()].filter(
      ({ matcher }) => formFor(matcher, request, 'any name') !== undefined,
    )
    const candidates = new Candidates(
      policies.sort(byName).map((policy) => this.#withBindings(policy)),
      request,
    )
    this.#candidates.set(forms, ofForms.set(key, candidates))
    return candidates
  }

  #withBindings(policy: KnownPolicy<C>): Policy<C> {
    const { name, settings, matcher } = policy
    const bindings = [...(this.#groups.get(name)?.bindings.values() ?? [])].sort(byName)
    const state = this.#stateOf(policy)
    return { name, settings, matcher, state, bindings, compiled: () => (policy.compiled ??= this.#compile(policy)) }
  }

  async #compile(policy: KnownPolicy<C>): Promise<C> {
    const readPattern = await this.#loadPatterns()
    const compiled = await new TimeSlice().run(this.#family.compile(JSON.parse(policy.spec) as S, { readPattern }))
    policy.compiled = compiled
    return compiled
  }

  #takePolicy(name: string, policy: StoredPolicy<S> | undefined): void {
    const state = policy && `${policy.metadata.uid} ${policy.metadata.generation}`
    if (this.#policies.get(name)?.state === state) return
    this.#forgetCandidates()
    if (policy === undefined || state === undefined) {
      this.#policies.delete(name)
      return
    }
    const { spec = {} as S } = policy
    const matcher = matcherOf(spec.matchConstraints)
    const known = { name, state, settings: settingsOf(spec), matcher, spec: JSON.stringify(spec), compiled: undefined }
    this.#policies.set(name, known)
  }

  #takeBinding(name: string, spec: BindingSpec | undefined): void {
    this.#forgetCandidates()
    this.#removeBinding(name)
    if (spec === undefined) return
    const { policyName = '' } = spec
    const group = this.#groups.get(policyName) ?? { policyName, bindings: new Map<string, Binding>(), lastChange: 0 }
    group.bindings.set(name, bindingOf(name, spec))
    group.lastChange = ++this.#bindingChanges
    this.#groups.set(group.policyName, group)
    this.#groupOf.set(name, group)
  }

  #forgetCandidates(): void {
    this.#candidates = new WeakMap()
  }

  #removeBinding(name: string): void {
    const group = this.#groupOf.get(name)
    if (group === undefined) return
    this.#groupOf.delete(name)
    group.bindings.delete(name)
    group.lastChange = ++this.#bindingChanges
    if (group.bindings.size === 0) this.#groups.delete(group.policyName)
  }
}

interface Taking<T> {
  readonly take: (name: string, object: T | undefined) => void
  readonly clear: () => void
}

/**
 * Returns an index source for the objects of a cluster-scoped kind. The cast is safe because stored objects have the
 * type of their kind.
 */
function sourceOf<T>({ group, plural }: StoredType<T>, { take, clear }: Taking<T>): Source {
  return { type: { group, plural }, take: ({ name }, object) => take(name, object as T | undefined), clear }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareUtf8(a.name, b.name)
}
