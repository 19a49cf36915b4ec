/**
 * PodSecurity: enforces the pod security standard that the namespace's labels select. Violations of the `enforce` level
 * are rejected, violations of the `warn` level cause warnings, and violations of the `audit` level are counted and
 * recorded. Violations in workload kinds with pod templates only cause warnings, because their pods are checked later.
 * The rules are in `pod-security/`.
 */

import type { Json } from '../../../api/json/json.ts'
import { namespace as namespaces } from '../../../api/kinds/core/namespace.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import { type ApiError, invalidObject } from '../../../api/model/api-error.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { minorOf } from '../../../api/versions/emulated-version.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import type { AdmissionMetrics } from '../admission-metrics.ts'
import { decideByNamespace } from '../namespace-decision.ts'
import { containersOf } from '../pod-security/check.ts'
import { type PodSecurityConfiguration, readPodSecurity, usual } from '../pod-security/configuration.ts'
import { detailsOf, violationsOf } from '../pod-security/evaluate.ts'
import { warningsOfExisting } from '../pod-security/existing-pods.ts'
import { type DescribedPod, makerTypes, podIn, templateIn } from '../pod-security/pod-specs.ts'
import {
  isAsFree,
  levelText,
  type Mode,
  type Policy,
  policyOf,
  type ReadPolicy,
  sameLevel,
} from '../pod-security/policy.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly vendor: Vendor
  readonly emulation: Pick<Emulation, 'version'>
  readonly lookup: Lookup
  readonly metrics: Pick<AdmissionMetrics, 'podSecurity'>
}

export function podSecurity(parts: Parts): Control {
  return withConfiguration(parts, usual)
}

export function configuredPodSecurity(parts: Parts, configuration: Json): Control {
  return withConfiguration(parts, readPodSecurity(configuration, parts.vendor))
}

function withConfiguration(parts: Parts, configuration: PodSecurityConfiguration): Control {
  const { evaluateNamespace, evaluatePod, evaluateWorkload } = evaluators(parts, configuration)
  const evaluatorByPlural: { readonly [plural: string]: Judge } = { namespaces: evaluateNamespace, pods: evaluatePod }
  return {
    name: 'PodSecurity',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [namespaces, pods, ...makerTypes],
      subresources: ['', 'ephemeralcontainers'],
    },
    validate: (request) => (evaluatorByPlural[request.type.plural] ?? evaluateWorkload)(request),
  }
}

type Judge = (request: AdmissionRequest) => void | Promise<void>

function evaluators({ vendor, emulation, lookup, metrics }: Parts, configuration: PodSecurityConfiguration) {
  const newestRelease = minorOf(emulation.version)
  const { defaults, exemptUsers, exemptNamespaces, exemptRuntimeClasses } = configuration
  const policies = new WeakMap<ApiObject, Policy>()
  const read = (namespace: ApiObject): ReadPolicy => policyOf(namespace.metadata.labels, defaults, vendor)
  const policyIn = (namespace: ApiObject): Policy => {
    const policy = policies.get(namespace) ?? read(namespace).policy
    policies.set(namespace, policy)
    return policy
  }
  const isExempt = ({ user, namespace }: AdmissionRequest, { spec }: DescribedPod) =>
    exemptNamespaces.has(namespace) ||
    exemptUsers.has(user.name) ||
    exemptRuntimeClasses.has(spec.runtimeClassName ?? '')
  const warnOfExisting = async ({ name, warn }: AdmissionRequest, { enforce }: Policy): Promise<void> => {
    const search = { lookup, vendor, newestRelease, namespace: name, level: enforce, exemptRuntimeClasses }
    for (const text of await warningsOfExisting(search)) warn(text)
  }
  const evaluateWith = (request: AdmissionRequest, pod: DescribedPod, refuses: 'refuses' | 'tells') => {
    if (isExempt(request, pod)) return metrics.podSecurity.exempt(request)
    return decideByNamespace(lookup, request, (namespace) =>
      judge({ request, pod, refuses: refuses === 'refuses', metrics, newestRelease, policy: policyIn(namespace) }),
    )
  }
  return {
    evaluateNamespace: (request: AdmissionRequest) => {
      const { policy, errors } = read(request.object!)
      const previous = request.oldObject && read(request.oldObject)
      if (errors.length > 0 && !sameFaults(errors, previous?.errors)) throw invalidLabels(request, errors)
      if (previous === undefined || !isStricter(policy, previous.policy)) return undefined
      return exemptNamespaces.has(request.name) ? undefined : warnOfExisting(request, policy)
    },
    evaluatePod: (request: AdmissionRequest) => {
      const pod = podIn(request.object!)
      if (request.oldObject !== undefined && !isSignificant(pod, podIn(request.oldObject))) return undefined
      return evaluateWith(request, pod, 'refuses')
    },
    evaluateWorkload: (request: AdmissionRequest) => {
      const pod = request.subresource === '' ? templateIn(request.type.plural, request.object!) : undefined
      return pod && evaluateWith(request, pod, 'tells')
    },
  }
}

