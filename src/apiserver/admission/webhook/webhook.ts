/**
 * A webhook from a stored configuration, compiled for matching and calling: its rules, selectors, address and circuit
 * breaker.
 */

import type { MutatingWebhookConfiguration } from '../../../api/kinds/admissionregistration/mutating-webhook-configuration.ts'
import type { MatchCondition } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import type { ValidatingWebhookConfiguration } from '../../../api/kinds/admissionregistration/validating-webhook-configuration.ts'
import { LabelMatcher, requirementsOf, type SelectorObject } from '../../../api/selectors/label-selector.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type WebhookAddress, webhookAddress } from '../../outbound/webhook-address.ts'
import { Breaker } from './breaker.ts'
import type { Rule } from './rules.ts'

export type Phase = 'mutating' | 'validating'
export type ReviewVersion = 'v1' | 'v1beta1'
/** The configuration of mutating or validating webhooks. */
export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration
type StoredWebhook = NonNullable<MutatingWebhookConfiguration['webhooks']>[number]

/** A configured webhook, compiled for matching requests and for calling it. */
export interface Webhook {
  readonly phase: Phase
  /** Name of the configuration that contains the webhook. */
  readonly configuration: string
  readonly name: string
  readonly rules: readonly Rule[]
  /** Whether rules match only requests in the versions that they name (`matchPolicy: Exact`). */
  readonly exact: boolean
  /** Compiled namespace and object selectors. Undefined selectors match everything. */
  readonly namespaceSelector: LabelMatcher | undefined
  readonly objectSelector: LabelMatcher | undefined
  readonly matchConditions: readonly MatchCondition[]
  /** Whether requests proceed if the webhook fails. */
  readonly ignoresFailures: boolean
  readonly timeoutMs: number
  /** Version of AdmissionReview to send. Undefined if the webhook and this server have no version in common. */
  readonly reviewVersion: ReviewVersion | undefined
  /** Whether the webhook may be called for dry runs. */
  readonly allowsDryRun: boolean
  /** Whether the webhook is called again if the object has changed since its last call. */
  readonly isReinvoked: boolean
  readonly address: WebhookAddress
  readonly breaker: Breaker
}

const reviewVersions: readonly string[] = ['v1', 'v1beta1'] satisfies ReviewVersion[]

/** Compiles all webhooks of a configuration. */
export function compileConfiguration(configuration: WebhookConfiguration, phase: Phase, clock: Clock): Webhook[] {
  const { metadata, webhooks = [] } = configuration
  return webhooks.map((stored) => compileWebhook(stored, { phase, configuration: metadata.name ?? '', clock }))
}

interface Place extends Pick<Webhook, 'phase' | 'configuration'> {
  readonly clock: Clock
}

function compileWebhook(stored: StoredWebhook, { phase, configuration, clock }: Place): Webhook {
  const timeoutMs = (stored.timeoutSeconds ?? 10) * 1000
  return {
    phase,
    configuration,
    name: stored.name ?? '',
    rules: stored.rules ?? [],
    exact: stored.matchPolicy === 'Exact',
    namespaceSelector: matcherOf(stored.namespaceSelector),
    objectSelector: matcherOf(stored.objectSelector),
    matchConditions: stored.matchConditions ?? [],
    ignoresFailures: stored.failurePolicy === 'Ignore',
    timeoutMs,
    reviewVersion: (stored.admissionReviewVersions ?? []).find((version): version is ReviewVersion =>
      reviewVersions.includes(version),
    ),
    allowsDryRun: stored.sideEffects === 'None' || stored.sideEffects === 'NoneOnDryRun',
    isReinvoked: stored.reinvocationPolicy === 'IfNeeded',
    address: webhookAddress(stored.clientConfig ?? {}, timeoutMs),
    breaker: new Breaker(clock),
  }
}

function matcherOf(selector: SelectorObject = {}): LabelMatcher | undefined {
  const requirements = requirementsOf(selector)
  return requirements.length === 0 ? undefined : new LabelMatcher(requirements)
}
