/**
 * Evaluates a ValidatingAdmissionPolicy for all existing objects that it matches. Each object is evaluated as if a
 * client without permissions created it again, or replaced it if the policy does not match create requests. The
 * evaluation runs in small steps with pauses and uses only about a tenth of the thread's time.
 */
import type { ApiObject } from '../../api/model/object.ts'
import { authenticatedUsers, type User } from '../../api/model/user.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { AdmissionOperation, AdmissionRequest } from '../admission/admission.ts'
import { Candidates } from '../admission/policy/candidates.ts'
import { isExempt, type ValidatingPolicy } from '../admission/policy/families.ts'
import { type InvocationParts, invocationsOf } from '../admission/policy/invocations.ts'
import { actionsFor, evaluatePolicy } from '../admission/policy/judge-request.ts'
import { formFor } from '../admission/policy/matching.ts'
import { requestData } from '../admission/policy/request-data.ts'
import { keyOf, type Resource } from '../registry/catalogue/resource.ts'
import { formsOf } from '../registry/reads/object-forms.ts'
import { readStoredSliced } from '../registry/reads/read-stored.ts'
import { admittedType } from '../registry/writes/admission-request.ts'
import { storedTypes, type VisibleTypesParts } from './visible-types.ts'

export interface LiveJudgingParts extends InvocationParts, VisibleTypesParts {
  readonly vendor: Vendor
}

/** The result of an evaluation, updated while it runs: the number of objects checked and rejected, with examples. */
export interface LiveJudgement {
  checked: number
  violating: number
  denied: number
  readonly examples: { readonly object: string; readonly message: string }[]
  isTruncated: boolean
}

export function newJudgement(): LiveJudgement {
  return { checked: 0, violating: 0, denied: 0, examples: [], isTruncated: false }
}

const maxObjects = 100_000
const maxExamples = 20
const maxMessage = 300
/** Duration of each period of work and of the pause after it, in milliseconds. */
const workMs = 10
const pauseMs = 90

/** The user who appears to send the evaluated requests. Policies can refer to this user. */
const reporter: User = { name: 'system:policy-report', uid: '', groups: [authenticatedUsers], extra: new Map() }

/** Adds the violations of all objects to `judgement`. Ends early if the signal aborts. */
export async function judgeLiveObjects(
  parts: LiveJudgingParts,
  policy: ValidatingPolicy,
  { judgement, signal }: { readonly judgement: LiveJudgement; readonly signal: AbortSignal },
): Promise<void> {
  const timeSlice = new TimeSlice()
  let began = performance.now()
  for (const resource of storedTypes(parts)) {
    const operation = operationFor(policy, resource)
    if (operation === undefined) continue
    const type = { group: resource.kind.group, plural: resource.plural }
    let candidates: Candidates<ValidatingPolicy> | undefined
    for (const name of [...parts.lookup.names(type)]) {
      if (judgement.checked >= maxObjects) {
        judgement.isTruncated = true
        return
      }
      if (performance.now() - began > workMs) {
        await pause(pauseMs, signal)
        began = performance.now()
      }
      if (signal.aborted) return
      const cached = resource.cache.get(keyOf(resource, name.namespace, name.name))
      if (cached === undefined) continue
      const object = await timeSlice.run(readStoredSliced(resource.kind, cached))
      const request = requestFor(parts, resource, { operation, object })
      if (isExempt(request)) continue
      candidates ??= new Candidates([policy], request)
      await judgeObject(parts, policy, { request, candidates, judgement, timeSlice })
    }
  }
}

function operationFor({ matcher }: ValidatingPolicy, resource: Resource): AdmissionOperation | undefined {
  const namespace = resource.kind.scope === 'Namespaced' ? 'any' : ''
  const request = { forms: formsOf(resource), subresource: '', namespace, name: '' }
  return (['CREATE', 'UPDATE'] as const).find(
    (operation) => formFor(matcher, { ...request, operation }, 'any name') !== undefined,
  )
}

interface Replayed {
  readonly operation: AdmissionOperation
  readonly object: ApiObject
}

function requestFor(
  { vendor }: LiveJudgingParts,
  resource: Resource,
  { operation, object }: Replayed,
): AdmissionRequest {
  const { name = '', namespace = '' } = object.metadata
  const type = admittedType(resource)
  return {
    operation,
    vendor,
    type,
    requested: type,
    forms: formsOf(resource),
    subresource: '',
    namespace,
    name,
    user: reporter,
    dryRun: true,
    options: () => ({}),
    warn: () => {},
    object,
    oldObject: operation === 'UPDATE' ? object : undefined,
  }
}

interface Judged {
  readonly request: AdmissionRequest
  readonly candidates: Candidates<ValidatingPolicy>
  readonly judgement: LiveJudgement
  readonly timeSlice: TimeSlice
}

async function judgeObject(
  parts: LiveJudgingParts,
  policy: ValidatingPolicy,
  { request, candidates, judgement, timeSlice }: Judged,
): Promise<void> {
  const invocations = await invocationsOf(parts, request, candidates)
  if (invocations.length === 0) return
  judgement.checked++
  let message: string | undefined
  let isDenied = false
  for (const { form, parameters, binding } of invocations) {
    const data = await requestData(request, form, { ...parts, authorizer: parts.access().authorizer })
    const { decisions } = await evaluatePolicy(policy, { data, parameters, timeSlice })
    const violations = decisions.filter(({ violation }) => violation !== undefined)
    message ??= violations[0]?.violation?.message
    isDenied ||= violations.some((decision) => actionsFor(decision, binding).includes('Deny'))
  }
  if (message === undefined) return
  judgement.violating++
  if (isDenied) judgement.denied++
  if (judgement.examples.length < maxExamples)
    judgement.examples.push({ object: describe(request), message: message.slice(0, maxMessage) })
}

function describe({ type: { plural, group }, namespace, name }: AdmissionRequest): string {
  const type = group === '' ? plural : `${plural}.${group}`
  return `${type} ${namespace === '' ? name : `${namespace}/${name}`}`
}
