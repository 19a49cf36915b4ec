/**
 * The webhooks of a configuration: the address to call, the requests that match, and the failure policy. v1beta1 has
 * different defaults and looser validation. An update may keep violations that already exist in the stored object.
 */

import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDns1035Label, checkDnsSubdomain } from '../../../model/names.ts'
import { checkWebhookService, checkWebhookUrl } from '../../../model/webhook-address.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { repeatedAt } from '../../core/types/repeated.ts'
import { byName } from '../../list-keys.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { matchCondition } from './match-condition.ts'
import { checkMatchConditions } from './policy-parts.ts'
import { ruleWithOperations } from './rule.ts'

const serviceReference = s.object(
  {
    namespace: field(1, s.string(), { zeroValue: 'write', doc: 'Namespace of the Service.' }),
    name: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the Service.' }),
    path: field(3, s.string(), { zeroValue: 'keep', doc: 'URL path to request from the Service. Defaults to `/`.' }),
    port: field(4, s.int32(), {
      zeroValue: 'keep',
      default: 443,
      doc: 'Port of the Service, from 1 to 65535. Defaults to 443.',
    }),
  },
  { name: 'ServiceReference', doc: 'Reference to a Service, with the port and URL path to call.' },
)

const clientConfigFields = {
  url: field(3, s.string(), {
    zeroValue: 'keep',
    doc: 'HTTPS URL of the webhook. Must not contain credentials, a query or a fragment.',
  }),
  service: field(1, serviceReference, { doc: 'Service that runs the webhook, if it runs in the cluster.' }),
  caBundle: field(2, s.bytes(), {
    doc: "PEM bundle of CA certificates for verifying the webhook's certificate. Defaults to the system's trusted CAs.",
  }),
}

const clientConfig = s.object(clientConfigFields, {
  name: 'WebhookClientConfig',
  doc: 'Address of a webhook: either a URL or a Service.',
  check: checkClientConfig,
})

export type WebhookVersion = 'v1' | 'v1beta1'

const defaults = {
  v1: { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10, unsaid: {} },
  v1beta1: {
    failurePolicy: 'Ignore',
    matchPolicy: 'Exact',
    timeoutSeconds: 30,
    unsaid: { sideEffects: 'Unknown', admissionReviewVersions: ['v1beta1'] },
  },
} as const

/** Protobuf field numbers that differ between mutating and validating webhooks. */
export interface WebhookTags {
  readonly objectSelector: number
  readonly matchConditions: number
}

/** Returns the fields of a webhook. Mutating and validating webhooks differ only in some Protobuf tags. */
export function webhookFields(version: WebhookVersion, tags: WebhookTags) {
  const { failurePolicy, matchPolicy, timeoutSeconds, unsaid } = defaults[version]
  const must = version === 'v1' ? ({ published: 'required' } as const) : {}
  const [sideEffects, versions] =
    'sideEffects' in unsaid
      ? [{ default: unsaid.sideEffects }, { default: [...unsaid.admissionReviewVersions] }]
      : [{}, {}]
  return {
    name: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Unique name of the webhook. Must be a domain name with at least three labels.',
    }),
    clientConfig: field(2, clientConfig, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Address of the webhook, and the CA bundle for verifying its certificate.',
    }),
    rules: field(3, s.list(ruleWithOperations), {
      doc: 'Rules that select the requests to send to the webhook. A request must match at least one of them.',
    }),
    failurePolicy: field(4, s.oneOf('Fail', 'Ignore'), {
      zeroValue: 'keep',
      default: failurePolicy,
      doc: `What to do if the webhook call fails: Fail rejects the request, and Ignore admits it. Defaults to ${failurePolicy}.`,
    }),
    matchPolicy: field(9, s.oneOf('Equivalent', 'Exact'), {
      zeroValue: 'keep',
      default: matchPolicy,
      doc: `How rules match API versions: Exact matches only the versions that a rule lists, and Equivalent also matches requests for the same resource through another group or version. Defaults to ${matchPolicy}.`,
    }),
    namespaceSelector: field(5, labelSelector, {
      default: {},
      doc: 'Selects requests by the labels of their namespace. By default, requests in all namespaces match.',
    }),
    objectSelector: field(tags.objectSelector, labelSelector, {
      default: {},
      doc: 'Selects requests by the labels of the object. By default, all objects match.',
    }),
    sideEffects: field(6, s.string(), {
      zeroValue: 'keep',
      ...must,
      ...sideEffects,
      doc: 'Side effects of calling the webhook: `None`, or `NoneOnDryRun` if only dry-run requests have no side effects. Only v1beta1 also accepts `Some` and `Unknown`.',
    }),
    timeoutSeconds: field(7, s.int32(), {
      zeroValue: 'keep',
      default: timeoutSeconds,
      doc: `Number of seconds to wait for the webhook to respond, from 1 to 30. Defaults to ${timeoutSeconds}.`,
    }),
    admissionReviewVersions: field(8, s.list(s.string()), {
      zeroValue: version === 'v1' ? 'write' : 'omit',
      ...must,
      ...versions,
      doc: 'AdmissionReview versions that the webhook accepts, in order of preference. The server uses the first version that it supports.',
    }),
    matchConditions: matchConditionsOf(tags),
  }
}

