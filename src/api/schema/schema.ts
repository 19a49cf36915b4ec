/**
 * The schema language: a closed union of nodes that describes the fields of a kind once.
 *
 * All code that depends on fields uses this structure: decoding, defaults, validation, merging, OpenAPI, Protobuf,
 * tables. Each reader is an exhaustive switch on `type`, so a new node type fails to compile until every reader
 * supports it. Kinds use the constructors in `s` and `field`. The schemas of custom resources are translated at run
 * time.
 *
 *     s.object({
 *       data: field(2, s.map(s.string(), { key: checkConfigKey }), { doc: 'Text values by key.' }),
 *       immutable: field(4, s.boolean(), { zeroValue: 'keep', doc: 'Whether the data is immutable.' }),
 *     })
 *
 * A field can declare which Kubernetes versions have it and which feature gate it needs: `since`, `until` and `gate`.
 * The kinds of a version contain only the fields of that version (`schema/of-version.ts`), so code that reads a schema
 * need not check the version.
 *
 * Published types have a name: `NamespaceSpec` belongs to the group and version of its kind, and `meta.v1.ObjectMeta`
 * to another package. The vendor's prefix of the published name is added later.
 */

import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { FieldError, FieldPath } from '../model/field-error.ts'
import type { NameCheck } from '../model/names.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Availability } from '../versions/availability.ts'
import type { EmulatedVersion, KubeVersion } from '../versions/emulated-version.ts'
import type { RuleContext } from './context.ts'
import type { Effort } from './effort.ts'

/** The type of a value. `T` is the TypeScript type of such values. */
export type Schema<T = unknown> =
  | StringSchema<T>
  | BooleanSchema<T>
  | IntegerSchema<T>
  | NumberSchema<T>
  | BytesSchema<T>
  | TimeSchema<T>
  | QuantitySchema<T>
  | IntOrStringSchema<T>
  | AnySchema<T>
  | MapSchema<T>
  | ListSchema<T>
  | ObjectSchema<T>

interface Typed<T> {
  /** Carries the value type for the compiler. Never set at run time. */
  readonly infer?: T
  /**
   * Validates the properties of a value that its type does not determine, such as the relations between the fields of
   * an object. The function is called after defaulting with a value that matches the schema. Required fields may still
   * be missing, because that is reported separately. Every field of an object may therefore be undefined. Expensive
   * checks return a generator, so that other requests can run between its steps.
   *
   * An inline function gets the type of the value from the fields before it. A separate function must name that type as
   * `InferFields<typeof fields>` of a constant `fields`, not as `Infer<typeof schema>`, because the compiler rejects
   * the circular type.
   *
   *     const fields = { min: field(1, s.int32()), max: field(2, s.int32()) }
   *     export const range = s.object(fields, { name: 'Range', doc: 'A range from min to max, inclusive.', check: checkRange })
   *     function checkRange({ min = 0, max = 0 }: InferFields<typeof fields>, path: FieldPath): FieldError[] {...}
   */
  check?(value: T, path: FieldPath, context: RuleContext, effort?: Effort): FieldError[] | Sliced<FieldError[]>
  /**
   * Whether the schema is user-defined. Decoding then preserves values of the wrong type, so that validation rejects
   * them, and drops nulls that are not allowed. Before Kubernetes 1.25, errors contain the path of the list instead of
   * the element.
   */
  readonly lenient?: boolean
  /** Whether null is allowed. */
  readonly nullable?: boolean
  /** The replacement for nulls in lists and maps of user-defined schemas. */
  readonly ifNull?: Json
  /** Whether values of other types are also valid. Such values are preserved unchanged. */
  readonly anyType?: boolean
  /** Returns the errors for a value of the wrong type in a user-defined schema. The list may be empty. */
  misfit?(value: Json, path: FieldPath, context: RuleContext): FieldError[]
  /** Whether to skip the parts of an invalid value, so that only one error is reported for it. */
  skipsParts?(value: Json, context: RuleContext): boolean
}

/** A type that OpenAPI publishes under a name, with its description. */
interface NamedType {
  readonly name?: string
  readonly doc?: string
}

