/**
 * Representations of an object for webhooks: the version of the request and all other versions in which the object is
 * served. Built-in controls see only the storage version.
 */

import type { JsonObject } from '../../api/json/json.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { ObjectSchema } from '../../api/schema/schema.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import type { Sliced } from '../../base/concurrency/time-slice.ts'

/** A kind, as named in reviews. */
export interface FormKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A resource type, as named in rules and reviews. */
export interface FormResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** One version of a kind, with conversions in both directions. */
export interface ObjectForm {
  readonly kind: FormKind
  readonly resource: FormResource
  /** Schema of the object for merging. Undefined if a configuration cannot be merged into the object. */
  readonly schema: ObjectSchema | undefined
  /** Converts an object from the storage version to this version. Yields while the conversion is in progress. */
  show(object: ApiObject): Sliced<ApiObject>
  /**
   * Converts an object back to the storage version, which includes decoding and defaulting. `base` is the original
   * object. Throws ApiError if the JSON is not a valid object of this version. Yields between steps.
   */
  read(json: JsonObject, base: ApiObject): Sliced<ApiObject>
}

/** The versions in which webhooks may see an object. */
export interface ObjectForms {
  /** The version of the request. */
  readonly requested: ObjectForm
  /** All other versions, in any group. */
  readonly others: readonly ObjectForm[]
  /** Returns the labels for object selectors, or undefined if the object cannot have labels. */
  labelsOf(object: ApiObject): Labels | undefined
}
