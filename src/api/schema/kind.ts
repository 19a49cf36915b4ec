/**
 * What a kind is, in one value that is written once in `kinds/`: its names, its fields, and three groups that all may
 * be left out. `rules` prepare and judge writes, `life` is what can be done with its objects and how they end, `views`
 * are what is seen of them besides. A kind without these groups is plain data.
 *
 * Functions in the groups are given objects of the kind's own type, `ObjectOf<typeof fields>`, so `fields` is a
 * constant of its own above the kind. Rules for a part of an object go to the type of that part instead: see `check` in
 * schema.ts.
 */
import type { Steps } from '../../base/concurrency/time-slice.ts'
import { defined, type JsonObject } from '../json/json.ts'
import type { FieldError, FieldPath } from '../model/field-error.ts'
import { checkDnsSubdomain, type NameCheck } from '../model/names.ts'
import type { ApiObject, ObjectMeta } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Verb } from '../model/verb.ts'
import type { Column, RowCondition } from './columns.ts'
import type { JudgeContext, PrepareContext, RuleContext } from './context.ts'
import { objectMeta } from './object-meta.ts'
import type { KindReservations } from './reservations.ts'
import { type Fields, field, type InferFields, type ObjectSchema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

/** Whether the objects of a kind are in namespaces. */
export type Scope = 'Namespaced' | 'Cluster'

/** The type of the objects of a kind with these fields. */
export type ObjectOf<F extends Fields> = { apiVersion: string; kind: string; metadata: ObjectMeta } & InferFields<F>

/** All that is to be said of a kind: what its file in `kinds/` writes. Groups that have nothing to say are left out. */
export interface KindDefinition<T> {
  readonly names: KindNames
  /** What the kind is for, in a sentence or two. */
  readonly doc: string
  readonly rules?: KindRules<T>
  readonly life?: KindLife<T>
  readonly views?: KindViews<T>
  /** What its objects hold that no others may hold. */
  readonly reservations?: KindReservations<T>
  /** Its users get a warning that says what to use instead. */
  readonly deprecated?: Deprecation
}

/** What the kind is called, and how its objects are. */
export interface KindNames {
  /** The short id of the group: `core`, `storage`, ... */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** One object of the kind on the command line; the kind in lower case is understood anyway. */
  readonly singular?: string
  /** The kind of lists; the kind with `List` after it unless said otherwise. */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: Scope
  /** The group, as on the wire, that the answer to an invalid object names, where clients know it by an older one. */
  readonly faultGroup?: string
  /** The form of its objects' names; a DNS subdomain unless said otherwise. */
  readonly form?: NameCheck
}

/** How a write is prepared and judged, beyond what the schema says. */
export interface KindRules<T> {
  /** Fields, by path, that writes to the main resource cannot set: they are neither changed nor owned. */
  readonly readOnly?: readonly string[]
  /** Defaults that depend on other fields or on the vendor. Changes the object, which is freshly decoded. */
  readonly fillDefaults?: (object: T, context: RuleContext) => void
  /** Sets what the server decides on creation. Changes the object. */
  readonly prepareForCreate?: (object: T, context: PrepareContext) => void
  /** Restores what an update may not touch. Changes `next`. */
  readonly prepareForUpdate?: (next: T, previous: T, context: PrepareContext) => void
  /** Whether the metadata of a new object is judged only where nothing else is wrong with it. */
  readonly metadataLast?: (context: RuleContext) => boolean
  /** In steps where it looks at much. */
  readonly validate?: (object: T, context: RuleContext) => FieldError[] | Steps<FieldError[]>
  /** Rules for new objects alone: what is stored is not judged by them again. */
  readonly validateCreate?: (object: T, context: RuleContext) => FieldError[]
  readonly validateUpdate?: (next: T, previous: T, context: RuleContext) => FieldError[]
  /** What takes long to judge, or needs what must be loaded first. Asked whatever the other rules find. */
  readonly judge?: (object: T, previous: T | undefined, context: JudgeContext) => Promise<FieldError[]>
  /** Fills in what every version of a valid object shows, once it has been judged. Changes the object. */
  readonly canonicalize?: (object: T) => void
  /** What the writer of a valid object should know; `previous` is undefined for a new one. */
  readonly warnings?: (object: T, previous: T | undefined, context: RuleContext) => string[]
}

/** What can be done with its objects, and how they end. */
export interface KindLife<T> {
  /** What can be asked of it; everything unless said otherwise. */
  readonly verbs?: readonly Verb[]
  /** Its objects are not stored: an endpoint in `resources/` answers. */
  readonly virtual?: boolean
  /** Its objects have no name, whatever is sent: nor has the answer to one that is invalid. */
  readonly nameless?: boolean
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate?: boolean
  /** A PUT must name the version that it is based on. */
  readonly needsVersion?: boolean
  /** Finalizers may be names without a domain. */
  readonly plainFinalizers?: boolean
  /** Whether patches may be strategic merges; true unless said otherwise. */
  readonly strategicPatch?: boolean
  /** What a delete answers with; a Status unless said otherwise. */
  readonly deleteAnswers?: 'object' | 'status'
  /** Whether an object belongs to every cluster, so that it cannot be deleted. */
  readonly permanent?: (object: T) => boolean
  /** Its objects record a moment: the store deletes each some time after it was last written (`--event-ttl`). */
  readonly expires?: boolean
  /** A deletion that does not say what happens to the objects it owns keeps them. */
  readonly orphansByDefault?: boolean
  /** Warning shown when a delete omits propagationPolicy. */
  readonly orphanWarning?: string
  /** Members whose values are secret: history keeps which of them changed, and not the values. */
  readonly secretFields?: readonly string[]
  /** Its objects never own others: however a deletion is asked for, there is nobody to orphan or to wait for. */
  readonly ownsNothing?: boolean
  /**
   * For kinds that are stopped before they are gone: how many seconds a deletion waits for that. `requested` is what
   * the client asks for, if it does. Others are gone at once.
   */
  readonly gracePeriod?: (object: T, requested: number | undefined) => number
  /** Whether deletion must wait although no finalizer is left in the metadata. */
  readonly holdsDeletion?: (object: T) => boolean
  /**
   * The type whose objects have a meaning only with the object of this name, where that name alone says which it is.
   */
  readonly contents?: (name: string) => { readonly group: string; readonly plural: string } | undefined
  /** What else changes when a deletion begins. Changes `next`, which is marked as being deleted. */
  readonly beginDeletion?: (next: T, previous: T, context: PrepareContext) => void
}

/** What is seen of its objects besides the objects themselves. */
export interface KindViews<T> {
  /** What a table shows of an object; name and creation time unless said otherwise. */
  readonly columns?: readonly Column<T>[]
  /** What the row of an object says of it beside its cells: that it has ended, say. */
  readonly rowConditions?: (object: T) => readonly RowCondition[]
  /** Annotations that the rows of a table leave out: they are there for clients of older versions alone. */
  readonly rowsWithout?: readonly string[]
  /** Values that field selectors may ask for, beside metadata.name and metadata.namespace. */
  readonly selectable?: (object: T) => { [path: FieldPath]: string }
  /** Subresources that are views of the object itself, each with the fields it may change. */
  readonly subresources?: { readonly [name: string]: Subresource<T> }
  /** Its lists are as those of custom resources: items carry their apiVersion and kind, and `continue` may be empty. */
  readonly typedItems?: boolean
  /** Messages do not show its values. */
  readonly confidential?: boolean
}

/** Why a version should not be used any more. */
export type Deprecation = BuiltInDeprecation | { readonly warning: string }

export interface BuiltInDeprecation {
  /** The API level since which it is deprecated: `v1.22`. */
  readonly since: string
  /** The API level from which it may be gone, where that is known. */
  readonly until?: string
  /** What to use instead: the short id of the group, the version and the kind. */
  readonly instead?: { readonly group: string; readonly version: string; readonly kind: string }
}

/** A sub-resource that is a view of the object. */
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
  /** Why a reader cannot be shown it; undefined: it can. Writers are shown what there is. */
  readonly unreadable?: ((object: T) => string | undefined) | undefined
  /** Writes what was sent into the object. Changes `object`. */
  readonly write: (sent: ApiObject, object: T) => void
  /**
   * What an applied configuration of that kind says of the object itself. Where it is left out nothing can be applied.
   */
  readonly configOf?: (config: JsonObject) => JsonObject
}