export interface StringSchema<T = unknown> extends Typed<T> {
  readonly type: 'string'
  readonly values?: readonly string[]
  /**
   * Values that OpenAPI v3 has listed since Kubernetes 1.24. The schema accepts any value, and the rules of the kind
   * report values that are not listed.
   */
  readonly listed?: readonly string[]
  /** Availability of the values that only some versions have. */
  readonly availability?: { readonly [value: string]: Availability }
}
export interface BooleanSchema<T = unknown> extends Typed<T> {
  readonly type: 'boolean'
}
/** Integers. */
export interface IntegerSchema<T = unknown> extends Typed<T> {
  readonly type: 'integer'
  readonly bits: 32 | 64
}
export interface NumberSchema<T = unknown> extends Typed<T> {
  readonly type: 'number'
}
/** Bytes, which are base64 in JSON and raw bytes in Protobuf. */
export interface BytesSchema<T = unknown> extends Typed<T> {
  readonly type: 'bytes'
  /**
   * Whether OpenAPI publishes the type as an atomic list. Bytes are always atomic, but clients may look for the marker.
   */
  readonly atomic?: boolean
}
/** Times in RFC 3339 format, with six decimal places if `micro` is set and in whole seconds otherwise. */
export interface TimeSchema<T = unknown> extends Typed<T> {
  readonly type: 'time'
  readonly micro: boolean
}
export interface QuantitySchema<T = unknown> extends Typed<T> {
  readonly type: 'quantity'
}
export interface IntOrStringSchema<T = unknown> extends Typed<T> {
  readonly type: 'intOrString'
}
/** Any JSON value. It is preserved unchanged. */
export interface AnySchema<T = unknown> extends Typed<T>, NamedType {
  readonly type: 'any'
  /**
   * Whether server-side apply tracks the ownership of each object key. If false, the value has a single owner as a
   * whole. Lists are always owned as a whole.
   */
  readonly granular?: boolean
  /** Whether OpenAPI publishes the type without the keyword `type`, instead of as an object. */
  readonly untyped?: boolean
  /** Whether to keep the members of objects in the order in which the client sent them. */
  readonly asSent?: boolean
  /**
   * Published fields of a value that is otherwise stored as sent. The fields also define the Protobuf message of the
   * value.
   */
  readonly described?: (vendor: Vendor) => ObjectSchema
  /** Whether the described fields differ between versions. */
  readonly versioned?: boolean
  /** Whether decoding drops members that `described` and `alternatives` do not define. */
  readonly pruned?: boolean
  /** The first version that drops unknown members. Earlier versions preserve them. */
  readonly prunedSince?: KubeVersion
  /**
   * The Protobuf message of the type, with one field per possible type of the value. If undefined, the value is encoded
   * as JSON bytes.
   */
  readonly alternatives?: Alternatives
}

/** The Protobuf fields for the possible types of the value: a boolean, a list, or an object of this type. */
export interface Alternatives {
  readonly boolean?: number
  readonly list?: { readonly tag: number; readonly items: Schema }
  readonly object: { readonly tag: number; readonly schema: Schema }
}
/** Objects with arbitrary keys. */
export interface MapSchema<T = unknown> extends Typed<T> {
  readonly type: 'map'
  readonly values: Schema
  readonly key?: NameCheck
  /** Whether server-side apply treats the map as a single value, which is owned and replaced as a whole. */
  readonly atomic?: boolean
}
/** Lists. */
export interface ListSchema<T = unknown> extends Typed<T> {
  readonly type: 'list'
  readonly items: Schema
  /**
   * How server-side apply handles the list: as an atomic value, as a set of scalars, or as a map keyed by the fields in
   * `keys`.
   */
  readonly list: 'atomic' | 'set' | 'map'
  readonly keys?: readonly string[]
  /** Whether duplicates in a set or keyed list are rejected. If false, the rules of the kind decide. */
  readonly unique?: boolean
  /**
   * How a strategic merge patch handles the list: by replacing it, or by merging its elements by `mergeKey` (scalars by
   * value).
   */
  readonly patch?: 'merge' | 'replace'
  readonly mergeKey?: string
  /**
   * Whether Protobuf encodes the list as a message whose field 1 contains the elements. Lists in maps are always
   * encoded this way.
   */
  readonly wrapped?: boolean
  /** Whether OpenAPI, since Kubernetes 1.24, publishes the list without its list type. */
  readonly unmarked?: boolean
  /**
   * Whether a patch can list the keys to retain in an element. All other keys are then dropped. OpenAPI publishes this
   * option.
   */
  readonly retainKeys?: boolean
}
/** Objects with a fixed set of fields. */
export interface ObjectSchema<T = unknown> extends Typed<T>, NamedType {
  readonly type: 'object'
  readonly fields: Fields
  /**
   * The fields that exist only in other versions, by name. Undefined in schemas that were not derived for one version.
   */
  readonly otherVersions?: { readonly [name: string]: Availability }
  readonly atomic?: boolean
  /** Whether unknown fields are preserved instead of pruned. */
  readonly open?: boolean
  /** Whether the schema describes a complete object in a custom resource, with its own type and metadata. */
  readonly embedded?: boolean
  /** A group of fields of which exactly one must be set. */
  readonly choice?: Choice
  /** Returns the fields whose validation is skipped because an error elsewhere makes their errors meaningless. */
  fieldsToSkip?(value: T, context: RuleContext): readonly string[]
  /** Whether to skip validation of the fields' values. */
  readonly unvalidated?: boolean
  /**
   * Whether writes preserve fields whose gate is disabled: `own` means only the fields of this type itself, and `all`
   * includes the fields below them.
   */
  readonly keepsDisabledFields?: 'own' | 'all'
  /** Overrides how the type is published, for example to publish a user-defined schema as its author wrote it. */
  readonly publish?: Publish
  /** Returns the path for errors of the fields. Undefined if errors use the path of the object. */
  faultsAt?(path: FieldPath, context: RuleContext): FieldPath
  /** Applies defaults that depend on sibling fields. Modifies the newly decoded value in place. */
  fill?(value: T, context: RuleContext): void
}

