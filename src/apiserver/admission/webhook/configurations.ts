/**
 * The webhooks of one phase from the stored configurations, ordered by configuration name, then by index. A changed
 * configuration is compiled once, by the next request. Unchanged configurations keep their webhooks and the state of
 * their circuit breakers. The webhooks whose rules match a type of request are also cached, so that unrelated
 * configurations do not slow down requests.
 */

import { mutatingWebhookConfiguration as mutatingWebhookConfigurations } from '../../../api/kinds/admissionregistration/mutating-webhook-configuration.ts'
import { validatingWebhookConfiguration as validatingWebhookConfigurations } from '../../../api/kinds/admissionregistration/validating-webhook-configuration.ts'
import type { Lookup, StoredType } from '../../../api/model/lookup.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { AdmissionOperation } from '../admission.ts'
import type { ObjectForm, ObjectForms } from '../object-forms.ts'
import { ruleMatches } from './rules.ts'
import { compileConfiguration, type Phase, type Webhook, type WebhookConfiguration } from './webhook.ts'

/** A webhook whose rules match a request, and the API version in which the webhook receives the object. */
export interface Candidate {
  readonly webhook: Webhook
  readonly form: ObjectForm
}

/** The attributes that are compared with rules. Requests with the same attributes share a cached result. */
export interface RequestType {
  readonly operation: AdmissionOperation
  readonly forms: ObjectForms
  readonly subresource: string
  readonly namespaced: boolean
}

interface Compiled {
  /** Identifies the configuration's state, and changes with it. */
  readonly state: string
  readonly webhooks: readonly Webhook[]
}

const none: readonly Candidate[] = []

export class WebhookConfigurations {
  readonly phase: Phase
  readonly #lookup: Lookup
  readonly #clock: Clock
  readonly #type: StoredType<WebhookConfiguration>
  readonly #isStored: boolean
  #compiled = new Map<string, Compiled>()
  #webhooks: readonly Webhook[] = []
  #candidates = new WeakMap<ObjectForms, Map<string, readonly Candidate[]>>()
  #isOutdated = true

  /** Starts tracking the configurations. Instances must be created before the caches are loaded. */
  constructor(phase: Phase, lookup: Lookup, clock: Clock) {
    this.phase = phase
    this.#lookup = lookup
    this.#clock = clock
    this.#type = phase === 'mutating' ? mutatingWebhookConfigurations : validatingWebhookConfigurations
    const outdate = () => {
      this.#isOutdated = true
    }
    this.#isStored = lookup.follow(this.#type, { changed: outdate, reset: outdate })
  }

  /** Returns all webhooks that are currently cached. */
  get webhooks(): readonly Webhook[] {
    if (this.#isOutdated) this.#bringUp()
    return this.#webhooks
  }

  /** Returns the webhooks whose rules match this type of request, in calling order. */
  candidates(type: RequestType): readonly Candidate[] {
    const { webhooks } = this
    if (webhooks.length === 0) return none
    const { forms, operation, subresource } = type
    const ofForms = this.#candidates.get(forms) ?? new Map<string, readonly Candidate[]>()
    const key = `${operation} ${subresource}`
    const cachedCandidates = ofForms.get(key)
    if (cachedCandidates !== undefined) return cachedCandidates
    const candidates = webhooks.flatMap((webhook) => candidateOf(webhook, type) ?? [])
    this.#candidates.set(forms, ofForms.set(key, candidates))
    return candidates
  }

  #bringUp(): void {
    this.#isOutdated = false
    if (!this.#isStored) return
    const before = this.#compiled
    const stored = [...this.#lookup.readAllUncached(this.#type)].map(([, object]) => object)
    stored.sort((a, b) => compareUtf8(a.metadata.name ?? '', b.metadata.name ?? ''))
    this.#compiled = new Map(stored.map((object) => [object.metadata.name ?? '', this.#compile(object, before)]))
    this.#webhooks = [...this.#compiled.values()].flatMap(({ webhooks }) => webhooks)
    this.#candidates = new WeakMap()
  }

  /**
   * Reuses the compiled webhooks while the generation is unchanged. Changes to metadata do not affect webhooks and do
   * not increment the generation.
   */
  #compile(object: WebhookConfiguration, before: ReadonlyMap<string, Compiled>): Compiled {
    const { name = '', uid, generation } = object.metadata
    const state = `${uid} ${generation}`
    const previousConfiguration = before.get(name)
    return previousConfiguration?.state === state
      ? previousConfiguration
      : { state, webhooks: compileConfiguration(object, this.phase, this.#clock) }
  }
}

/**
 * Returns the version of the object that the webhook receives: the version of the request if a rule names it, and
 * otherwise the first other version that a rule names.
 */
export function candidateOf(webhook: Webhook, type: RequestType): Candidate | undefined {
  const { forms } = type
  const matches = ({ resource }: ObjectForm) => webhook.rules.some((rule) => ruleMatches(rule, { ...type, resource }))
  if (matches(forms.requested)) return { webhook, form: forms.requested }
  if (webhook.exact) return undefined
  for (const rule of webhook.rules) {
    const form = forms.others.find(({ resource }) => ruleMatches(rule, { ...type, resource }))
    if (form !== undefined) return { webhook, form }
  }
  return undefined
}