/** Who defines a kind: this program, in a file of `kinds/`, or a user, with a CustomResourceDefinition. */
export type KindOrigin = 'built-in' | 'custom'

/** A kind as the rest of the server sees it: its names at the top, every group there, rules on any object. */
export interface Kind extends KindNames {
  readonly origin: KindOrigin
  readonly form: NameCheck
  readonly doc: string
  readonly schema: ObjectSchema
  readonly rules: KindRules<ApiObject>
  readonly life: KindLife<ApiObject>
  readonly views: KindViews<ApiObject>
  readonly reservations?: KindReservations<ApiObject>
  readonly deprecated?: Deprecation
  /** What field selectors call the fields of this version, and what the stored version calls them. */
  readonly selectorNames?: { readonly [path: FieldPath]: FieldPath }
  /** Of a version that is not the stored one. */
  readonly conversion?: Conversion & { readonly stored: Kind }
  /** Of a kind whose definition may change while its objects stay. */
  readonly evolution?: Evolution
}

/** A kind whose objects have a type that is known when the program is compiled. */
export interface KindOf<T> extends Kind {
  /** Carries the type of the objects; never present at run time. */
  readonly infer?: T
}

/** An object as the store or a cache has it. */
export interface StoredJson {
  readonly json: Buffer
  /** The schema (`Evolution.schemaId`) by which the object was complete when it was written, if that is known. */
  readonly completeFor?: string | undefined
}