function matchConditionsOf({ matchConditions }: WebhookTags) {
  return field(matchConditions, s.list(matchCondition, byName), {
    since: '1.27',
    gate: 'AdmissionWebhookMatchConditions',
    doc: 'Additional CEL conditions that a request must meet to be sent to the webhook. At most 64 conditions.',
  })
}

export type Webhook = InferFields<ReturnType<typeof webhookFields>>

/** Validates a webhook with the rules that apply to every version. */
export function checkWebhook(webhook: Webhook, path: FieldPath): FieldError[] {
  const { name = '', sideEffects, timeoutSeconds: seconds = 1, admissionReviewVersions: versions = [] } = webhook
  const isInTime = seconds >= 1 && seconds <= 30
  const timePath = child(path, 'timeoutSeconds')
  return [
    ...checkName(name, child(path, 'name')),
    ...checkSideEffects(sideEffects, child(path, 'sideEffects'), allSideEffects),
    ...(isInTime ? [] : [invalid(timePath, seconds, 'the timeout value must be between 1 and 30 seconds')]),
    ...checkVersions(versions, child(path, 'admissionReviewVersions')),
    ...checkMatchConditions(webhook.matchConditions, child(path, 'matchConditions')),
  ]
}

const allSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const noSideEffects = ['None', 'NoneOnDryRun']
/** AdmissionReview versions that this server can send. */
const knownVersions = ['v1', 'v1beta1']

/**
 * Validates webhooks with the stricter rules for new webhooks. An update ignores each rule that the stored webhooks
 * already violate. v1beta1 allows side effects and duplicate names.
 */
export function checkNewWebhooks(
  webhooks: readonly Webhook[],
  previous: readonly Webhook[],
  { through }: RuleContext,
): FieldError[] {
  const isOlder = through === 'admissionregistration/v1beta1'
  return [
    ...(isOlder || previous.some(hasSideEffects) ? [] : checkNoSideEffects(webhooks)),
    ...(isOlder || repeatedAt(namesOf(previous)).size > 0 ? [] : checkDifferentNames(webhooks)),
    ...(previous.some(isNotUnderstood) ? [] : checkUnderstood(webhooks)),
  ]
}

function checkName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)]
  const faults = checkDnsSubdomain(name)
  const isShort = faults.length === 0 && name.split('.', 3).length < 3
  const short = isShort ? ['should be a domain with at least three segments separated by dots'] : []
  return [...faults, ...short].map((fault) => invalid(path, name, fault))
}

function checkSideEffects(value: string | undefined, path: FieldPath, allowed: readonly string[]): FieldError[] {
  if (value === undefined) return [required(path, `must specify one of ${noSideEffects.join(', ')}`)]
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)]
}

function checkVersions(versions: readonly string[], path: FieldPath): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${knownVersions.join(', ')}`)]
  const repeated = repeatedAt(versions)
  return versions.flatMap((version, i) => {
    const faults = repeated.has(i) ? ['duplicate version'] : checkDns1035Label(version)
    return faults.map((fault) => invalid(at(path, i), version, fault))
  })
}

function hasSideEffects({ sideEffects = '' }: Webhook): boolean {
  return !noSideEffects.includes(sideEffects)
}

/**
 * Rejects webhooks with side effects. Unknown values of `sideEffects` are ignored, because `checkSideEffects` already
 * reports them.
 */
function checkNoSideEffects(webhooks: readonly Webhook[]): FieldError[] {
  return webhooks.flatMap(({ sideEffects = '' }, i) =>
    allSideEffects.includes(sideEffects)
      ? checkSideEffects(sideEffects, child(at('webhooks', i), 'sideEffects'), noSideEffects)
      : [],
  )
}

function namesOf(webhooks: readonly Webhook[]): (string | undefined)[] {
  return webhooks.map(({ name }) => name || undefined)
}

function checkDifferentNames(webhooks: readonly Webhook[]): FieldError[] {
  const names = namesOf(webhooks)
  return [...repeatedAt(names)].map((i) => duplicate(child(at('webhooks', i), 'name'), names[i]!))
}

function isNotUnderstood({ admissionReviewVersions: versions = [] }: Webhook): boolean {
  return !versions.some((version) => knownVersions.includes(version))
}

function checkUnderstood(webhooks: readonly Webhook[]): FieldError[] {
  const text = `must include at least one of ${knownVersions.join(', ')}`
  return webhooks.flatMap((webhook, i) => {
    const { admissionReviewVersions: versions = [] } = webhook
    const path = child(at('webhooks', i), 'admissionReviewVersions')
    return versions.length > 0 && isNotUnderstood(webhook) ? [invalid(path, versions, text)] : []
  })
}

function checkClientConfig({ url, service }: InferFields<typeof clientConfigFields>, path: FieldPath): FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [required(path, 'exactly one of url or service is required')]
  if (url !== undefined) return checkWebhookUrl(url, child(path, 'url'))
  return checkWebhookService(service ?? {}, child(path, 'service'))
}
