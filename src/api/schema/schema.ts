/**
 * The schema language: a closed union of nodes that describes the fields of a kind once.
 *
 * All code that depends on fields reads this structure: decoding, defaults, validation, merging, OpenAPI, Protobuf,
 * tables. Each reader is an exhaustive switch on `type`, so a new node type fails to compile until every reader
 * supports it. Kinds use the constructors in `s` and `field`; custom resources are translated at run time.
 *
 *     s.object({
 *       data: field(2, s.map(s.string(), { key: checkConfigKey }), { doc: 'Text, by key.' }),
 *       immutable: field(4, s.boolean(), { zeroValue: 'keep', doc: 'Whether the data is immutable.' }),
 *     })
 *
 * A field may say which Kubernetes versions have it and which feature gate it needs: `since`, `until` and `gate`. The
 * kinds of a version have only its fields (`kinds/of-version.ts`), so no reader of a schema asks for the version.
 *
 * Published types have a name: `NamespaceSpec` belongs to the group and version of its kind, `meta.v1.ObjectMeta` to
 * another package. The vendor's prefix of the published name is added later.
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

/** A type of values. `T` is the TypeScript type of the values. */
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
  /** Carries the TypeScript type of the values. Never set at run time. */
  readonly infer?: T
  /**
   * Validates the value beyond its type; for an object, the relations between fields. Called after defaulting with a
   * value that matches the schema. Required fields may still be missing (they are reported separately), so every field
   * of an object may be undefined. Expensive checks return a generator, so that other requests can run between its
   * steps.
   *
   * An inline function gets the type of the value from the fields before it. A separate function must name that type as
   * `InferFields<typeof fields>` of a constant `fields`, not as `Infer<typeof schema>`, because the compiler rejects
   * the circular type.
   *
   *     const fields = { min: field(1, s.int32()), max: field(2, s.int32()) }
   *     export const range = s.object(fields, { name: 'Range', doc: 'From min to max.', check: checkRange })
   *     function checkRange({ min = 0, max = 0 }: InferFields<typeof fields>, path: FieldPath): FieldError[] {...}
   */
  check?(value: T, path: FieldPath, context: RuleContext, effort?: Effort): FieldError[] | Sliced<FieldError[]>
  /**
   * For user-defined schemas: decoding keeps values of the wrong type for validation to reject, and drops nulls that
   * are not allowed. Before Kubernetes 1.25, errors name the list instead of the element.
   */
  readonly lenient?: boolean
  /** Whether null is a valid value. */
  readonly nullable?: boolean
  /** For user-defined schemas: replaces nulls in lists and maps. */
  readonly ifNull?: Json
  /** Whether values of any other type are valid and kept unchanged. */
  readonly anyType?: boolean
  /** For user-defined schemas: returns the errors for a value of the wrong type, possibly none. */
  misfit?(value: Json, path: FieldPath, context: RuleContext): FieldError[]
  /** Whether to skip validation of the parts because the value as a whole is invalid. */
  skipsParts?(value: Json, context: RuleContext): boolean
}

/** A type that is published under a name, with its description. */
interface NamedType {
  readonly name?: string
  readonly doc?: string
}