/** Writes a type for an OpenAPI document. */
export type Publish = (publishing: Publishing) => JsonObject

/** How to publish a type: the OpenAPI version, and functions for its parts. */
export interface Publishing {
  readonly version: 2 | 3
  /** The Kubernetes version that the server emulates. */
  readonly emulated: EmulatedVersion
  /** Writes a field whose type has a published name. */
  readonly writeField: (field: Field) => JsonObject
}

/**
 * A group of fields, exactly one of which must be set. The first field of `among` that is set is validated. All other
 * set fields are rejected, and their values are not validated.
 */
export interface Choice {
  readonly among: readonly string[]
  /** Term for these fields in error messages, such as `volume type`. */
  readonly noun: string
}

/** A field in the schema of an object. */
export interface Field<T = unknown> extends Availability {
  readonly schema: Schema<T>
  /** The Protobuf field number. */
  readonly tag: number
  /**
   * The numbers of the nested Protobuf messages that contain the field, outermost first. Undefined unless the field is
   * inline in JSON.
   */
  readonly within?: readonly number[]
  /** Whether validation rejects a missing or zero value. */
  readonly required: boolean
  /** Whether OpenAPI publishes the field as required, if that differs from `required`. */
  readonly published?: 'required' | 'optional'
  /** The first version since 1.24 whose OpenAPI v3 documents contain the default. */
  readonly publishDefaultSince?: KubeVersion
  /** The first version that publishes the field as optional. */
  readonly optionalSince?: KubeVersion
  /**
   * How decoding handles a zero value (`false`, `0`, `""`, an empty list, map or object). `omit` drops the value,
   * `keep` preserves it if the client sent it, and `write` adds it even if the client did not send it.
   */
  readonly zeroValue: 'omit' | 'keep' | 'write'
  /** Whether to record that the client sent an empty list or map before it is dropped (see `explicit-empty.ts`). */
  readonly emptyCounts?: boolean
  readonly default?: Json
  /**
   * Determines when a disabled gate removes the field from objects: only from a given version on, `never`, only on
   * creation (`onCreate`), or only in writes to the object itself rather than to its status (`main`). If undefined, a
   * disabled gate always removes the field.
   */
  readonly gateDrops?: KubeVersion | 'never' | 'onCreate' | 'main'
  /** Whether to drop the containing object too, if dropping the field because of its gate leaves that object empty. */
  readonly dropsEmptyOwner?: boolean
  /**
   * How a strategic merge patch handles an object in this field. `replace` replaces the object as a whole. `retainKeys`
   * merges it, and the patch can list the keys to retain.
   */
  readonly patch?: 'replace' | 'retainKeys'
  /** Purpose of the field in one or two sentences. */
  readonly doc?: string
  /**
   * The type under which Kubernetes versions before `until` published the field. Undefined if the type was the same.
   */
  readonly earlier?: EarlierType
}

