/**
 * The schema language: a closed union of nodes that describes the fields of a kind once.
 *
 * Everything that needs to know a field is a reader of this structure: decoding, defaults, validation, merging,
 * OpenAPI, Protobuf, tables. A reader is an exhaustive switch on `type`, so a new node breaks the build at each of
 * them. Kinds write it with the constructors in `s` and `field`; custom resources are turned into it at run time.
 *
 *   s.object({
 *     data: field(2, s.map(s.string(), { key: checkConfigKey }), { doc: 'Text, by key.' }),
 *     immutable: field(4, s.boolean(), { zero: 'keep', doc: 'Whether the data may never change again.' }),
 *   })
 *
 * Types that are published under a name carry it: `NamespaceSpec` is one of the kind's own group and version,
 * `meta.v1.ObjectMeta` one of another. The vendor's part of the published name is not theirs to know.
 */

import type { Steps } from '../../base/concurrency/time-slice.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { FieldError, FieldPath } from '../model/field-error.ts'
import type { NameCheck } from '../model/names.ts'
import type { Vendor } from '../model/vendor.ts'
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
  /** Carries the TypeScript type of the values; never present at run time. */
  readonly infer?: T
  /**
   * Rules for the value beyond its type; for an object those that span several fields. It is called after defaults,
   * with a value that fits the schema, but even when `required` fields are missing (those are reported anyway): every
   * field of an object may be undefined. One that looks at much does so in steps, between which others have their turn.
   *
   * Written in place, it gets the type of the value from the fields before it. As a function of its own it names that
   * type: `InferFields<typeof fields>` of a constant `fields`, not `Infer<typeof schema>`, because a schema whose type
   * depends on a function that names it is a circle to the compiler.
   *
   *   const fields = { min: field(1, s.int32()), max: field(2, s.int32()) }
   *   export const range = s.object(fields, { name: 'Range', doc: 'From min to max.', check: checkRange })
   *   function checkRange({ min = 0, max = 0 }: InferFields<typeof fields>, path: FieldPath): FieldError[] {...}
   */
  check?(value: T, path: FieldPath, context: RuleContext, effort?: Effort): FieldError[] | Steps<FieldError[]>
  /**
   * For schemas that users write: a value of another type passes decoding, is kept, and validation refuses
   * it; null is left out, unless it is allowed. Faults name a list, not the element.
   */
  readonly lenient?: boolean
  /** Null is a value like any other. */
  readonly nullable?: boolean
  /** For schemas that users write: what a null becomes that is an element of a list or a value of a map. */
  readonly ifNull?: Json
  /** Values of any other type are kept as they are, and are no fault. */
  readonly anyType?: boolean
  /** For schemas that users write: what is wrong with the type of a value, which may be nothing. */
  misfit?(value: Json, path: FieldPath): FieldError[]
  /** Whether the parts of a value are not judged, since the value as a whole is wrong. */
  skipsParts?(value: Json): boolean
}

/** A type that is published under a name of its own, with what it is for. */
interface Named {
  readonly name?: string
  readonly doc?: string
}

export interface StringSchema<T = unknown> extends Typed<T> {
  readonly type: 'string'
  readonly values?: readonly string[]
}
export interface BooleanSchema<T = unknown> extends Typed<T> {
  readonly type: 'boolean'
}
/** Whole numbers. */
export interface IntegerSchema<T = unknown> extends Typed<T> {
  readonly type: 'integer'
  readonly bits: 32 | 64
}
export interface NumberSchema<T = unknown> extends Typed<T> {
  readonly type: 'number'
}
/** Base64 in JSON, raw in Protobuf. */
export interface BytesSchema<T = unknown> extends Typed<T> {
  readonly type: 'bytes'
  /** Published as a list that is owned as a whole, which bytes are anyway: clients may look for the mark. */
  readonly atomic?: boolean
}
/** RFC 3339; `micro` keeps six decimals, else whole seconds. */
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
/** Any JSON, kept as it is. */
export interface AnySchema<T = unknown> extends Typed<T>, Named {
  readonly type: 'any'
  /** Objects in it are owned key by key by apply, lists as a whole; else the value is owned as a whole. */
  readonly granular?: boolean
  /** Published as a value of any type, and not as an object. */
  readonly untyped?: boolean
  /** The members of its objects stay in the order in which they were sent. */
  readonly asSent?: boolean
  /** What is published of its fields, for one that is read elsewhere; in Protobuf the message that it is. */
  readonly described?: (vendor: Vendor) => ObjectSchema
  /** What its description or its alternatives do not know is left out when it is read; else it is kept as it is. */
  readonly pruned?: boolean
  /** In Protobuf a message with a field for each form that the value may have, and not JSON in bytes. */
  readonly alternatives?: Alternatives
}

