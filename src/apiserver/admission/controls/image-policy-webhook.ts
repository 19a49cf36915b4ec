/**
 * ImagePolicyWebhook: sends an ImageReview to a backend, which decides whether a pod may use its images. The plugin
 * caches decisions for a configured time. The configuration also determines whether pods are admitted while the backend
 * does not respond.
 */
import { setTimeout } from 'node:timers/promises'
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import { tooManyRequests } from '../../../api/model/api-error.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import { readFields } from '../../../api/schema/read-configuration.ts'
import { field, s } from '../../../api/schema/schema.ts'
import { TtlCache } from '../../../base/collections/ttl-cache.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { errorFields, type Log } from '../../../base/telemetry/log.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { NoFreeConnection } from '../../../wire/http/https-json.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

/** An HTTPS backend described by a kubeconfig file. */
export interface RemoteService {
  /**
   * Sends a request and returns the response. Throws an error if the backend does not respond or the response is
   * unreadable.
   */
  post(body: JsonObject): Promise<Json>
}

export interface ImagePolicyParts {
  readonly vendor: Vendor
  readonly clock: Clock
  readonly log: Log
  /** Whether an API version is enabled by `--runtime-config`. */
  readonly isEnabled: (group: string, version: string) => boolean
  /** Creates a client for the backend that a kubeconfig file describes. Throws an error if the file is invalid. */
  readonly openService: (file: string) => Promise<RemoteService>
}

const fields = {
  imagePolicy: field(
    1,
    s.object({
      kubeConfigFile: field(1, s.string(), { required: true, doc: 'Kubeconfig file for the backend.' }),
      allowTTL: field(2, s.int32(), { doc: 'Number of seconds to cache an approval; -1 disables caching.' }),
      denyTTL: field(3, s.int32(), { doc: 'Number of seconds to cache a denial; -1 disables caching.' }),
      retryBackoff: field(4, s.int32(), { doc: 'Milliseconds to wait before the first retry of a failed call.' }),
      defaultAllow: field(5, s.boolean(), { doc: 'Whether pods are admitted while the backend does not respond.' }),
    }),
    { required: true, doc: 'Settings for the image policy backend.' },
  ),
}

export function imagePolicyWebhook(): Control<Pod> {
  throw new UsageError(
    'ImagePolicyWebhook requires a configuration: set it in the file specified by --admission-control-config-file',
  )
}

interface Policy extends ImagePolicyParts {
  readonly service: RemoteService
  readonly allowMs: number
  readonly denyMs: number
  readonly retryMs: number
  readonly defaultAllow: boolean
}

export async function configuredImagePolicyWebhook(parts: ImagePolicyParts, value: Json): Promise<Control<Pod>> {
  const { vendor, clock } = parts
  const { imagePolicy = {} } = readFields(value, { vendor, fields })
  const { kubeConfigFile = '', allowTTL, denyTTL, retryBackoff, defaultAllow = false } = imagePolicy
  if (!parts.isEnabled('imagepolicy', 'v1alpha1'))
    throw new Error(`add --runtime-config=${apiVersionOf(vendor, 'imagepolicy', 'v1alpha1')}=true, which it needs`)
  const policy: Policy = {
    ...parts,
    service: await parts.openService(kubeConfigFile),
    allowMs: duration('allowTTL', allowTTL, { unitMs: 1000, usual: 300, max: 1800 }),
    denyMs: duration('denyTTL', denyTTL, { unitMs: 1000, usual: 30, max: 1800 }),
    retryMs: duration('retryBackoff', retryBackoff, { unitMs: 1, usual: 500, max: 300_000 }),
    defaultAllow,
  }
  const verdicts = new TtlCache<Verdict>(clock)
  return {
    name: 'ImagePolicyWebhook',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [pods],
      subresources: ['', 'ephemeralcontainers'],
    },
    validate: (request) => judge(policy, verdicts, request),
  }
}

interface Range {
  readonly unitMs: number
  readonly usual: number
  readonly max: number
}

/**
 * Reads a duration from the configuration. The default applies if the value is 0 or undefined. The value -1 disables
 * the feature.
 */
function duration(name: string, value = 0, { unitMs, usual, max }: Range): number {
  if (value === 0) return usual * unitMs
  if (value === -1) return 0
  if (value < 1 || value > max) throw new Error(`imagePolicy.${name} must be from 1 to ${max}, or -1`)
  return value * unitMs
}

interface Verdict {
  readonly allowed: boolean
  readonly reason: string
}

const maxTries = 5
const maxRetryMs = 5000

async function judge(policy: Policy, verdicts: TtlCache<Verdict>, request: AdmissionRequest<Pod>): Promise<void> {
  const spec = specOf(request)
  let verdict: Verdict
  try {
    verdict = await verdicts.get(JSON.stringify(spec), async () => {
      const value = await ask(policy, spec)
      return { value, ttlMs: value.allowed ? policy.allowMs : policy.denyMs }
    })
  } catch (error) {
    // Reject the pod if the server has too few free connections. The backend has not failed, so the default for an
    // unreachable backend does not apply.
    if (error instanceof NoFreeConnection)
      throw tooManyRequests('too many calls to the image policy backend are in progress')
    const why = messageOf(error)
    if (!policy.defaultAllow) throw refusal(request, `cannot reach the image policy backend: ${why}`)
    policy.log.warn('image policy backend unavailable; admitted pod by default', errorFields(error))
    request.warn('cannot reach the image policy backend; the pod was admitted by default')
    return
  }
  if (verdict.allowed) return
  throw refusal(
    request,
    verdict.reason === ''
      ? 'one or more images rejected by webhook backend'
      : `image policy webhook backend denied one or more images: ${verdict.reason}`,
  )
}

/** Retries a failed call a few times, unless the call has already taken too long. */
async function ask(policy: Policy, spec: JsonObject): Promise<Verdict> {
  const giveUpAt = policy.clock.monotonic() + maxRetryMs
  const apiVersion = apiVersionOf(policy.vendor, 'imagepolicy', 'v1alpha1')
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await policy.service.post({ apiVersion, kind: 'ImageReview', metadata: {}, spec })
      return verdictOf(answer)
    } catch (error) {
      const wait = policy.retryMs * 1.5 ** (attempt - 1)
      if (error instanceof NoFreeConnection || attempt === maxTries || policy.clock.monotonic() + wait > giveUpAt)
        throw error
      await setTimeout(wait)
    }
  }
}

const maxReason = 1000

/** Reads the status of an ImageReview response. If the response has no status, the images are rejected. */
function verdictOf(answer: Json): Verdict {
  const status = isObject(answer) ? own(answer, 'status') : undefined
  if (!isObject(status)) return { allowed: false, reason: '' }
  const reason = own(status, 'reason')
  return {
    allowed: own(status, 'allowed') === true,
    reason: typeof reason === 'string' ? reason.slice(0, maxReason) : '',
  }
}

/**
 * Builds the ImageReview spec from the pod's containers and from the pod annotations that are intended for the backend.
 */
function specOf({ object, subresource, namespace, vendor }: AdmissionRequest<Pod>): JsonObject {
  const { spec = {}, metadata } = object
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec
  const checkedContainers = subresource === '' ? [...containers, ...initContainers] : ephemeralContainers
  const mark = `.image-policy.${vendor.groupDomain}/`
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(mark))
  return {
    containers: checkedContainers.map(({ image = '' }) => ({ image })),
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    namespace,
  }
}