/** An object that is ready to be stored, and the schema by which it is complete, if that is known. */
export interface ReadyToStore {
  readonly object: ApiObject
  readonly completeFor: string | undefined
}

/** How objects are read that were stored under another definition of the kind, or in another of its versions. */
export interface Evolution {
  /** Differs wherever the definition does: encoded forms of an object are kept under it. */
  readonly id: string
  /**
   * Identifies the schema of this version, and how this program reads schemas. An object that was complete for it when
   * it was written is shown as it is stored.
   */
  readonly schemaId: string
  /** The apiVersion that objects have in the store, whichever version they are written through. */
  readonly storedAs: string
  /** Whether a webhook makes one version from another: then whatever goes from one to another may have to wait. */
  readonly remote: boolean
  /** A complete object of this version as it is stored: what the stored version does not know is lost. */
  readonly store: (object: ApiObject) => Steps<ReadyToStore>
  /** An object as this version has it now. */
  readonly read: (object: ApiObject) => Steps<ApiObject>
  /**
   * The same from JSON to JSON: the very bytes where nothing differs. Each object is looked at once, as a rule. Where a
   * webhook is needed for it, `prepare` has been waited for just before.
   */
  readonly readJson: (stored: StoredJson) => Buffer
  /** The same in steps, for large objects: from then on `readJson` has it. */
  readonly readSteps: (stored: StoredJson) => Steps<Buffer>
  /** Asks the webhook about those that it has to be asked about, many at a time; undefined where there are none. */
  readonly prepare: (all: readonly StoredJson[]) => Promise<void> | undefined
  /** A value of another version in this one, for those who merge: known fields only, without defaults. */
  readonly convert: (object: JsonObject) => Steps<JsonObject>
  /**
   * Whether this object is read without the defaults that it lacks, as they would make it too large. Without an object:
   * whether that was found of any so far.
   */
  readonly lacksDefaults: (json?: Buffer) => boolean
}

/**
 * By what the members of its objects are ordered in JSON: the fields of its types. Those of a kind that users define
 * stand in the byte order of their keys.
 */
export function orderOf({ schema, origin }: Kind): ObjectSchema | undefined {
  return origin === 'built-in' ? schema : undefined
}

/** The way between a version and the stored one. Pure functions; the apiVersion of what they give does not count. */
export interface Conversion<T = ApiObject, S = ApiObject> {
  readonly fromStored: (object: S, vendor: Vendor) => T
  /**
   * `previous` is what is stored before a write: what this version cannot say may be taken from there, so that a
   * version that is written back as it was read changes nothing.
   */
  readonly toStored: (object: T, vendor: Vendor, previous?: S) => S
  /** Why a reader cannot be shown this version of a stored object; undefined: it can. */
  readonly unreadable?: ((object: S) => string | undefined) | undefined
}