/** The fields of the forms: `true` or `false`, a list, or an object of this type. */
export interface Alternatives {
  readonly boolean?: number
  readonly list?: { readonly tag: number; readonly items: Schema }
  readonly object: { readonly tag: number; readonly schema: Schema }
}
/** Objects whose keys are chosen by users. */
export interface MapSchema<T = unknown> extends Typed<T> {
  readonly type: 'map'
  readonly values: Schema
  readonly key?: NameCheck
  /** Owned and replaced as a whole by apply. */
  readonly atomic?: boolean
}
/** Lists. */
export interface ListSchema<T = unknown> extends Typed<T> {
  readonly type: 'list'
  readonly items: Schema
  /** How apply sees the list: one value, a set of scalars, or a map by the fields in `keys`. */
  readonly list: 'atomic' | 'set' | 'map'
  readonly keys?: readonly string[]
  /** Elements of a set or keyed list that occur twice are refused; else that is left to the rules of the kind. */
  readonly unique?: boolean
  /** How a strategic merge patch sees it: replaced, or merged by `mergeKey` (scalars: by value). */
  readonly patch?: 'merge' | 'replace'
  readonly mergeKey?: string
  /** In Protobuf a message whose field 1 are the elements. So is every list in a map, which needs no word. */
  readonly wrapped?: boolean
  /** Published, so that clients who merge say in a patch which keys of an element are left, and drop all others. */
  readonly retainKeys?: boolean
}
/** Objects with known fields. */
export interface ObjectSchema<T = unknown> extends Typed<T>, Named {
  readonly type: 'object'
  readonly fields: Fields
  readonly atomic?: boolean
  /** Fields that are not described are kept, not pruned. */
  readonly open?: boolean
  /** A whole object inside a custom one: it has a type and metadata of its own. */
  readonly embedded?: boolean
  /** Fields of which exactly one must be there. */
  readonly choice?: Choice
  /** The fields that are not judged, given the others: a fault elsewhere leaves nothing to say of them. */
  leavesUnjudged?(value: T): readonly string[]
  /** Its fields are kept as they are, whatever the rules of their types say. */
  readonly unjudged?: boolean
  /** How it is published, where that is not by its fields: a user's schema is, as its author wrote it. */
  readonly publish?: Publish
  /** Where faults of the fields are reported, if that is not where the object is. */
  faultsAt?(path: FieldPath): FieldPath
  /** Defaults that depend on sibling fields. Changes the value, which is freshly decoded. */
  fill?(value: T, context: RuleContext): void
}

/** Writes a type for a document of OpenAPI. */
export type Publish = (publishing: Publishing) => JsonObject

/** What `Publish` has at hand. */
export interface Publishing {
  readonly version: 2 | 3
  /** Writes a field whose type is published under a name of its own. */
  readonly writeField: (field: Field) => JsonObject
}

/** The first of these fields that is there, in this order, is the one that counts; further ones are refused unseen. */
export interface Choice {
  readonly among: readonly string[]
  /** What one of them is called in messages: `volume type`. */
  readonly noun: string
}

/** A field of an object. */
export interface Field<T = unknown> {
  readonly schema: Schema<T>
  /** The Protobuf field number. */
  readonly tag: number
  /** The number of the Protobuf message that holds the field, where JSON has it flat in the object itself. */
  readonly within?: number
  /** An absent or zero value is an error of validation. */
  readonly required: boolean
  /** What the published description says of it where that differs from what validation and writing show. */
  readonly published?: 'required' | 'optional'
  /**
   * What happens to a zero value (`false`, `0`, `""`, empty list or map, empty object): `omit` drops it, as if it had
   * not been sent; `keep` keeps one that was sent; `write` puts it there even if not sent.
   */
  readonly zero: 'omit' | 'keep' | 'write'
  /** An empty list or map that was sent is dropped, but is noted for rules that need it: see `explicit-empty.ts`. */
  readonly emptyCounts?: boolean
  readonly default?: Json
  /**
   * How a strategic merge patch sees an object here, where it does not merge it: as one whole; or it merges it, and is
   * told that clients who merge say which keys are left.
   */
  readonly patch?: 'replace' | 'retainKeys'
  /** What the field is for, in a sentence or two. */
  readonly doc?: string
}

/** Fields by their names. */
export interface Fields {
  readonly [name: string]: Field
}

/** The TypeScript type of the values of a schema. */
export type Infer<S> = S extends Typed<infer T> ? T : never
/** The TypeScript type of objects with these fields. */
export type InferFields<F extends Fields> = { -readonly [K in keyof F]?: Infer<F[K]['schema']> }

export interface FieldOptions {
  readonly required?: boolean
  readonly published?: 'required' | 'optional'
  readonly zero?: 'omit' | 'keep' | 'write'
  readonly emptyCounts?: boolean
  readonly default?: Json
  readonly patch?: 'replace' | 'retainKeys'
  readonly doc?: string
}

/** Makes a field; `tag` is its Protobuf number. */
export function field<S extends Schema>(tag: number, schema: S, options: FieldOptions = {}): Field & { schema: S } {
  const zero = options.zero ?? (schema.type === 'object' ? 'keep' : 'omit')
  return {
    schema,
    tag,
    required: options.required ?? false,
    zero,
    ...(options.published === undefined ? {} : { published: options.published }),
    ...(options.emptyCounts === undefined ? {} : { emptyCounts: options.emptyCounts }),
    ...(options.default === undefined ? {} : { default: options.default }),
    ...(options.patch === undefined ? {} : { patch: options.patch }),
    ...(options.doc === undefined ? {} : { doc: options.doc }),
  }
}

/** The same type where what it holds is not judged, since others complete it before it is used. */
export function unjudged<T>({ check: _check, choice: _choice, ...schema }: ObjectSchema<T>): ObjectSchema<T> {
  return { ...schema, unjudged: true }
}

/** Fields that JSON has flat and Protobuf in a message of its own, under this number. */
export function inlined<F extends Fields>(within: number, fields: F): F {
  return Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, { ...inner, within }])) as unknown as F
}

type ListOptions =
  | { list?: 'atomic' | 'set'; unique?: boolean; patch?: 'merge'; wrapped?: boolean }
  | { list: 'map'; keys: readonly string[]; unique?: boolean; patch?: 'merge'; mergeKey?: string; retainKeys?: boolean }

/** Makes schemas. */
export const s = {
  string: (): StringSchema<string> => ({ type: 'string' }),
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
  any: (
    options: Named & Pick<AnySchema, 'granular' | 'untyped' | 'asSent' | 'described' | 'pruned' | 'alternatives'> = {},
  ): AnySchema<Json> => ({
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
