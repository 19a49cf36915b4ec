/**
 * Maintains the status of ValidatingAdmissionPolicies: checks the expressions of each generation against the types of
 * the matched kinds, and reports the errors as warnings. The warnings have no effect on requests. A policy is not
 * checked again when a kind changes.
 */

import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { variablesFor } from '../../../api/cel/policy-environment.ts'
import { checkText } from '../../../api/cel/program.ts'
import { type CelType, types } from '../../../api/cel/types.ts'
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
} from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'
import { groupOf, versionOf } from '../../../api/model/api-version.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { type KindName, matchedKinds } from './matched-kinds.ts'
import { PublishedTypes } from './published-types.ts'

export interface PolicyStatusParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly policies: Informer<ValidatingAdmissionPolicy>
}

const name = 'validatingadmissionpolicy-status'

export function policyStatusLoop(parts: PolicyStatusParts): Loop {
  const checker = new PolicyChecker(parts.client, new PublishedTypes(parts.client, parts.vendor))
  return {
    name,
    sources: [fromInformer(parts.policies)],
    // Processes one policy at a time, because a document with the types of a group can be large.
    concurrency: 1,
    reconcile: (key, signal) => reconcile(parts, checker, { key, signal }),
  }
}

async function reconcile(
  { client, policies }: PolicyStatusParts,
  checker: PolicyChecker,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const object = nameOfKey(key)
  const policy = policies.get(object)
  const { generation = 0, uid } = policy?.metadata ?? {}
  if (policy === undefined || generation <= (policy.status?.observedGeneration ?? 0)) return 'done'
  const expressionWarnings = await checker.check(policy.spec ?? {}, signal)
  const status = {
    observedGeneration: generation,
    typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
  }
  // The UID prevents the status from being written to another policy with the same name.
  const written = { metadata: { name: object.name, uid: uid! }, status }
  const options = { subresource: 'status', fieldManager: name, force: true, signal } as const
  await ignoreNotFound(client.apply(policies.type, written, options))
  return 'done'
}

/** A type error in an expression, for the status of the policy. */
interface Warning {
  readonly fieldRef: string
  readonly warning: string
}

interface TypedKind {
  readonly kind: KindName
  readonly type: DeclaredType
}

class PolicyChecker {
  readonly #client: Client
  readonly #types: PublishedTypes

  constructor(client: Client, published: PublishedTypes) {
    this.#client = client
    this.#types = published
  }

  /** Returns a warning for each expression that has a type error for at least one kind. */
  async check(spec: ValidatingAdmissionPolicySpec, signal: AbortSignal): Promise<Warning[]> {
    const kinds = await this.#typedKinds(spec, signal)
    const paramsType = spec.paramKind && (await this.#types.typeOf(kindOf(spec.paramKind), signal))
    const timeSlice = new TimeSlice()
    const warnings: Warning[] = []
    for (const { fieldRef, text } of expressionsOf(spec)) {
      const faults: string[] = []
      for (const { kind, type } of kinds) {
        await timeSlice.yieldIfDue()
        const why = faultIn(text, { spec, objectType: type, paramsType })
        if (why !== undefined) faults.push(`${kind.group}/${kind.version}, Kind=${kind.kind}: ${why}\n`)
      }
      if (faults.length > 0) warnings.push({ fieldRef, warning: faults.join('\n') })
    }
    return warnings
  }

  async #typedKinds({ matchConstraints }: ValidatingAdmissionPolicySpec, signal: AbortSignal): Promise<TypedKind[]> {
    const found: TypedKind[] = []
    for (const kind of await matchedKinds(this.#client, matchConstraints?.resourceRules ?? [], signal)) {
      const type = await this.#types.typeOf(kind, signal)
      if (type !== undefined) found.push({ kind, type })
    }
    return found
  }
}

function kindOf({ apiVersion = '', kind = '' }: NonNullable<ValidatingAdmissionPolicySpec['paramKind']>): KindName {
  return { group: groupOf(apiVersion), version: versionOf(apiVersion), kind }
}

function expressionsOf({ validations = [] }: ValidatingAdmissionPolicySpec) {
  return validations.flatMap(({ expression = '', messageExpression = '' }, i) => {
    const path = `spec.validations[${i}]`
    const message = { fieldRef: `${path}.messageExpression`, text: messageExpression }
    return [{ fieldRef: `${path}.expression`, text: expression }, ...(messageExpression === '' ? [] : [message])]
  })
}

interface CheckedFor {
  readonly spec: ValidatingAdmissionPolicySpec
  readonly objectType: DeclaredType
  readonly paramsType: DeclaredType | undefined
}

/**
 * Returns the error in an expression for objects of one type. Each variable can refer to the variables declared before
 * it.
 */
function faultIn(text: string, { spec, objectType, paramsType }: CheckedFor): string | undefined {
  const variables = new Map<string, CelType>()
  const params = paramsType !== undefined
  const check = (source: string) =>
    checkText(source, { variables: variablesFor({ params, authorizer: true, variables, objectType, paramsType }) })
  for (const { name: variable = '', expression = '' } of spec.variables ?? []) {
    const checked = check(expression)
    variables.set(variable, checked.outcome === 'type' ? checked.type : types.dyn)
  }
  const checked = check(text)
  return checked.outcome === 'invalid' ? checked.why : undefined
}
