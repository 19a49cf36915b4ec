/**
 * Derives the schemas and kinds of one Kubernetes version from their definitions, which describe all versions. The
 * result contains only the fields, enum values, columns and subresources that the version has. If a version does not
 * differ from the definition, the result is the definition itself. Results are cached per version, because other caches
 * use schemas and kinds as keys. Feature gates have no effect: a field behind a disabled gate stays in the schema.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { Vendor } from '../model/vendor.ts'
import { type Availability, exists } from '../versions/availability.ts'
import { type EmulatedVersion, isAtLeast, type KubeVersion } from '../versions/emulated-version.ts'
import type { Kind } from './kind.ts'
import type { AnySchema, Field, Fields, ObjectSchema, Schema, StringSchema } from './schema.ts'

/** Returns the derivation for a Kubernetes version. All callers share one derivation per version. */
export function derivation(version: EmulatedVersion): Derivation {
  let derivationOfVersion = derivations.get(version)
  if (derivationOfVersion === undefined) {
    derivationOfVersion = new Derivation(version)
    derivations.set(version, derivationOfVersion)
  }
  return derivationOfVersion
}

const derivations = new Map<EmulatedVersion, Derivation>()

/** Derives the schemas and kinds of one version. */
class Derivation {
  readonly version: EmulatedVersion
  readonly #schemas = new WeakMap<Schema, Schema>()
  readonly #kinds = new WeakMap<Kind, Kind>()

  constructor(version: EmulatedVersion) {
    this.version = version
  }

  /** Returns the schema as it is in this version. */
  schema<S extends Schema>(schema: S): S {
    let derived = this.#schemas.get(schema)
    if (derived === undefined) {
      derived = this.#derive(schema)
      this.#schemas.set(schema, derived)
      // Deriving a schema that is already derived returns that schema unchanged.
      this.#schemas.set(derived, derived)
    }
    return derived as S
  }

  /** Returns the kind as it is in this version, even if the version does not serve it. */
  kind<K extends Kind>(kind: K): K {
    let derived = this.#kinds.get(kind)
    if (derived === undefined) {
      derived = this.#deriveKind(kind)
      this.#kinds.set(kind, derived)
      this.#kinds.set(derived, derived)
    }
    return derived as K
  }

