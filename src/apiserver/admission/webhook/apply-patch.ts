/**
 * Applies the patch of a mutating webhook. The patched object is decoded and defaulted as if a client had sent it. An
 * invalid patch is an internal error regardless of the failure policy, as in kube-apiserver, because the webhook
 * responded and intended a change.
 */

import { parseSliced } from '../../../api/codec/json.ts'
import { isObject, type Json, sameJson } from '../../../api/json/json.ts'
import { jsonPatchSliced, operationsSliced } from '../../../api/merge/json-patch.ts'
import { ExpensivePatch } from '../../../api/merge/patch-faults.ts'
import { ApiError, internalError } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { CallError } from '../../../wire/http/client/call-error.ts'
import { assertFewValuesSliced } from '../../outbound/json-effort.ts'
import type { AdmissionRequest } from '../admission.ts'
import { keepNames, OtherNamespace } from '../keep-names.ts'
import type { ObjectForm } from '../object-forms.ts'
import { unchangeable } from './denial.ts'
import { shownObject } from './review.ts'
import type { Webhook } from './webhook.ts'

export interface Patched {
  readonly request: AdmissionRequest
  readonly webhook: Webhook
  readonly form: ObjectForm
  /** Whether the webhook's timeout has passed. */
  readonly isLate: () => boolean
}

/** Returns the changed object, or undefined if the patch changes nothing. */
export async function applyPatch(patched: Patched, patch: Buffer | undefined): Promise<ApiObject | undefined> {
  if (patch === undefined) return undefined
  const { request, webhook, form } = patched
  const { object } = request
  const timeSlice = new TimeSlice()
  try {
    await timeSlice.run(assertFewValuesSliced(patch))
    const { value } = await timeSlice.run(parseSliced(patch))
    await timeSlice.yieldIfDue()
    const operations = await timeSlice.run(operationsSliced(value))
    if (operations.length === 0) return undefined
    if (object === undefined) throw unchangeable(webhook)
    await timeSlice.yieldIfDue()
    const inTime = <T>(steps: Sliced<T>) => timeSlice.run(timed(steps, patched.isLate))
    const shown = await inTime(shownObject(request, form, object))
    const result = await inTime(jsonPatchSliced(asJson(shown), operations))
    const next = keepNames(request, object, await inTime(readResultSliced(form, result, object)))
    return sameJson(asJson(next), asJson(object)) ? undefined : next
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason === 'InternalError') throw error
    if (error instanceof OtherNamespace) throw error
    // A webhook must not keep the server busy, so a patch that takes too long counts as a failure of the webhook.
    if (error instanceof ExpensivePatch || error.code === 413)
      throw new CallError('answer', `its patch is too expensive to apply: ${error.message}`)
    throw internalError(
      `cannot apply the patch from admission webhook ${JSON.stringify(webhook.name)}: ${error.message}`,
    )
  }
}

/**
 * Runs the steps that apply a patch. If the webhook's timeout passes, throws the error for a webhook that does not
 * respond.
 */
function* timed<T>(steps: Sliced<T>, isLate: () => boolean): Sliced<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (isLate()) throw new CallError('timeout', 'applying its patch took longer than its timeout')
    yield step.value
  }
}

function* readResultSliced(form: ObjectForm, result: Json, base: ApiObject): Sliced<ApiObject> {
  const { group, version, kind } = form.kind
  const apiVersion = group === '' ? version : `${group}/${version}`
  if (!isObject(result) || result.apiVersion !== apiVersion || result.kind !== kind)
    throw internalError(`a webhook must not change the kind or version of a ${kind} in ${apiVersion}`)
  return yield* form.read(result, base)
}
