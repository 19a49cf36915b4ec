/**
 * The forms in which an object can be shown to those outside of this program: the version that the client asked for, and
 * all others that the same object is served in. Controls of this program see the stored version alone.
 */

import type { JsonObject } from '../../api/json/json.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import type { Steps } from '../../base/concurrency/time-slice.ts'

/** A kind, as reviews name it. */
export interface FormKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A resource type, as rules and reviews name it. */
export interface FormResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** One version of a kind, and how objects are written in it and read back. */
export interface ObjectForm {
  readonly kind: FormKind
  readonly resource: FormResource
  /** An object as controls see it, in this form. Yields where it has to wait. */
  show(object: ApiObject): Steps<ApiObject>
  /**
   * The way back: decoded and defaulted, in the form that controls see. `base` is what it was made from. Throws ApiError
   * where it is not an object of this form. Yields where it can be interrupted.
   */
  read(json: JsonObject, base: ApiObject): Steps<ApiObject>
}

/** The versions in which a webhook may be shown an object. */
export interface ObjectForms {
  /** What the client asked for. */
  readonly requested: ObjectForm
  /** The same object in other versions, in whichever group. */
  readonly others: readonly ObjectForm[]
  /** The labels that selectors look at; undefined where such objects cannot have any. */
  labelsOf(object: ApiObject): Labels | undefined
}