/** Whether an update leaves a namespace's invalid labels unchanged. Such an update is not rejected. */
function sameFaults(errors: ReadPolicy['errors'], before: ReadPolicy['errors'] = []): boolean {
  return (
    errors.length === before.length &&
    errors.every(({ path, text }, i) => path === before[i]!.path && text === before[i]!.text)
  )
}

function invalidLabels({ type, name }: AdmissionRequest, errors: ReadPolicy['errors']): ApiError {
  return invalidObject(type, name, errors)
}

function isStricter({ enforce }: Policy, { enforce: before }: Policy): boolean {
  if (sameLevel(enforce, before) || enforce.level === 'privileged') return false
  return enforce.version !== before.version || !isAsFree(enforce, before)
}

/** Whether an update changes anything that the checks inspect: images, containers or profile annotations. */
function isSignificant(next: DescribedPod, previous: DescribedPod): boolean {
  return significantFields(next) !== significantFields(previous)
}

const profiles = /^(?:container\.)?(?:seccomp|apparmor)\.security\.(?:alpha|beta)\./

function significantFields({ spec, annotations }: DescribedPod): string {
  const profileKeys = Object.keys(annotations).filter((key) => profiles.test(key))
  return JSON.stringify([
    containersOf(spec).map(({ name, image }) => [name, image]),
    profileKeys.sort().map((key) => [key, annotations[key]]),
  ])
}

interface Judgement {
  readonly request: AdmissionRequest
  readonly pod: DescribedPod
  readonly policy: Policy
  /** Whether violations of the `enforce` level reject the request. If false, they only cause warnings. */
  readonly refuses: boolean
  readonly metrics: Parts['metrics']
  readonly newestRelease: number
}

function judge({ request, pod, policy, refuses, metrics, newestRelease }: Judgement): void {
  const checkedPod = { ...pod, vendor: request.vendor, newestRelease }
  const brokenOf = (mode: Mode): string => detailsOf(violationsOf(policy[mode], checkedPod))
  const broken = refuses ? brokenOf('enforce') : ''
  const { audit, vendor } = request
  if (refuses) audit?.annotate(vendorKey(vendor, 'enforce-policy', 'pod-security'), levelText(policy.enforce))
  if (refuses) metrics.podSecurity.judged(request, { mode: 'enforce', level: policy.enforce, allowed: broken === '' })
  const audited = brokenOf('audit')
  if (audited !== '') {
    metrics.podSecurity.judged(request, { mode: 'audit', level: policy.audit, allowed: false })
    const text = `would violate PodSecurity ${quoted(policy, 'audit')}: ${audited}`
    audit?.annotate(vendorKey(vendor, 'audit-violations', 'pod-security'), text)
  }
  if (broken !== '') throw refusal(request, `violates PodSecurity ${quoted(policy, 'enforce')}: ${broken}`)
  const warned = brokenOf('warn')
  if (warned === '') return
  metrics.podSecurity.judged(request, { mode: 'warn', level: policy.warn, allowed: false })
  request.warn(`would violate PodSecurity ${quoted(policy, 'warn')}: ${warned}`)
}

function quoted(policy: Policy, mode: Mode): string {
  return JSON.stringify(levelText(policy[mode]))
}
