/**
 * Declares the API versions in which webhooks can receive an object: the version of the request and all other served
 * versions. Built-in plugins receive only the storage version.
 */

import type { JsonObject } from '../../api/json/json.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { ObjectSchema } from '../../api/schema/schema.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import type { Sliced } from '../../base/concurrency/time-slice.ts'

/** A kind, as named in admission reviews. */
export interface FormKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A resource type, as named in webhook rules and admission reviews. */
export interface FormResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** One API version in which webhooks can receive an object, with conversions from and to the storage version. */
export interface ObjectForm {
  readonly kind: FormKind
  readonly resource: FormResource
  /** Schema for merging the object. Undefined if the kind does not support merging. */
  readonly schema: ObjectSchema | undefined
  /** Converts an object from the storage version to this version. Yields to other tasks during the conversion. */
  show(object: ApiObject): Sliced<ApiObject>
  /**
   * Converts an object back to the storage version. The conversion includes decoding and defaulting. `base` is the
   * original object. Throws ApiError if the JSON is not a valid object of this version. Yields to other tasks between
   * steps.
   */
  read(json: JsonObject, base: ApiObject): Sliced<ApiObject>
}

/** The API versions in which webhooks can receive the object of a request. */
export interface ObjectForms {
  /** The version of the request. */
  readonly requested: ObjectForm
  /** All other served versions of the kind, including those in other API groups. */
  readonly others: readonly ObjectForm[]
  /** Returns the labels to compare with object selectors, or undefined if the object cannot have labels. */
  labelsOf(object: ApiObject): Labels | undefined
}
