/**
 * What a kind is: its names, its fields and its rules, in one value that is written once in `kinds/`.
 * Everything a kind does beyond its schema is one of the optional functions below; a kind without them is plain data.
 */
import type { FieldError, FieldPath } from '../model/field-error.ts'
import { defined } from '../model/json.ts'
import { checkDnsSubdomain, type NameCheck } from '../model/names.ts'
import type { ApiObject, ObjectMeta } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Verb } from '../model/verb.ts'
import type { Column } from './columns.ts'
import type { PrepareContext, RuleContext } from './context.ts'
import { objectMeta } from './object-meta.ts'
import { type Fields, field, type InferFields, type ObjectSchema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

export type Scope = 'Namespaced' | 'Cluster'

/** The type of the objects of a kind with these fields. */
export type ObjectOf<F extends Fields> = { apiVersion: string; kind: string; metadata: ObjectMeta } & InferFields<F>

export interface KindDefinition<T> {
  /** The short id of the group: `core`, `storage`, ... */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** What the kind is for, in a sentence or two. */
  readonly doc: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: Scope
  /** The form of names; a DNS subdomain unless said otherwise. */
  readonly name?: NameCheck
  /** Its values are not told in messages. */
  readonly confidential?: boolean
  /** What a delete answers with; a Status unless said otherwise. */
  readonly deleteAnswers?: 'object' | 'status'
  /** Its objects tell of a moment: each goes by itself some time after it was last written (`--event-ttl`). */
  readonly expires?: boolean
  /** What becomes of the objects it owns where a deletion does not say: they are kept, not deleted after it. */
  readonly orphansByDefault?: boolean
  /** Its objects never own others: however a deletion is asked for, there is nobody to orphan or to wait for. */
  readonly ownsNothing?: boolean
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate?: boolean
  /** A PUT must name the version that it is based on. */
  readonly needsVersion?: boolean
  /** Whether patches may be strategic merges; true unless said otherwise. */
  readonly strategicPatch?: boolean
  /** Its users are warned, and told what to use instead. */
  readonly deprecated?: Deprecation
  /** What can be asked of it; everything unless said otherwise. */
  readonly verbs?: readonly Verb[]
  /** Its objects are not stored: an endpoint in `resources/` answers. */
  readonly virtual?: boolean
  /** Subresources that are views of the object itself, each with the fields it may change. */
  readonly subresources?: { readonly [name: string]: Subresource<T> }
  /** Fields, by path, that writes to the main resource cannot set: they are neither changed nor owned. */
  readonly readOnly?: readonly string[]
  /** Defaults that depend on other fields or on the vendor. Changes the object, which is freshly decoded. */
  readonly fillDefaults?: (object: T, context: RuleContext) => void
  /** Sets what the server decides on creation. Changes the object. */
  readonly prepareForCreate?: (object: T, context: PrepareContext) => void
  /** Restores what an update may not touch. Changes `next`. */
  readonly prepareForUpdate?: (next: T, previous: T, context: PrepareContext) => void
  readonly validate?: (object: T, context: RuleContext) => FieldError[]
  /** Rules for new objects alone: what is stored is not judged by them again. */
  readonly validateCreate?: (object: T, context: RuleContext) => FieldError[]
  readonly validateUpdate?: (next: T, previous: T, context: RuleContext) => FieldError[]
  /** What the writer of a valid object should know; `previous` is undefined for a new one. */
  readonly warnings?: (object: T, previous: T | undefined, context: RuleContext) => string[]
  /** What a table shows of an object; name and creation time unless said otherwise. */
  readonly columns?: readonly Column<T>[]
  /** Values that field selectors may ask for, beside metadata.name and metadata.namespace. */
  readonly selectable?: (object: T) => { [path: FieldPath]: string }
  /**
   * For kinds that are stopped before they are gone: how many seconds a deletion waits for that. `requested` is what the
   * client asks for, if it does. Others are gone at once.
   */
  readonly gracePeriod?: (object: T, requested: number | undefined) => number
  /** Whether deletion must wait although no finalizer is left in the metadata. */
  readonly holdsDeletion?: (object: T) => boolean
  /** What else changes when a deletion begins. Changes `next`, which is marked as being deleted. */
  readonly beginDeletion?: (next: T, previous: T, context: PrepareContext) => void
}

export interface Deprecation {
  /** The API level since which it is deprecated: `v1.22`. */
  readonly since: string
  /** The API level from which it may be gone. */
  readonly until: string
  /** What to use instead: the short id of the group, the version and the kind. */
  readonly instead?: { readonly group: string; readonly version: string; readonly kind: string }
}

export interface Subresource<T> {
  readonly verbs: readonly ('get' | 'update' | 'patch')[]
  /** Keeps of `next` only what this subresource may change. Changes `next`. */
  readonly prepareForUpdate: (next: T, previous: T, context: PrepareContext) => void
  /** Fields, by path, that writes through this subresource cannot set. */
  readonly readOnly: readonly string[]
  /** Where it shows the object as one of another kind, such as Scale. */
  readonly as?: ShownAs<T>
}

/** How an object is shown as one of another kind, as ReplicationController is as Scale. */
export interface ShownAs<T> {
  readonly kind: Kind
  readonly read: (object: T) => ApiObject
  /** Writes what was sent into the object. Changes `object`. */
  readonly write: (sent: ApiObject, object: T) => void
}

/** A kind as the rest of the server sees it: rules on any object, every choice made. */
export interface Kind
  extends Required<Pick<KindDefinition<ApiObject>, 'group' | 'version' | 'kind' | 'plural' | 'scope' | 'name'>>,
    Omit<KindDefinition<ApiObject>, 'group' | 'version' | 'kind' | 'plural' | 'scope' | 'name'> {
  readonly schema: ObjectSchema
  /** What field selectors call the fields of this version, and what the stored version calls them. */
  readonly selectorNames?: { readonly [path: FieldPath]: FieldPath }
  /** Of a version that is not the stored one. */
  readonly conversion?: Conversion & { readonly stored: Kind }
}

/** The way between a version and the stored one. Pure functions; the apiVersion of what they give does not count. */
export interface Conversion<T = ApiObject, S = ApiObject> {
  readonly fromStored: (object: S, vendor: Vendor) => T
  /**
   * `previous` is what is stored before a write: what this version cannot say may be taken from there, so that a
   * version that is written back as it was read changes nothing.
   */
  readonly toStored: (object: T, vendor: Vendor, previous?: S) => S
}

/** Makes a kind from its definition. Its rules are written for the type of its own objects, `ObjectOf<typeof fields>`. */
export function defineKind<F extends Fields>(definition: KindDefinition<ObjectOf<F>> & { readonly fields: F }): Kind {
  const { fields, ...rest } = definition
  const metadata = field(1, objectMeta, { zero: 'write', doc: 'Name, labels and whatever else every object has.' })
  const schema = s.object({ ...typeMeta, metadata, ...fields }, { name: definition.kind, doc: definition.doc })
  // The registry hands a kind's rules only objects that were decoded by its schema, so the narrower type holds.
  return { name: checkDnsSubdomain, ...rest, schema } as unknown as Kind
}

export interface VersionDefinition<F extends Fields, S> extends Conversion<ObjectOf<F>, S> {
  /** The short id of its group, where that is another one than that of the stored version. */
  readonly group?: string
  readonly version: string
  readonly fields: F
  readonly deprecated?: Deprecation
  /** Values that field selectors may ask for, where they have other paths than in the stored version: its path of each. */
  readonly selectable?: { readonly [path: FieldPath]: FieldPath }
  /** Defaults of this version, beside those of the stored one. */
  readonly fillDefaults?: (object: ObjectOf<F>, context: RuleContext) => void
}

/**
 * Makes another version of a kind: its own fields, and the way to the stored version and back. All rules and columns
 * are those of the stored version, which sees every object before it is judged, stored or shown in a table.
 */
export function defineVersion<F extends Fields, S>(stored: Kind, definition: VersionDefinition<F, S>): Kind {
  const { kind, plural, doc, shortNames, categories, scope, name, confidential } = stored
  const { deleteAnswers, createOnUpdate, needsVersion, strategicPatch } = stored
  const { verbs, subresources, readOnly, expires, ownsNothing, orphansByDefault } = stored
  const { group = stored.group } = definition
  const names = { group, kind, plural, doc, scope, name, ...defined({ shortNames, categories }) }
  const ways = {
    ...defined({ confidential, deleteAnswers, createOnUpdate, needsVersion, strategicPatch }),
    ...defined({ verbs, subresources, readOnly, expires, ownsNothing, orphansByDefault }),
  }
  const { version, fields, fillDefaults, fromStored, toStored, deprecated, selectable: selectorNames } = definition
  const { schema } = defineKind({ ...names, version, fields })
  const conversion = { stored, fromStored, toStored }
  // The registry hands a version's functions only objects that were decoded by its schema or the stored one's.
  return {
    ...names,
    ...ways,
    version,
    schema,
    conversion,
    ...defined({ fillDefaults, deprecated, selectorNames }),
  } as unknown as Kind
}