/**
 * Makes a kind from its definition. Its rules are written for the type of its own objects, `ObjectOf<typeof fields>`.
 */
export function defineKind<F extends Fields>(
  definition: KindDefinition<ObjectOf<F>> & { readonly fields: F },
): KindOf<ObjectOf<F>> {
  const { names, doc, fields, rules = {}, life = {}, views = {}, reservations, deprecated } = definition
  const schema = schemaOf(names.kind, doc, fields)
  const kind = {
    origin: 'built-in',
    form: checkDnsSubdomain,
    ...names,
    doc,
    schema,
    rules,
    life,
    views,
    ...defined({ reservations, deprecated }),
  }
  // The registry hands a kind's rules only objects that were decoded by its schema, so the narrower type holds.
  return kind as unknown as Kind
}

/** The schema of whole objects: what all have, and the fields of this kind. */
function schemaOf(name: string, doc: string, fields: Fields): ObjectSchema {
  const metadata = field(1, objectMeta, { zero: 'write', doc: 'Standard metadata: name, labels and others.' })
  return s.object({ ...typeMeta, metadata, ...fields }, { name, doc })
}

export interface VersionDefinition<F extends Fields, S> extends Partial<Conversion<ObjectOf<F>, S>> {
  /** The short id of its group, where that is another one than that of the stored version. */
  readonly group?: string
  readonly version: string
  readonly fields: F
  readonly deprecated?: Deprecation
  /** What becomes of owned objects, where that is not as in the stored version. */
  readonly life?: Pick<KindLife<S>, 'orphansByDefault'>
  /**
   * Values that field selectors may ask for, where they have other paths than in the stored version: its path of each.
   */
  readonly selectable?: { readonly [path: FieldPath]: FieldPath }
  /** Defaults of this version, beside those of the stored one. */
  readonly fillDefaults?: (object: ObjectOf<F>, context: RuleContext) => void
}

/**
 * Makes another version of a kind: its own fields, and the conversions to the stored version and back, which may be
 * left out where objects are the same in both. Everything else is as in the stored version, which sees every object
 * before it is judged, stored or shown in a table: so of the rules only the defaults are a version's own, and which
 * fields cannot be set is the same; the functions of `life` and `views` are given stored objects. A deprecation is of
 * one version.
 */
export function defineVersion<F extends Fields, S>(
  stored: KindOf<S>,
  definition: VersionDefinition<F, S>,
): KindOf<ObjectOf<F>> {
  const {
    group = stored.group,
    version,
    fields,
    fillDefaults,
    fromStored = unchanged,
    toStored = unchanged,
  } = definition
  if (definition.fromStored === undefined) assertSameFields(stored, version, fields)
  const { deprecated, selectable: selectorNames } = definition
  const { deprecated: _, ...shared } = stored
  // The registry hands a version's functions only objects that were decoded by its schema or the stored one's.
  return {
    ...shared,
    group,
    version,
    schema: schemaOf(stored.kind, stored.doc, fields),
    rules: defined({ readOnly: stored.rules.readOnly, fillDefaults }),
    life: { ...stored.life, ...definition.life },
    conversion: { stored, fromStored, toStored },
    ...defined({ deprecated, selectorNames }),
  } as unknown as Kind
}

function unchanged<T>(object: T): T {
  return object
}

/** A version whose objects are not converted has the fields of the stored version. */
function assertSameFields({ kind, schema }: Kind, version: string, fields: Fields): void {
  const differing = Object.keys({ ...schema.fields, ...fields }).find(
    (name) => !isCommon(name) && Object.hasOwn(schema.fields, name) !== Object.hasOwn(fields, name),
  )
  if (differing !== undefined)
    throw new Error(
      `${kind} ${version} differs from the stored version in ${differing}: it needs fromStored and toStored`,
    )
}

function isCommon(name: string): boolean {
  return name === 'metadata' || Object.hasOwn(typeMeta, name)
}