  #exists(part: Availability): boolean {
    return exists(part, this.version)
  }

  #derive(schema: Schema): Schema {
    switch (schema.type) {
      case 'object':
        return this.#object(schema)
      case 'list': {
        const items = this.schema(schema.items)
        return items === schema.items ? schema : { ...schema, items }
      }
      case 'map': {
        const values = this.schema(schema.values)
        return values === schema.values ? schema : { ...schema, values }
      }
      case 'any':
        return this.#any(schema)
      case 'string':
        return schema.availability === undefined ? schema : this.#string(schema, schema.availability)
      case 'boolean':
      case 'integer':
      case 'number':
      case 'bytes':
      case 'time':
      case 'quantity':
      case 'intOrString':
        return schema
      default:
        return schema satisfies never
    }
  }

  #object(schema: ObjectSchema): ObjectSchema {
    const all = Object.entries(schema.fields as Fields)
    // Most types are the same in every version, so the fields are copied only if one of them differs.
    if (all.every(([, field]) => this.#exists(field) && this.schema(this.#typeOf(field)) === field.schema))
      return schema
    const fields: { [name: string]: Field } = {}
    const otherVersions: { [name: string]: Availability } = {}
    for (const [name, field] of all) {
      if (!this.#exists(field)) {
        otherVersions[name] = field
        continue
      }
      const derived = this.schema(this.#typeOf(field))
      fields[name] = derived === field.schema ? field : { ...field, schema: derived }
    }
    const { choice } = schema
    return {
      ...schema,
      fields,
      ...(choice && { choice: { ...choice, among: choice.among.filter((name) => Object.hasOwn(fields, name)) } }),
      ...(Object.keys(otherVersions).length > 0 && { otherVersions }),
    }
  }

  #typeOf({ schema, earlier }: Field): Schema {
    return earlier === undefined || isAtLeast(this.version, earlier.until) ? schema : earlier.schema
  }

  #any(schema: AnySchema): AnySchema {
    const { described, alternatives, versioned, prunedSince } = schema
    if (versioned !== true) return schema
    return {
      ...schema,
      ...(prunedSince && isAtLeast(this.version, prunedSince) && { pruned: true }),
      ...(described && { described: memoizeByObject((vendor: Vendor) => this.schema(described(vendor))) }),
      ...(alternatives && {
        alternatives: {
          ...alternatives,
          object: { ...alternatives.object, schema: this.schema(alternatives.object.schema) },
          ...(alternatives.list && {
            list: { ...alternatives.list, items: this.schema(alternatives.list.items) },
          }),
        },
      }),
    }
  }

  #string(schema: StringSchema, availability: { readonly [value: string]: Availability }): StringSchema {
    const values = schema.values?.filter((value) => {
      const own = Object.hasOwn(availability, value) ? availability[value] : undefined
      return own === undefined || this.#exists(own)
    })
    return values === undefined || values.length === schema.values?.length ? schema : { ...schema, values }
  }

  #deriveKind(kind: Kind): Kind {
    const changes: { -readonly [K in keyof Kind]?: Kind[K] } = {}
    const schema = this.schema(kind.schema)
    if (schema !== kind.schema) changes.schema = schema
    const views = this.#views(kind)
    if (views !== kind.views) changes.views = views
    if (kind.conversion !== undefined) {
      const stored = this.kind(kind.conversion.stored)
      if (stored !== kind.conversion.stored) changes.conversion = { ...kind.conversion, stored }
    }
    const isEarly = this.#isBeforeDeprecation(kind)
    if (!isEarly && Object.keys(changes).length === 0) return kind
    const { deprecated, ...rest } = kind
    return { ...(isEarly ? rest : kind), ...changes }
  }

  #isBeforeDeprecation({ deprecated }: Kind): boolean {
    if (deprecated === undefined || !('since' in deprecated)) return false
    return !isAtLeast(this.version, deprecated.warnsSince ?? deprecated.since)
  }

  #views({ views }: Kind): Kind['views'] {
    const { columns, subresources, selectableSince } = views
    const changes: { -readonly [K in keyof Kind['views']]?: Kind['views'][K] } = { ...this.#selectable(views) }
    if (columns?.some((column) => !this.#exists(column)))
      changes.columns = columns.filter((column) => this.#exists(column))
    const derived = subresources && this.#subresources(subresources)
    if (derived !== undefined && derived !== subresources) changes.subresources = derived
    if (Object.keys(changes).length === 0 && !this.#lacksSelectors(selectableSince)) return views
    const { selectable, ...rest } = views
    const keepsSelectors = selectable !== undefined && !this.#lacksSelectors(selectableSince)
    return { ...rest, ...(keepsSelectors && { selectable }), ...changes }
  }

  /** Returns the fields that field selectors support in the version. */
  #selectable({ selectable, laterSelectable = {} }: Kind['views']): Pick<Kind['views'], 'selectable'> {
    const later = Object.keys(laterSelectable).filter((path) => !isAtLeast(this.version, laterSelectable[path]!))
    if (selectable === undefined || later.length === 0) return {}
    const isKnown = ([path]: [string, string]) => !later.includes(path)
    return { selectable: (object) => Object.fromEntries(Object.entries(selectable(object)).filter(isKnown)) }
  }

  #lacksSelectors(since: KubeVersion | undefined): boolean {
    return since !== undefined && !isAtLeast(this.version, since)
  }

  #subresources(all: NonNullable<Kind['views']['subresources']>): NonNullable<Kind['views']['subresources']> {
    let differs = false
    const derived = Object.entries(all).flatMap(([name, view]) => {
      const kind = view.as && this.kind(view.as.kind)
      const isSame = this.#exists(view) && kind === view.as?.kind
      differs ||= !isSame
      if (!this.#exists(view)) return []
      return [[name, isSame ? view : { ...view, as: { ...view.as!, kind: kind! } }] as const]
    })
    return differs ? Object.fromEntries(derived) : all
  }
}
