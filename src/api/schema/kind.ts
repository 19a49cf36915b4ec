/**
 * The definition of a kind, written once in `kinds/`: names, fields and three optional groups of properties. `rules`
 * prepare and validate writes, `lifecycle` describes the verbs and the lifecycle of objects, and `views` describes
 * tables, selectors and subresources. A kind without these groups is plain data.
 *
 * Functions in the groups receive objects of the type `ObjectOf<typeof fields>`, so `fields` must be a separate
 * constant above the kind. Rules for a part of an object belong to the type of that part (see `check` in schema.ts).
 */
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import { defined, type JsonObject } from '../json/json.ts'
import type { FieldError, FieldPath } from '../model/field-error.ts'
import { checkDnsSubdomain } from '../model/names.ts'
import type { ApiObject, ObjectMeta } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Verb } from '../model/verb.ts'
import type { Availability } from '../versions/availability.ts'
import type { EmulatedVersion, KubeVersion } from '../versions/emulated-version.ts'
import type { Column, RowCondition } from './columns.ts'
import type { JudgeContext, PrepareContext, RuleContext } from './context.ts'
import { objectMeta } from './object-meta.ts'
import type { KindReservations } from './reservations.ts'
import { type Fields, field, type InferFields, type ObjectSchema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

/** Whether the objects of a kind belong to a namespace or to the whole cluster. */
export type Scope = 'Namespaced' | 'Cluster'

/** The TypeScript type of objects with these fields, including apiVersion, kind and metadata. */
export type ObjectOf<F extends Fields> = { apiVersion: string; kind: string; metadata: ObjectMeta } & InferFields<F>

/** A kind as defined in `kinds/`. Empty groups of options may be omitted. */
export interface KindDefinition<T> extends KindAvailability {
  readonly names: KindNames
  /** Purpose of the kind, in one or two sentences. */
  readonly doc: string
  readonly rules?: KindRules<T>
  readonly lifecycle?: KindLife<T>
  readonly views?: KindViews<T>
  /**
   * Values that must be unique among all objects, such as addresses. Only one object at a time can reserve such a
   * value.
   */
  readonly reservations?: KindReservations<T>
  /** If set, clients that use this version receive a deprecation warning. */
  readonly deprecated?: Deprecation
}

/** The Kubernetes versions in which this API version of a kind is served. */
export interface KindAvailability extends Availability {
  /** Whether the API version is disabled unless `--runtime-config` enables it. */
  readonly optIn?: boolean
}

/** The names of a kind, and the format of its objects' names. */
export interface KindNames {
  /** Short ID of the API group, such as `core` or `storage`. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** The singular name for the command line. The kind in lower case is always accepted. */
  readonly singular?: string
  /** The kind of lists. Defaults to the name of the kind with the suffix `List`. */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: Scope
  /** A group name for error responses about invalid objects. Set for versions whose clients expect an older group. */
  readonly faultGroup?: { readonly name: string; readonly until: KubeVersion }
  /** Validates object names. By default, names must be DNS subdomains. */
  readonly nameFormat?: NameFormat
}

/** Validates an object name. Returns a list of the errors in the name. */
export type NameFormat = (name: string, context?: RuleContext) => string[]

/** Functions that prepare and validate writes, in addition to the schema. */
export interface KindRules<T> {
  /** Paths of fields that writes to the main resource ignore and never own. */
  readonly readOnly?: readonly string[]
  /** Applies defaults that depend on other fields or on the vendor. Modifies the newly decoded object in place. */
  readonly fillDefaults?: (object: T, context: RuleContext) => void
  /** Sets the server-managed fields of a new object in place. */
  readonly prepareForCreate?: (object: T, context: PrepareContext) => void
  /** Restores the fields that an update must not change. Modifies `next` in place. */
  readonly prepareForUpdate?: (next: T, previous: T, context: PrepareContext) => void
  /** Whether the metadata of a new object is validated only if all other fields are valid. */
  readonly metadataLast?: (context: RuleContext) => boolean
  /** Validates an object. Returns a generator if validation is expensive. */
  readonly validate?: (object: T, context: RuleContext) => FieldError[] | Sliced<FieldError[]>
  /**
   * Applies the validation rules that concern only new objects. Existing objects are not checked against these rules
   * again.
   */
  readonly validateCreate?: (object: T, context: RuleContext) => FieldError[] | Sliced<FieldError[]>
  readonly validateUpdate?: (next: T, previous: T, context: RuleContext) => FieldError[] | Sliced<FieldError[]>
  /** Runs expensive or asynchronous rules. The function is called even if other rules report errors. */
  readonly judge?: (object: T, previous: T | undefined, context: JudgeContext) => Promise<FieldError[]>
  /**
   * Completes a valid object so that the result does not depend on the API version through which it was written. Called
   * after validation. Modifies the object in place.
   */
  readonly canonicalize?: (object: T, context: RuleContext) => void
  /** Returns warnings for the client that wrote a valid object. `previous` is undefined for new objects. */
  readonly warnings?: (object: T, previous: T | undefined, context: RuleContext) => string[]
  /** Returns warnings for the client that wrote a valid status. */
  readonly statusWarnings?: (object: T, context: RuleContext) => string[]
}

/** Which verbs a kind supports, and how its objects are created and deleted. */
export interface KindLife<T> {
  /** The supported verbs. Defaults to all verbs. */
  readonly verbs?: readonly Verb[]
  /** Whether objects are never stored and an endpoint in `resources/` handles requests. */
  readonly virtual?: boolean
  /**
   * Whether objects can be read and written only as JSON or YAML, because Protobuf would encode one of their fields
   * differently.
   */
  readonly jsonOnly?: boolean
  /**
   * Whether objects have no name. The server ignores names that clients send, and omits them from errors for invalid
   * objects.
   */
  readonly nameless?: boolean
  /** Whether a PUT creates the object if it does not exist. */
  readonly createOnUpdate?: boolean
  /** Whether an update must contain a resourceVersion. */
  readonly needsVersion?: boolean
  /** Whether finalizer names may omit the domain. */
  readonly plainFinalizers?: boolean
  /** Whether strategic merge patches are supported. Defaults to true. */
  readonly strategicPatch?: boolean
  /** The body of the response to a DELETE request. Defaults to a Status. */
  readonly deleteAnswers?: 'object' | 'status'
  /** Whether the object must exist in every cluster, so that it cannot be deleted. */
  readonly permanent?: (object: T) => boolean
  /** Whether objects expire: the store deletes them some time after the last write (`--event-ttl`). */
  readonly expires?: boolean
  /** Whether a deletion without a propagation policy orphans the dependents. */
  readonly orphansByDefault?: boolean
  /** A warning for clients that delete without a propagation policy. */
  readonly orphanWarning?: string
  /** Fields with confidential values. The history records that these fields changed, but not their values. */
  readonly secretFields?: readonly string[]
  /** Whether objects never have dependents, so that the propagation policy of a deletion has no effect. */
  readonly ownsNothing?: boolean
  /**
   * Returns the grace period in seconds of a deletion, for kinds whose objects must terminate before they are removed.
   * `requested` is the grace period that the client requested, or undefined. Objects of other kinds are removed
   * immediately.
   */
  readonly gracePeriod?: (object: T, requested: number | undefined) => number
  /** Whether the deletion must wait even if the metadata has no finalizers left. */
  readonly holdsDeletion?: (object: T) => boolean
  /**
   * Returns the type that the object with the given name defines. Objects of this type exist only as long as the
   * defining object does. Set for kinds that define types.
   */
  readonly contents?: (name: string) => { readonly group: string; readonly plural: string } | undefined
  /** Makes additional changes when a deletion starts. Modifies `next`, which is already marked as terminating. */
  readonly beginDeletion?: (next: T, previous: T, context: PrepareContext) => void
}

/** How objects are displayed in tables, selected by fields and accessed through subresources. */
export interface KindViews<T> {
  /** The table columns. Defaults to name and creation time. */
  readonly columns?: readonly Column<T>[]
  /**
   * The first version whose field selectors support the fields in `selectable`. If undefined, every version supports
   * them.
   */
  readonly selectableSince?: KubeVersion
  /** Returns the conditions of an object's table row, such as completion. */
  readonly rowConditions?: (object: T) => readonly RowCondition[]
  /** Annotations that table rows omit, because only older clients need them. */
  readonly rowsWithout?: readonly string[]
  /** Returns the values of further fields that field selectors support, by path. */
  readonly selectable?: (object: T) => { [path: FieldPath]: string }
  /** Selectable fields that only later versions support, each with the first such version. */
  readonly laterSelectable?: { readonly [path: FieldPath]: KubeVersion }
  /** Subresources that are views of the object, each with its writable fields. */
  readonly subresources?: { readonly [name: string]: Subresource<T> }
  /**
   * Whether lists have the same format as lists of custom resources: items contain apiVersion and kind, and `continue`
   * may be an empty string.
   */
  readonly typedItems?: boolean
  /** Whether to leave field values out of error messages. */
  readonly redactErrorValues?: boolean
}

/**
 * The deprecation of an API version. Built-in kinds specify the versions involved, and other kinds only a warning text.
 */
export type Deprecation = BuiltInDeprecation | { readonly warning: string }

export interface BuiltInDeprecation {
  /** The Kubernetes version that deprecated the API version, such as `1.22`. Earlier versions send no warning. */
  readonly since: KubeVersion
  /**
   * The first version that sends the warning. Defaults to `since`. It is earlier than `since` if the warning announces
   * a future deprecation.
   */
  readonly warnsSince?: KubeVersion
  /**
   * The version in which the warning announces the removal. Set only if it differs from the kind's `until`, the first
   * version without the kind.
   */
  readonly removal?: KubeVersion
  /** The kind that replaces the deprecated one. */
  readonly instead?: { readonly group: string; readonly version: string; readonly kind: string }
}

/** Returns the Kubernetes version that removes the API version, according to its deprecation warning. */
export function removalOf({ deprecated, until }: Pick<Kind, 'deprecated' | 'until'>): KubeVersion | undefined {
  if (deprecated === undefined || 'warning' in deprecated) return undefined
  return deprecated.removal ?? until
}

/** A subresource that reads and writes part of the object, such as `status` or `scale`. */
export interface Subresource<T> extends Availability {
  readonly verbs: readonly ('get' | 'update' | 'patch')[]
  /** Restores all fields that writes to the subresource must not change. Modifies `next` in place. */
  readonly prepareForUpdate: (next: T, previous: T, context: PrepareContext) => void
  /** Paths of fields that writes through this subresource ignore. */
  readonly readOnly: readonly string[]
  /** Paths that replace `readOnly` from the given version on. */
  readonly laterReadOnly?: { readonly since: KubeVersion; readonly paths: readonly string[] }
  /** Represents the object as another kind, such as Scale. */
  readonly as?: ShownAs<T>
}

/** Represents an object as another kind. For example, ReplicationController is represented as Scale. */
export interface ShownAs<T> {
  readonly kind: Kind
  readonly read: (object: T) => ApiObject
  /**
   * Returns the reason why the representation cannot be read, or undefined if it can. The response to a write contains
   * the representation in either case.
   */
  readonly unreadable?: ((object: T) => string | undefined) | undefined
  /** Copies the values that the client sent in the other representation to `object`, which is modified in place. */
  readonly write: (sent: ApiObject, object: T, context: RuleContext) => void
  /**
   * Converts an applied configuration of the other kind to a configuration of the object itself. If undefined, the
   * subresource does not support apply.
   */
  readonly configOf?: (config: JsonObject) => JsonObject
}

/** Whether a kind is defined in `kinds/` or by a CustomResourceDefinition. */
export type KindOrigin = 'built-in' | 'custom'

/**
 * A kind as the rest of the server uses it. All groups of properties are present, and the rules accept any object type.
 */
export interface Kind extends KindNames, KindAvailability {
  readonly origin: KindOrigin
  readonly nameFormat: NameFormat
  readonly doc: string
  readonly schema: ObjectSchema
  readonly rules: KindRules<ApiObject>
  readonly lifecycle: KindLife<ApiObject>
  readonly views: KindViews<ApiObject>
  readonly reservations?: KindReservations<ApiObject>
  readonly deprecated?: Deprecation
  /** Maps field selector names of this version to the names of the stored version. */
  readonly selectorNames?: { readonly [path: FieldPath]: FieldPath }
  /** The conversion of this version. Undefined for the stored version. */
  readonly conversion?: Conversion & { readonly stored: Kind }
  /**
   * Reads objects that were stored under earlier definitions of the kind. Undefined if the definition cannot change
   * while objects exist.
   */
  readonly evolution?: Evolution
}

/** A kind with a static type for its objects. */
export interface KindOf<T> extends Kind {
  /** Carries the object type for the compiler. Never set at run time. */
  readonly infer?: T
}

/** JSON of an object, as found in the store or a cache. */
export interface StoredJson {
  readonly json: Buffer
  /**
   * Identifies the schema (`Evolution.schemaId`) for which the object was complete when it was written. Undefined if
   * unknown.
   */
  readonly completeFor?: string | undefined
}

/** An object to be stored, and the ID of the schema for which it is complete, if known. */
export interface ReadyToStore {
  readonly object: ApiObject
  readonly completeFor: string | undefined
}

/** Reads objects that were stored under an earlier definition of the kind or in another version. */
export interface Evolution {
  /** Identifies the definition. Caches of encoded objects use this ID as a key. */
  readonly id: string
  /**
   * Identifies the schema of this version and the schema interpreter of this program. The server returns an object as
   * stored if it was complete for the same schema when it was written.
   */
  readonly schemaId: string
  /** The apiVersion of stored objects. It does not depend on the version that a client uses to write them. */
  readonly storedAs: string
  /** Whether a webhook converts between versions, so that callers may have to wait for a conversion. */
  readonly remote: boolean
  /**
   * Converts a complete object of this version to its stored form. Fields that do not exist in the stored version are
   * lost.
   */
  readonly store: (object: ApiObject) => Sliced<ReadyToStore>
  /** Adapts a stored object to this version of the kind and its current definition. */
  readonly read: (object: ApiObject) => Sliced<ApiObject>
  /**
   * Returns the JSON of an object in the form that this version requires. Returns the same buffer if nothing has to
   * change. The result is cached, so the object is inspected only once. If conversion needs a webhook, the caller must
   * await `prepare` first.
   */
  readonly readJson: (stored: StoredJson) => Buffer
  /**
   * Converts JSON like `readJson`, but works in steps for large objects. Afterwards, `readJson` returns the same result
   * immediately.
   */
  readonly readJsonSliced: (stored: StoredJson) => Sliced<Buffer>
  /**
   * Calls the webhook for all objects that need conversion, in batches. Returns undefined if no object needs the
   * webhook.
   */
  readonly prepare: (all: readonly StoredJson[]) => Promise<void> | undefined
  /** Converts a value from another version for merging. The result contains only known fields, and no defaults. */
  readonly convert: (object: JsonObject) => Sliced<JsonObject>
  /**
   * Whether the object is read without its missing defaults, because these would make it too large. Without an
   * argument, returns whether any such object has been found so far.
   */
  readonly lacksDefaults: (json?: Buffer) => boolean
}

/**
 * Returns the schema that determines the order of members in JSON. Undefined for custom objects, whose members are in
 * the byte order of their keys.
 */
export function orderOf({ schema, origin }: Kind): ObjectSchema | undefined {
  return origin === 'built-in' ? schema : undefined
}

/**
 * Converts between a version and the stored version. Both functions are pure. The apiVersion in their results is
 * ignored.
 */
export interface Conversion<T = ApiObject, S = ApiObject> {
  readonly fromStored: (object: S, vendor: Vendor, emulated?: EmulatedVersion) => T
  /**
   * Converts an object to the stored version. `previous` is the stored object before the write. Fields that this
   * version cannot represent may be copied from `previous`, so that an unmodified update changes nothing.
   */
  readonly toStored: (object: T, vendor: Vendor, previous?: S) => S
  /** Returns the reason why this version of a stored object cannot be read, or undefined if it can. */
  readonly unreadable?: ((object: S) => string | undefined) | undefined
}

/** Creates a kind from its definition. Rules are typed for `ObjectOf<typeof fields>`. */
export function defineKind<F extends Fields>(
  definition: KindDefinition<ObjectOf<F>> & { readonly fields: F },
): KindOf<ObjectOf<F>> {
  const { names, doc, fields, rules = {}, lifecycle = {}, views = {}, reservations, deprecated } = definition
  const { since, until, gate, optIn } = definition
  const schema = schemaOf(names.kind, doc, fields)
  const kind = {
    origin: 'built-in',
    nameFormat: checkDnsSubdomain,
    ...names,
    doc,
    schema,
    rules,
    lifecycle,
    views,
    ...defined({ reservations, deprecated, since, until, gate, optIn }),
  }
  // The cast is safe, because the registry calls the rules only with objects decoded by this kind's schema.
  return kind as unknown as Kind
}

/** Returns the schema of complete objects: the common fields of all kinds and the fields of this kind. */
function schemaOf(name: string, doc: string, fields: Fields): ObjectSchema {
  const metadata = field(1, objectMeta, {
    zeroValue: 'write',
    doc: 'Standard object metadata, such as the name and labels.',
  })
  return s.object({ ...typeMeta, metadata, ...fields }, { name, doc })
}

export interface VersionDefinition<F extends Fields, S> extends Partial<Conversion<ObjectOf<F>, S>>, KindAvailability {
  /** The short ID of the group, if it differs from the group of the stored version. */
  readonly group?: string
  readonly version: string
  readonly fields: F
  readonly deprecated?: Deprecation
  /** The default propagation policy, if it differs from the policy of the stored version. */
  readonly lifecycle?: Pick<KindLife<S>, 'orphansByDefault'>
  /** Maps field selector names to the names of the stored version, if they differ. */
  readonly selectable?: { readonly [path: FieldPath]: FieldPath }
  /** Applies the defaults of this version, in addition to the defaults of the stored version. */
  readonly fillDefaults?: (object: ObjectOf<F>, context: RuleContext) => void
}

/**
 * Creates another version of a kind from the version's fields and conversions. The conversions may be omitted if the
 * fields are the same as in the stored version. All other properties are inherited from the stored version: objects are
 * converted before validation, storage and table output. The only rules of a version are therefore its defaults, and
 * the functions of `lifecycle` and `views` receive stored objects. Deprecation and availability are not inherited.
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
  const { deprecated, selectable: selectorNames, since, until, gate, optIn } = definition
  const { deprecated: _, since: _since, until: _until, gate: _gate, optIn: _optIn, ...shared } = stored
  // The cast is safe, because the registry calls these functions only with objects decoded by the schema of this
  // version or of the stored version.
  return {
    ...shared,
    group,
    version,
    schema: schemaOf(stored.kind, stored.doc, fields),
    rules: defined({ readOnly: stored.rules.readOnly, fillDefaults }),
    lifecycle: { ...stored.lifecycle, ...definition.lifecycle },
    conversion: { stored, fromStored, toStored },
    ...defined({ deprecated, selectorNames, since, until, gate, optIn }),
  } as unknown as Kind
}

function unchanged<T>(object: T): T {
  return object
}

/** Requires a version without conversions to have the same fields as the stored version. */
function assertSameFields({ kind, schema }: Kind, version: string, fields: Fields): void {
  const differing = Object.keys({ ...schema.fields, ...fields }).find(
    (name) => !isCommon(name) && Object.hasOwn(schema.fields, name) !== Object.hasOwn(fields, name),
  )
  if (differing !== undefined)
    throw new Error(
      `${kind} ${version} differs from the stored version in ${differing}: it requires fromStored and toStored`,
    )
}

function isCommon(name: string): boolean {
  return name === 'metadata' || Object.hasOwn(typeMeta, name)
}