/** The schema of a field before a given Kubernetes version. */
export interface EarlierType {
  readonly until: KubeVersion
  readonly schema: Schema
}

/** Field definitions of an object type, by name. */
export interface Fields {
  readonly [name: string]: Field
}

/** The TypeScript type of the values that a schema describes. */
export type Infer<S> = S extends Typed<infer T> ? T : never
/** The TypeScript type of objects with these fields. All members are optional. */
export type InferFields<F extends Fields> = { -readonly [K in keyof F]?: Infer<F[K]['schema']> }

/** The options of a field. All of them may be omitted. */
export type FieldOptions = Partial<Omit<Field, 'schema' | 'tag' | 'within'>>

/** Creates a field. `tag` is its Protobuf field number. */
export function field<S extends Schema>(tag: number, schema: S, options: FieldOptions = {}): Field & { schema: S } {
  return { schema, tag, required: false, zeroValue: schema.type === 'object' ? 'keep' : 'omit', ...options }
}

/** Returns a string type in which some values exist only in some versions. */
export function withVersions<V extends string>(
  schema: StringSchema<V>,
  availability: { readonly [value in V]?: Availability },
): StringSchema<V> {
  return { ...schema, availability: availability as { readonly [value: string]: Availability } }
}

/** Returns a schema without validation, for objects that are completed later. */
export function unvalidated<T>({ check: _check, choice: _choice, ...schema }: ObjectSchema<T>): ObjectSchema<T> {
  return { ...schema, unvalidated: true }
}

/** Marks fields that are inline in JSON but belong to a nested Protobuf message with the given field number. */
export function inlined<F extends Fields>(number: number, fields: F): F {
  const entries = Object.entries(fields)
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, { ...inner, within: [number, ...(inner.within ?? [])] }]),
  ) as unknown as F
}

type ListOptions =
  | { list?: 'atomic' | 'set'; unique?: boolean; patch?: 'merge'; wrapped?: boolean; unmarked?: boolean }
  | { list: 'map'; keys: readonly string[]; unique?: boolean; patch?: 'merge'; mergeKey?: string; retainKeys?: boolean }

type AnyOptions = Pick<
  AnySchema,
  'granular' | 'untyped' | 'asSent' | 'described' | 'versioned' | 'pruned' | 'prunedSince' | 'alternatives'
>

/** Constructors for schemas. */
export const s = {
  string: (options: { listed?: readonly string[] } = {}): StringSchema<string> => ({ type: 'string', ...options }),
  oneOf: <const V extends string>(...values: readonly V[]): StringSchema<V> => ({ type: 'string', values }),
  boolean: (): BooleanSchema<boolean> => ({ type: 'boolean' }),
  int32: (): IntegerSchema<number> => ({ type: 'integer', bits: 32 }),
  int64: (): IntegerSchema<number> => ({ type: 'integer', bits: 64 }),
  number: (): NumberSchema<number> => ({ type: 'number' }),
  bytes: (options: { atomic?: boolean } = {}): BytesSchema<string> => ({ type: 'bytes', ...options }),
  time: (): TimeSchema<string> => ({ type: 'time', micro: false }),
  microTime: (): TimeSchema<string> => ({ type: 'time', micro: true }),
  quantity: (): QuantitySchema<string> => ({ type: 'quantity' }),
  intOrString: (): IntOrStringSchema<number | string> => ({ type: 'intOrString' }),
  any: (options: NamedType & AnyOptions = {}): AnySchema<Json> => ({
    type: 'any',
    ...options,
  }),
  map: <S extends Schema>(
    values: S,
    options: { key?: NameCheck; atomic?: boolean } = {},
  ): MapSchema<{ [key: string]: Infer<S> }> => ({
    type: 'map',
    values,
    ...options,
  }),
  list: <S extends Schema>(items: S, options: ListOptions = {}): ListSchema<Infer<S>[]> => ({
    type: 'list',
    items,
    list: 'atomic',
    ...options,
  }),
  object: <F extends Fields>(
    fields: F,
    options: Omit<ObjectSchema<InferFields<F>>, 'type' | 'fields' | 'infer'> = {},
  ): ObjectSchema<InferFields<F>> => ({
    type: 'object',
    fields,
    ...options,
  }),
}