export interface StringSchema<T = unknown> extends Typed<T> {
  readonly type: 'string'
  readonly values?: readonly string[]
  /** Values that OpenAPI v3 lists since Kubernetes 1.24, although other values are reported by the rules of the kind. */
  readonly listed?: readonly string[]
  /** Values that not every version has. */
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
/** Base64 in JSON, raw bytes in Protobuf. */
export interface BytesSchema<T = unknown> extends Typed<T> {
  readonly type: 'bytes'
  /** Whether the type is published as an atomic list. Bytes are always atomic, but clients may look for the marker. */
  readonly atomic?: boolean
}
/** RFC 3339 times, with six decimals if `micro` is set, otherwise with whole seconds. */
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
/** Any JSON, kept unchanged. */
export interface AnySchema<T = unknown> extends Typed<T>, NamedType {
  readonly type: 'any'
  /**
   * Whether apply tracks the ownership of each object key. Otherwise the value is owned as a whole; lists always are.
   */
  readonly granular?: boolean
  /** Whether OpenAPI publishes the type without `type` instead of as an object. */
  readonly untyped?: boolean
  /** Whether the members of objects keep the order in which they were sent. */
  readonly asSent?: boolean
  /** The published fields of a type that is decoded elsewhere. In Protobuf, the fields of its message. */
  readonly described?: (vendor: Vendor) => ObjectSchema
  /** Whether the described fields differ between versions. */
  readonly versioned?: boolean
  /**
   * Whether decoding drops members that are in neither the description nor the alternatives. Otherwise they are kept.
   */
  readonly pruned?: boolean
  /** The first version in which the type is pruned, if earlier ones keep what they do not know. */
  readonly prunedSince?: KubeVersion
  /** In Protobuf, a message with one field per possible form of the value, instead of JSON in bytes. */
  readonly alternatives?: Alternatives
}

/** The Protobuf fields of the forms: a boolean, a list, or an object of this type. */
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
  /** Whether apply owns and replaces the map as a whole. */
  readonly atomic?: boolean
}
/** Lists. */
export interface ListSchema<T = unknown> extends Typed<T> {
  readonly type: 'list'
  readonly items: Schema
  /** How apply treats the list: as an atomic value, as a set of scalars, or as a map keyed by the fields in `keys`. */
  readonly list: 'atomic' | 'set' | 'map'
  readonly keys?: readonly string[]
  /** Whether duplicates in a set or keyed list are rejected. Otherwise the rules of the kind decide. */
  readonly unique?: boolean
  /** How a strategic merge patch treats the list: replace it, or merge it by `mergeKey` (scalars by value). */
  readonly patch?: 'merge' | 'replace'
  readonly mergeKey?: string
  /** In Protobuf, a message whose field 1 contains the elements. Lists in maps are always wrapped. */
  readonly wrapped?: boolean
  /** Whether the list is published without its type since Kubernetes 1.24. */
  readonly unmarked?: boolean
  /** Published because a patch can list the keys of an element to retain. All other keys are dropped. */
  readonly retainKeys?: boolean
}
/** Objects with known fields. */
export interface ObjectSchema<T = unknown> extends Typed<T>, NamedType {
  readonly type: 'object'
  readonly fields: Fields
  /** The fields that other versions have, by name. Set only in schemas that were derived for one version. */
  readonly otherVersions?: { readonly [name: string]: Availability }
  readonly atomic?: boolean
  /** Whether unknown fields are preserved instead of pruned. */
  readonly open?: boolean
  /** Whether this is a complete object embedded in a custom resource, with its own type and metadata. */
  readonly embedded?: boolean
  /** Exactly one of these fields must be set. */
  readonly choice?: Choice
  /** Returns the fields to skip in validation because an error elsewhere makes them meaningless. */
  leavesUnjudged?(value: T, context: RuleContext): readonly string[]
  /** Whether to skip the rules of the field types. */
  readonly unjudged?: boolean
  /** Whether writes keep fields whose gate is disabled: the fields of this type itself, or also all those below. */
  readonly keepsDisabledFields?: 'own' | 'all'
  /** Publishes the type in a custom form, such as a user-defined schema as its author wrote it. */
  readonly publish?: Publish
  /** Returns the path at which errors of the fields are reported, if it differs from that of the object. */
  faultsAt?(path: FieldPath, context: RuleContext): FieldPath
  /** Applies defaults that depend on sibling fields. Modifies the newly decoded value in place. */
  fill?(value: T, context: RuleContext): void
}

/** Writes a type for an OpenAPI document. */
export type Publish = (publishing: Publishing) => JsonObject

/** The arguments of a `Publish` function. */
export interface Publishing {
  readonly version: 2 | 3
  /** The Kubernetes version that the server emulates. */
  readonly emulated: EmulatedVersion
  /** Writes a field whose type is published under a name. */
  readonly writeField: (field: Field) => JsonObject
}

/**
 * A choice of one field. The first field of `among` that is set is validated. Any others are rejected without
 * validation.
 */
export interface Choice {
  readonly among: readonly string[]
  /** The noun for one of the fields in error messages, such as `volume type`. */
  readonly noun: string
}

/** A field of an object. */
export interface Field<T = unknown> extends Availability {
  readonly schema: Schema<T>
  /** The Protobuf field number. */
  readonly tag: number
  /** The field number of the nested Protobuf message that contains the field, if JSON has it inline. */
  readonly within?: number
  /** Whether validation rejects a missing or zero value. */
  readonly required: boolean
  /** Overrides whether the field is published as required. */
  readonly published?: 'required' | 'optional'
  /** The first version since 1.24 whose OpenAPI v3 documents contain the default. */
  readonly publishDefaultSince?: KubeVersion
  /** The first version that publishes the field as optional. */
  readonly optionalSince?: KubeVersion
  /**
   * How a zero value (`false`, `0`, `""`, empty list, map or object) is handled: `omit` drops it as if it had not been
   * sent, `keep` keeps it if it was sent, `write` adds it even if it was not sent.
   */
  readonly zeroValue: 'omit' | 'keep' | 'write'
  /** Whether an empty list or map that was sent is recorded before it is dropped: see `explicit-empty.ts`. */
  readonly emptyCounts?: boolean
  readonly default?: Json
  /**
   * When a disabled gate drops the field from objects: since a version, `never`, only from new objects (`onCreate`), or
   * only in writes to the object itself (`main`), not to its status. Unset means always.
   */
  readonly gateDrops?: KubeVersion | 'never' | 'onCreate' | 'main'
  /** Whether an object that is empty once the field is dropped because of its gate is dropped too. */
  readonly dropsEmptyOwner?: boolean
  /**
   * How a strategic merge patch treats an object in this field: `replace` replaces it as a whole, `retainKeys` merges
   * it and lets the patch list the keys to retain.
   */
  readonly patch?: 'replace' | 'retainKeys'
  /** Purpose of the field in one or two sentences. */
  readonly doc?: string
  /** The type under which the field was published in Kubernetes versions before `until`, if it differed. */
  readonly earlier?: EarlierType
}

