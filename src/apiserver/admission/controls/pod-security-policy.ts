/**
 * PodSecurityPolicy: admits a pod if at least one policy allows it and the pod's author or service account has the
 * permission `use` on that policy. A policy may set defaults in the pod. Policies that change nothing are preferred. If
 * several such policies allow the pod, the first one by name is used. An annotation of the pod records the policy.
 * Updates are only validated, and any policy may allow them. The rules are in `pod-security-policy/`.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { PodSecurityPolicy } from '../../../api/kinds/policy/pod-security-policy.ts'
import { podSecurityPolicy as podSecurityPolicies } from '../../../api/kinds/policy/pod-security-policy.ts'
import { type FieldError, firstFaults, summary } from '../../../api/model/field-error.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import { serviceAccountGroups, serviceAccountName, type User } from '../../../api/model/user.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { changesOnlyGcFields } from '../gc-fields.ts'
import { type JudgedPod, type Policy, policyIn } from '../pod-security-policy/effective-settings.ts'
import { filled } from '../pod-security-policy/fill.ts'
import { faultsOf } from '../pod-security-policy/judge.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  readonly authorizer: Authorizer
}

export function podSecurityPolicy(parts: Parts): Control<Pod> {
  const key = vendorKey(parts.vendor, 'psp')
  return {
    name: 'PodSecurityPolicy',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [pods],
      subresources: ['', 'ephemeralcontainers'],
    },
    mutate: async (request) => {
      if (request.operation !== 'CREATE') return undefined
      const { storedPolicy, pod } = await choose(parts, request, 'may change')
      const annotations = { ...pod.annotations, [key]: storedPolicy.object.metadata.name! }
      const { metadata } = request.object
      return { ...request.object, metadata: { ...metadata, annotations }, spec: pod.spec }
    },
    validate: async (request) => {
      if (request.oldObject !== undefined && changesOnlyGcFields(request.object, request.oldObject)) return
      await choose(parts, request, 'must fit')
    },
  }
}

interface Choice {
  readonly storedPolicy: StoredObject<PodSecurityPolicy>
  /** The pod with the policy's defaults applied. */
  readonly pod: JudgedPod
}

/**
 * Returns the policy that admits the pod. If no cached policy admits the pod, reads the latest policies from the store
 * before rejecting the pod.
 */
async function choose(parts: Parts, request: AdmissionRequest<Pod>, may: 'may change' | 'must fit'): Promise<Choice> {
  const [choice] = await tryAll(parts, request, may)
  if (choice !== undefined) return choice
  await parts.lookup.getLatest(podSecurityPolicies, { namespace: '', name: '' })
  const [again, faults] = await tryAll(parts, request, may)
  if (again !== undefined) return again
  const verb = may === 'may change' ? 'admit' : 'validate'
  const why = faults.length === 0 ? 'no policy that the pod may use allows it' : summary(firstFaults(faults))
  throw refusal(request, `PodSecurityPolicy: unable to ${verb} pod: ${why}`)
}

async function tryAll(
  parts: Parts,
  request: AdmissionRequest<Pod>,
  may: string,
): Promise<[Choice | undefined, FieldError[]]> {
  const { vendor, lookup } = parts
  const pod: JudgedPod = { annotations: request.object.metadata.annotations ?? {}, spec: request.object.spec ?? {} }
  let changing: Choice | undefined
  const faults: FieldError[] = []
  for (const storedPolicy of byName(lookup.list(podSecurityPolicies, { namespace: undefined }))) {
    const policy = policyIn(storedPolicy.object, vendor)
    const next = filled(policy, pod)
    const broken = faultsOf(policy, next)
    const isUseless = broken.length === 0 && next !== pod && (may === 'must fit' || changing !== undefined)
    if (isUseless || !(await mayUse(parts, request, policy))) continue
    faults.push(...broken)
    if (broken.length > 0) continue
    if (next === pod) return [rested(request, { storedPolicy, pod }), []]
    changing = { storedPolicy, pod: next }
  }
  return [changing && rested(request, changing), faults]
}

function byName<T>(storedPolicy: readonly StoredObject<T>[]): StoredObject<T>[] {
  return storedPolicy.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

function rested(request: AdmissionRequest<Pod>, choice: Choice): Choice {
  request.dependOn?.(choice.storedPolicy)
  return choice
}

async function mayUse({ authorizer }: Parts, request: AdmissionRequest<Pod>, { name }: Policy): Promise<boolean> {
  const { namespace } = request
  const attributes = {
    resource: true,
    verb: 'use',
    group: 'policy',
    version: '*',
    plural: podSecurityPolicies.plural,
    subresource: '',
    namespace,
    name,
  } as const
  for (const user of [accountOf(request), request.user])
    if (user !== undefined && (await authorizer({ user, attributes })).verdict === 'allow') return true
  return false
}

function accountOf({ object, namespace }: AdmissionRequest<Pod>): User | undefined {
  const { serviceAccountName: name = '' } = object.spec ?? {}
  if (name === '') return undefined
  return {
    name: serviceAccountName(namespace, name),
    uid: '',
    groups: serviceAccountGroups(namespace),
    extra: new Map(),
  }
}
