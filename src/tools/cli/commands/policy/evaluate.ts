/** Evaluates the admission policies in files for requests, as the admission plugins of a server do. */

import { loadPatternEngine } from '../../../../api/cel/pattern-engine.ts'
import { ApiError } from '../../../../api/model/api-error.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { authenticatedUsers, type User } from '../../../../api/model/user.ts'
import { newestVersion } from '../../../../api/versions/emulated-version.ts'
import { defaultGatesOf } from '../../../../api/versions/feature-gates.ts'
import { type Admission, type AdmissionRequest, chain } from '../../../../apiserver/admission/admission.ts'
import { AdmissionMetrics } from '../../../../apiserver/admission/admission-metrics.ts'
import { mutatingAdmissionPolicy } from '../../../../apiserver/admission/controls/mutating-admission-policy.ts'
import { validatingAdmissionPolicy } from '../../../../apiserver/admission/controls/validating-admission-policy.ts'
import { validatingFamily } from '../../../../apiserver/admission/policy/families.ts'
import { Policies } from '../../../../apiserver/admission/policy/policies.ts'
import type { PolicyControlParts } from '../../../../apiserver/admission/policy/policy-control-parts.ts'
import { type Authorizer, allow, noOpinion, type Question } from '../../../../apiserver/authz/authorizer.ts'
import { versionForms } from '../../../../apiserver/registry/reads/object-forms.ts'
import { admittedType } from '../../../../apiserver/registry/writes/admission-request.ts'
import { TimeSlice } from '../../../../base/concurrency/time-slice.ts'
import { systemClock } from '../../../../base/time/clock.ts'
import { OfflineLookup } from './offline-lookup.ts'
import { type OfflineObject, type OfflineTypes, storedTypeOf } from './offline-types.ts'
import type { AllowedCheck, CaseUser, PolicyCase } from './test-file.ts'

export interface EvaluationResult {
  /** Message of the rejection. Undefined if the request is allowed. */
  readonly denial: string | undefined
  readonly warnings: readonly string[]
  /** The object before and after the mutating policies, in the version of the request. Undefined for deletions. */
  readonly mutation: { readonly before: ApiObject; readonly after: ApiObject } | undefined
}

export class PolicyEvaluator {
  readonly #types: OfflineTypes
  readonly #lookup: OfflineLookup
  readonly #admission: Admission
  #allowedChecks: readonly AllowedCheck[] = []

  constructor(types: OfflineTypes, objects: readonly OfflineObject[]) {
    this.#types = types
    this.#lookup = new OfflineLookup(types.vendor, objects)
    const authorizer: Authorizer = (question) =>
      this.#allowedChecks.some((check) => isCovered(question, check)) ? allow : noOpinion
    const parts: PolicyControlParts = {
      emulation: { version: newestVersion, gates: defaultGatesOf(newestVersion) },
      lookup: this.#lookup,
      authorizer,
      findParameterType: (apiVersion, kind) => {
        const type = types.find(apiVersion, kind)
        return type && { stored: storedTypeOf(type), group: type.group, namespaced: type.kind.scope === 'Namespaced' }
      },
      loadPatterns: loadPatternEngine,
      validatingPolicies: new Policies(validatingFamily, { lookup: this.#lookup, loadPatterns: loadPatternEngine }),
      metrics: new AdmissionMetrics(systemClock),
    }
    this.#admission = chain([mutatingAdmissionPolicy(parts), validatingAdmissionPolicy(parts)], types.vendor)
  }

  /**
   * Evaluates a single test case. Cases share the policies, so callers must await each result before starting the next
   * case.
   */
  async evaluate(test: PolicyCase): Promise<EvaluationResult> {
    this.#lookup.namespaceLabels = test.namespaceLabels
    this.#allowedChecks = test.allowedChecks
    const warnings: string[] = []
    const request = await this.#requestOf(test, (text) => warnings.push(text))
    try {
      const object = await this.#admission.mutate(request)
      await this.#admission.validate({ ...request, object })
      return { denial: undefined, warnings, mutation: await mutationOf(request, object) }
    } catch (error) {
      if (error instanceof ApiError) return { denial: error.message, warnings, mutation: undefined }
      throw error
    }
  }

  async #requestOf(test: PolicyCase, warn: (text: string) => void): Promise<AdmissionRequest> {
    const { operation } = test
    const created = test.object && (await this.#types.complete(test.object))
    const existing = test.oldObject && (await this.#types.complete(test.oldObject))
    const { type, object } = (created ?? existing)!
    const { name = '', generateName = '', namespace = '' } = object.metadata
    return {
      operation,
      vendor: this.#types.vendor,
      type: admittedType(type.stored ?? type),
      requested: admittedType(type),
      forms: versionForms(type),
      subresource: '',
      namespace,
      name: name || generateName,
      user: userOf(test.user),
      dryRun: false,
      options: () => ({}),
      warn,
      object: created?.object,
      oldObject: existing?.object,
    }
  }
}

async function mutationOf({ object: before, forms: { requested } }: AdmissionRequest, after: ApiObject | undefined) {
  if (before === undefined || after === undefined) return undefined
  const timeSlice = new TimeSlice()
  return {
    before: await timeSlice.run(requested.show(before)),
    after: await timeSlice.run(requested.show(after)),
  }
}

function userOf({ username = 'policy-test', uid = '', groups = [authenticatedUsers], extra = {} }: CaseUser): User {
  return { name: username, uid, groups, extra: new Map(Object.entries(extra)) }
}

/** Whether the case allows the access that the policy checks. */
function isCovered({ attributes }: Question, { path, resource, ...wanted }: AllowedCheck): boolean {
  if (!attributes.resource)
    return path === attributes.path && (wanted.verb === undefined || wanted.verb === attributes.verb)
  if (path !== undefined) return false
  const asked: { readonly [name: string]: unknown } = { ...attributes, resource: attributes.plural }
  return Object.entries({ ...wanted, resource }).every(([name, value]) => value === undefined || asked[name] === value)
}
