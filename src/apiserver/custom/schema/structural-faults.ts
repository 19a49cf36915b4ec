/**
 * Validates that a schema is structural: every node must have a type outside of `allOf`, `anyOf`, `oneOf` and `not`,
 * which may only add constraints.
 */

import { isObject, type Json, type JsonObject, own, sameJson } from '../../../api/json/json.ts'
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../api/model/field-error.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import { needType } from './schema-extensions.ts'
import { addFaults, type Faults, listOf, logic, membersOf, partsOf, type SchemaReader } from './schema-parts.ts'

/** Validates that a schema is structural. The types of its keywords have already been checked. */
export function* structuralFaults(schema: JsonObject, reader: SchemaReader, path: FieldPath): Faults {
  const faults = yield* nodeFaults(schema, { ...reader, isRoot: true }, path)
  return reader.isNew ? [...faults, ...(yield* incompleteFaults(schema, schema, path))] : faults
}

interface StructureReader extends SchemaReader {
  readonly isRoot: boolean
}

function* nodeFaults(schema: JsonObject, reader: StructureReader, path: FieldPath): Faults {
  yield
  const below = { ...reader, isRoot: false }
  const faults = [
    ...typeFaults(schema, reader, path),
    ...embeddedFaults(schema, reader, path),
    ...metadataFaults(schema, reader, path),
    ...patternFaults(schema, reader, path),
    ...(schema.type === 'array' && schema.items == null ? [required(child(path, 'items'), 'must be specified')] : []),
  ]
  for (const part of partsOf(schema, path)) {
    const isStructure = !isLogic(part.keyword)
    if (isStructure && isObject(part.schema)) addFaults(faults, yield* nodeFaults(part.schema, below, part.path))
  }
  return [...faults, ...(yield* logicFaults(schema, { ...reader, place: 'structure' }, path))]
}

function isLogic(keyword: string): boolean {
  return keyword === 'not' || logic.some((each) => each === keyword)
}

function typeFaults(schema: JsonObject, reader: StructureReader, path: FieldPath): FieldError[] {
  const { prefix, isRoot, isNew, version } = reader
  const { type } = schema
  const place = child(path, 'type')
  const intOrString = schema[`${prefix}int-or-string`] === true
  const isFree = intOrString || schema[`${prefix}preserve-unknown-fields`] === true
  const isUnsaid = type == null || type === ''
  // Since Kubernetes 1.25, types in logic keywords are ignored.
  if (intOrString && !isUnsaid && isNew && !isAtLeast(version, '1.25'))
    return [invalid(place, type, `must be empty if ${prefix}int-or-string is true`)]
  // For an embedded resource, another check reports the missing type.
  if (isUnsaid)
    return isFree || schema[`${prefix}embedded-resource`] === true ? [] : [required(place, 'must not be empty')]
  return isRoot && type !== 'object' ? [invalid(place, type, 'must be object at the root')] : []
}

/** Validates the keywords that declare embedded resources and int-or-string values. */
function embeddedFaults(schema: JsonObject, reader: StructureReader, path: FieldPath): FieldError[] {
  const { prefix, isNew, isRoot } = reader
  const isTrue = (name: string) => schema[`${prefix}${name}`] === true
  const isEmbedded = isTrue('embedded-resource')
  const others = child(path, 'additionalProperties')
  const never = (name: string) =>
    isNew && isTrue('int-or-string') && isTrue(name)
      ? [invalid(child(path, `${prefix}${name}`), true, `must be false if ${prefix}int-or-string is true`)]
      : []
  return [
    ...(isEmbedded ? needType(schema, path, ['object', `${prefix}embedded-resource is true`]) : []),
    ...(isEmbedded && !isTrue('preserve-unknown-fields') && membersOf(schema.properties).length === 0
      ? [required(child(path, 'properties'), `must not be empty if ${prefix}embedded-resource is true`)]
      : []),
    ...never('preserve-unknown-fields'),
    ...never('embedded-resource'),
    ...(isNew && schema.additionalProperties != null && (isRoot || isEmbedded)
      ? [forbidden(others, 'must not be set at the root of an object schema')]
      : []),
  ]
}

/**
 * Validates a schema's constraints on apiVersion, kind and metadata, which the server defines. A schema may only
 * restrict name and generateName.
 */
