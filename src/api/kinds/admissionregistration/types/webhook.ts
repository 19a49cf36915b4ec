/**
 * The webhooks of a configuration: what is called, for which requests, and what a failed call means. The older version
 * has other defaults and looser rules; what was stored under those stays as it is when it is written again.
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
import { labelSelector } from '../../meta/label-selector.ts'
import { ruleWithOperations } from './rule.ts'

const serviceReference = s.object(
  {
    namespace: field(1, s.string(), { zero: 'write', doc: 'The namespace of the Service.' }),
    name: field(2, s.string(), { zero: 'write', doc: 'The name of the Service.' }),
    path: field(3, s.string(), { zero: 'keep', doc: 'The path of the request; `/` if unset.' }),
    port: field(4, s.int32(), { zero: 'keep', default: 443, doc: 'The port of the Service; 443 by default.' }),
  },
  { name: 'ServiceReference', doc: 'A path of a Service.' },
)

const clientConfigFields = {
  url: field(3, s.string(), { zero: 'keep', doc: 'The URL of the webhook: https, without user, query or fragment.' }),
  service: field(1, serviceReference, { doc: 'The Service of the webhook.' }),
  caBundle: field(2, s.bytes(), { doc: "The CA bundle that verifies the webhook's certificate, as PEM." }),
}

const clientConfig = s.object(clientConfigFields, {
  name: 'WebhookClientConfig',
  doc: 'The webhook to call: a URL or a Service.',
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

/** What both sorts of webhooks have; the tag of objectSelector is another one in each. */
export function webhookFields(version: WebhookVersion, { objectSelectorTag }: { readonly objectSelectorTag: number }) {
  const { failurePolicy, matchPolicy, timeoutSeconds, unsaid } = defaults[version]
  const must = version === 'v1' ? ({ published: 'required' } as const) : {}
  const [sideEffects, versions] =
    'sideEffects' in unsaid
      ? [{ default: unsaid.sideEffects }, { default: [...unsaid.admissionReviewVersions] }]
      : [{}, {}]
  return {
    name: field(1, s.string(), { zero: 'write', doc: 'Its name, a domain of three labels or more; each has another.' }),
    clientConfig: field(2, clientConfig, { zero: 'write', published: 'required', doc: 'The webhook to call.' }),
    rules: field(3, s.list(ruleWithOperations), { doc: 'The requests that it is called for.' }),
    failurePolicy: field(4, s.oneOf('Fail', 'Ignore'), {
      zero: 'keep',
      default: failurePolicy,
      doc: 'What no answer means: Fail refuses the request, Ignore lets it pass.',
    }),
    matchPolicy: field(9, s.oneOf('Equivalent', 'Exact'), {
      zero: 'keep',
      default: matchPolicy,
      doc: 'Whether rules count for other versions of the same object too: Equivalent, or Exact.',
    }),
    namespaceSelector: field(5, labelSelector, {
      default: {},
      doc: 'The namespaces that it is called for, by labels; all by default.',
    }),
    objectSelector: field(objectSelectorTag, labelSelector, {
      default: {},
      doc: 'The objects that it is called for, by labels; all by default.',
    }),
    sideEffects: field(6, s.string(), {
      zero: 'keep',
      ...must,
      ...sideEffects,
      doc: 'Whether asking it does something: None, or NoneOnDryRun. Older ones may be Some or Unknown.',
    }),
    timeoutSeconds: field(7, s.int32(), {
      zero: 'keep',
      default: timeoutSeconds,
      doc: `How long to wait for it, from 1 to 30; ${timeoutSeconds} by default.`,
    }),
    admissionReviewVersions: field(8, s.list(s.string()), {
      zero: version === 'v1' ? 'write' : 'omit',
      ...must,
      ...versions,
      doc: 'The versions of questions that it understands; the first that the server knows is used.',
    }),
  }
}

export type Webhook = InferFields<ReturnType<typeof webhookFields>>

/** All that a webhook is held to in every version. */
export function checkWebhook(webhook: Webhook, path: FieldPath): FieldError[] {
  const { name = '', sideEffects, timeoutSeconds: seconds = 1, admissionReviewVersions: versions = [] } = webhook
  const isInTime = seconds >= 1 && seconds <= 30
  const timePath = child(path, 'timeoutSeconds')
  return [
    ...checkName(name, child(path, 'name')),
    ...checkSideEffects(sideEffects, child(path, 'sideEffects'), allSideEffects),
    ...(isInTime ? [] : [invalid(timePath, seconds, 'the timeout value must be between 1 and 30 seconds')]),
    ...checkVersions(versions, child(path, 'admissionReviewVersions')),
  ]
}

const allSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const noSideEffects = ['None', 'NoneOnDryRun']
/** The versions of questions that this server can ask. */
const knownVersions = ['v1', 'v1beta1']

/** What new webhooks are held to besides, and changed ones where those before them kept to it. */
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

/** What is not a word at all was reported before. */
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