/** The type of a field in earlier Kubernetes versions. */
export interface EarlierType {
  readonly until: KubeVersion
  readonly schema: Schema
}

/** Fields by name. */
export interface Fields {
  readonly [name: string]: Field
}

/** The TypeScript type of the values of a schema. */
export type Infer<S> = S extends Typed<infer T> ? T : never
/** The TypeScript type of objects with these fields. */
export type InferFields<F extends Fields> = { -readonly [K in keyof F]?: Infer<F[K]['schema']> }

export interface FieldOptions extends Availability {
  readonly required?: boolean
  readonly published?: 'required' | 'optional'
  /** The first version since 1.24 whose OpenAPI v3 documents contain the default. */
  readonly publishDefaultSince?: KubeVersion
  /** The first version that publishes the field as optional. */
  readonly optionalSince?: KubeVersion
  readonly zeroValue?: 'omit' | 'keep' | 'write'
  readonly emptyCounts?: boolean
  readonly gateDrops?: Field['gateDrops']
  readonly dropsEmptyOwner?: boolean
  readonly default?: Json
  readonly patch?: 'replace' | 'retainKeys'
  readonly doc?: string
  readonly earlier?: EarlierType
}

/** Creates a field; `tag` is its Protobuf field number. */
export function field<S extends Schema>(tag: number, schema: S, options: FieldOptions = {}): Field & { schema: S } {
  const zeroValue = options.zeroValue ?? (schema.type === 'object' ? 'keep' : 'omit')
  return {
    schema,
    tag,
    required: options.required ?? false,
    zeroValue,
    ...(options.published === undefined ? {} : { published: options.published }),
    ...(options.publishDefaultSince === undefined ? {} : { publishDefaultSince: options.publishDefaultSince }),
    ...(options.optionalSince === undefined ? {} : { optionalSince: options.optionalSince }),
    ...(options.emptyCounts === undefined ? {} : { emptyCounts: options.emptyCounts }),
    ...(options.gateDrops === undefined ? {} : { gateDrops: options.gateDrops }),
    ...(options.dropsEmptyOwner === undefined ? {} : { dropsEmptyOwner: options.dropsEmptyOwner }),
    ...(options.default === undefined ? {} : { default: options.default }),
    ...(options.patch === undefined ? {} : { patch: options.patch }),
    ...(options.doc === undefined ? {} : { doc: options.doc }),
    ...(options.earlier === undefined ? {} : { earlier: options.earlier }),
    ...(options.since === undefined ? {} : { since: options.since }),
    ...(options.until === undefined ? {} : { until: options.until }),
    ...(options.gate === undefined ? {} : { gate: options.gate }),
  }
}

/** Returns the type of strings with values that not every version has. */
export function withVersions<V extends string>(
  schema: StringSchema<V>,
  availability: { readonly [value in V]?: Availability },
): StringSchema<V> {
  return { ...schema, availability: availability as { readonly [value: string]: Availability } }
}

/** Returns the type without validation of its content, for values that are completed before use. */
export function unjudged<T>({ check: _check, choice: _choice, ...schema }: ObjectSchema<T>): ObjectSchema<T> {
  return { ...schema, unjudged: true }
}

/** Marks fields that are inline in JSON but belong to a nested Protobuf message with this field number. */
export function inlined<F extends Fields>(within: number, fields: F): F {
  return Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, { ...inner, within }])) as unknown as F
}

type ListOptions =
  | { list?: 'atomic' | 'set'; unique?: boolean; patch?: 'merge'; wrapped?: boolean; unmarked?: boolean }
  | { list: 'map'; keys: readonly string[]; unique?: boolean; patch?: 'merge'; mergeKey?: string; retainKeys?: boolean }

type AnyOptions = Pick<
  AnySchema,
  'granular' | 'untyped' | 'asSent' | 'described' | 'versioned' | 'pruned' | 'prunedSince' | 'alternatives'
>

/** Constructors of schemas. */
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