function metadataFaults(schema: JsonObject, reader: StructureReader, path: FieldPath): FieldError[] {
  const { prefix, isNew, isRoot } = reader
  const isWhole = isRoot || schema[`${prefix}embedded-resource`] === true
  const member = (name: string) => {
    const property = isObject(schema.properties) ? own(schema.properties, name) : undefined
    return isObject(property) ? property : undefined
  }
  const metadata = member('metadata')
  const wrong = (name: string, requiredType: string) => {
    const { type } = member(name) ?? { type: requiredType }
    const place = `${child(path, 'properties')}[${name}].type`
    return isNew && isWhole && type !== requiredType ? [invalid(place, type, `must be ${requiredType}`)] : []
  }
  return [
    ...wrong('kind', 'string'),
    ...wrong('apiVersion', 'string'),
    ...wrong('metadata', 'object'),
    ...(isRoot && metadata !== undefined && saysMore(metadata, isNew)
      ? [
          forbidden(
            `${child(path, 'properties')}[metadata]`,
            'must not specify anything other than name and generateName',
          ),
        ]
      : []),
  ]
}

function saysMore({ type: _, default: _d, properties, ...others }: JsonObject, isNew: boolean): boolean {
  if (membersOf(properties).some(([name]) => name !== 'name' && name !== 'generateName')) return true
  return isNew && Object.values(others).some(isSet)
}

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false && value !== ''
}

function patternFaults({ pattern }: JsonObject, { compile }: SchemaReader, path: FieldPath): FieldError[] {
  if (typeof pattern !== 'string') return []
  const compiled = compile(pattern)
  if (compiled.outcome === 'pattern') return []
  return [invalid(child(path, 'pattern'), pattern, `must be a valid pattern: ${compiled.why}`)]
}

/** The position of a constraint: directly in a structural node, in the first element of its `allOf`, or elsewhere. */
interface DemandReader extends SchemaReader {
  readonly place: 'structure' | 'first of all' | 'demand'
}

/**
 * The only type constraint allowed in logic keywords: an `anyOf` with the alternatives integer and string, in this
 * order.
 */
const intOrString: Json = [{ type: 'integer' }, { type: 'string' }]

function* logicFaults(schema: JsonObject, reader: DemandReader, path: FieldPath): Faults {
  const { place } = reader
  const faults: FieldError[] = []
  for (const part of partsOf(schema, path).filter(({ keyword }) => isLogic(keyword))) {
    const { keyword } = part
    if (keyword === 'anyOf' && place !== 'demand' && sameJson(schema.anyOf, intOrString)) continue
    const isFirst = keyword === 'allOf' && part.schema === listOf(schema.allOf)[0] && place === 'structure'
    const below = { ...reader, place: isFirst ? 'first of all' : 'demand' } as const
    if (isObject(part.schema)) addFaults(faults, yield* demandFaults(part.schema, below, part.path))
  }
  return faults
}

/** Keywords that define the structure and are not allowed in constraints. */
const structural = ['type', 'title', 'description', 'default', 'additionalProperties', 'nullable']

function* demandFaults(schema: JsonObject, reader: DemandReader, path: FieldPath): Faults {
  yield
  const demands = { ...reader, place: 'demand' } as const
  const shaping = Object.entries(schema).filter(
    ([key, value]) => isSet(value) && (structural.includes(key) || key.startsWith(reader.prefix)),
  )
  const faults = [
    ...shaping.map(([key]) => forbidden(child(path, key), 'must be empty to be structural')),
    ...patternFaults(schema, reader, path),
  ]
  for (const { keyword, name, schema: part, path: place } of partsOf(schema, path)) {
    if (!isObject(part) || (keyword !== 'properties' && keyword !== 'items')) continue
    if (reader.isNew && name === 'metadata') faults.push(forbidden(place, 'must not be specified in a nested context'))
    addFaults(faults, yield* demandFaults(part, demands, place))
  }
  return [...faults, ...(yield* logicFaults(schema, reader, path))]
}

/** Requires the structure to declare every field that a constraint mentions. `path` is the path of the structure. */
function* incompleteFaults(demands: JsonObject, structure: JsonObject, path: FieldPath): Faults {
  yield
  const faults: FieldError[] = []
  for (const { keyword, schema } of partsOf(demands, path))
    if (isLogic(keyword) && isObject(schema)) addFaults(faults, yield* incompleteDemand(schema, structure, path))
  return faults
}

function* incompleteDemand(demand: JsonObject, structure: JsonObject, path: FieldPath): Faults {
  const faults = yield* incompleteFaults(demand, structure, path)
  for (const { keyword, name, schema, path: place } of partsOf(demand, path)) {
    if (!isObject(schema) || (keyword !== 'properties' && keyword !== 'items')) continue
    const parts = keyword === 'items' ? structure : structure.properties
    const part = isObject(parts) ? own(parts, name ?? 'items') : undefined
    if (isObject(part)) addFaults(faults, yield* incompleteDemand(schema, part, place))
    else faults.push(required(place, 'is constrained, but is not part of the structure'))
  }
  return faults
}
