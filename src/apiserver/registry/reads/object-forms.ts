/**
 * Builds the representations of a stored object that admission webhooks can request, such as its other API versions.
 * The representations are computed once per type.
 */

import type { JsonObject } from '../../../api/json/json.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { groupName } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { decodeStoredSliced, normalizeSliced } from '../../../api/schema/normalize.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import { type Sliced, slicedValue } from '../../../base/concurrency/time-slice.ts'
import type { ObjectForm, ObjectForms } from '../../admission/object-forms.ts'
import type { Resource } from '../catalogue/resource.ts'
import type { Served } from '../catalogue/served.ts'
import { fromStored } from './conversion.ts'

/** Returns the representations of objects that are written through this API version or view. */
export const formsOf = memoizeByObject(
  (through: Resource): ObjectForms => (through.shows === undefined ? versionForms(through) : viewForms(through)),
)

/** One API version of a kind. */
export interface Version extends Served {
  /** The storage version of the kind. Undefined for the storage version itself. */
  readonly stored: Version | undefined
}

/**
 * Returns the representations of objects that are written through one of several API versions. Webhooks can match any
 * of them.
 */
export function versionForms(through: Version & { readonly versions: readonly Version[] }): ObjectForms {
  const others = through.versions.filter((version) => version.apiVersion !== through.apiVersion)
  return {
    requested: through.kind.evolution ? customForm(through, through) : formOf(through),
    others: others.map((version) => (through.kind.evolution ? customForm(version, through) : formOf(version))),
    labelsOf: ({ metadata }) => metadata.labels ?? {},
  }
}

function formOf(version: Version): ObjectForm {
  return {
    ...namesOf(version),
    show: (object) => slicedValue(fromStored(version, object)),
    *read(json, base) {
      const { object } = yield* normalizeSliced(version, json)
      return yield* decodeStoredSliced(version, object, base)
    },
  }
}

/**
 * Returns the representation of a custom object in one API version. Admission plugins receive the object in the version
 * of the request.
 */
function customForm(version: Version, through: Version): ObjectForm {
  return {
    ...namesOf(version),
    *show(object) {
      return asObject(yield* inVersion(version, asJson(object)))
    },
    *read(json) {
      const { object } = yield* normalizeSliced(version, json)
      yield
      return (yield* normalizeSliced(through, yield* inVersion(through, asJson(object)))).object
    },
  }
}

function* inVersion({ apiVersion, kind }: Version, object: JsonObject): Sliced<JsonObject> {
  return object.apiVersion === apiVersion ? object : yield* kind.evolution!.convert(object)
}

/**
 * Returns the representations of objects that are written through a view, such as Scale. The same view exists under
 * several API versions of the parent.
 */
function viewForms(view: Resource): ObjectForms {
  const { kind, resource } = namesOf(view)
  const form = formOf(view)
  const siblings = view.versions.filter(
    (version) => version.kind.version !== resource.version && [...version.views.values()].some(isSame(view.kind)),
  )
  return {
    requested: { ...form, kind, resource },
    others: siblings.map((sibling) => ({ ...form, kind, resource: namesOf(sibling).resource })),
    labelsOf: (object) => fromStored(view, object).metadata.labels ?? {},
  }
}

function isSame({ group, kind }: Kind): (other: Resource) => boolean {
  return (other) => other.kind.group === group && other.kind.kind === kind
}

function namesOf({
  kind,
  vendor,
  group,
  plural,
  shows,
}: Version & Pick<Partial<Resource>, 'shows'>): Pick<ObjectForm, 'kind' | 'resource' | 'schema'> {
  return {
    kind: { group: groupName(vendor, kind.group), version: kind.version, kind: kind.kind },
    resource: { group, version: shows ?? kind.version, resource: plural },
    schema: kind.schema,
  }
}

/** Describes a request body that is not stored: a review, an action, or the options of a connection. */
export interface SentType {
  readonly served: Served
  /** The type of the request body. Undefined if it is the served type. */
  readonly type: Served | undefined
  /** The kind of the connection options. Undefined if the request does not open a connection. */
  readonly options: string | undefined
}

function withoutMetadata({ metadata: _, ...rest }: ApiObject): ApiObject {
  return rest as unknown as ApiObject
}

/** Returns the representations of a request body that is not stored, for admission webhooks. */
export function sentForms({ served, type, options }: SentType): ObjectForms {
  const { group, plural, vendor, kind } = served
  const sent = (type ?? served).kind
  const form: ObjectForm = {
    kind:
      options === undefined
        ? { group: groupName(vendor, sent.group), version: sent.version, kind: sent.kind }
        : { group: '', version: 'v1', kind: options },
    resource: { group, version: kind.version, resource: plural },
    schema: options === undefined ? sent.schema : undefined,
    show: (object) => slicedValue(options === undefined ? object : withoutMetadata(object)),
    *read(json) {
      if (options !== undefined) return { metadata: {}, ...json } as unknown as ApiObject
      return (yield* normalizeSliced(type ?? served, json)).object
    },
  }
  const labelsOf = ({ metadata }: ApiObject) => (options === undefined ? (metadata.labels ?? {}) : undefined)
  return { requested: form, others: [], labelsOf }
}
