/**
 * Validates the vendor extensions of a schema: merge strategies of lists and maps, and the preservation of unknown
 * fields.
 */

import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../api/model/field-error.ts'
import { listOf, type SchemaReader } from './schema-parts.ts'

type ExtensionReader = Pick<SchemaReader, 'prefix' | 'isNew'>

const mapTypes = ['atomic', 'granular']
const listTypes = ['atomic', 'set', 'map']

export function extensionFaults(schema: JsonObject, reader: ExtensionReader, path: FieldPath): FieldError[] {
  const { prefix } = reader
  const extension = (name: string) => ({ place: child(path, `${prefix}${name}`), value: schema[`${prefix}${name}`] })
  const preserve = extension('preserve-unknown-fields')
  const mapType = extension('map-type')
  return [
    ...(preserve.value != null && preserve.value !== true
      ? [invalid(preserve.place, preserve.value, 'must be true or undefined')]
      : []),
    ...(mapType.value == null ? [] : needType(schema, path, ['object', `${prefix}map-type is specified`])),
    ...(mapType.value == null || mapTypes.includes(mapType.value as string)
      ? []
      : [notSupported(mapType.place, mapType.value, mapTypes)]),
    ...listFaults(schema, reader, path),
  ]
}

/** Returns an error if one of a schema's keywords requires a type that the schema does not have. */
export function needType(
  { type }: JsonObject,
  path: FieldPath,
  [requiredType, why]: readonly [type: string, why: string],
): FieldError[] {
  const text = `must be ${requiredType} if ${why}`
  const place = child(path, 'type')
  if (type === requiredType) return []
  return [type == null || type === '' ? required(place, text) : invalid(place, type, text)]
}

function listFaults(schema: JsonObject, reader: ExtensionReader, path: FieldPath): FieldError[] {
  const { prefix } = reader
  const listType = schema[`${prefix}list-type`]
  const keys = listOf(schema[`${prefix}list-map-keys`])
  const place = child(path, `${prefix}list-type`)
  const onlyMap = `must be map if ${prefix}list-map-keys is non-empty`
  if (listType == null) return keys.length === 0 ? [] : [required(place, onlyMap)]
  const isKnown = listTypes.includes(listType as string)
  return [
    ...needType(schema, path, ['array', `${prefix}list-type is specified`]),
    ...(isKnown ? [] : [notSupported(place, listType, listTypes)]),
    ...(keys.length > 0 && listType !== 'map' ? [invalid(place, listType, onlyMap)] : []),
    ...(listType === 'set' && schema.type === 'array' ? setFaults(schema.items, reader, path) : []),
    ...(listType === 'map' ? mapListFaults({ items: schema.items, keys }, reader, path) : []),
  ]
}

/** Checks the elements of a set. Elements are compared as whole values, so they must be atomic. */
function setFaults(items: Json | undefined, reader: ExtensionReader, path: FieldPath): FieldError[] {
  if (!isObject(items)) return []
  const place = child(path, 'items')
  const mapType = `${reader.prefix}map-type`
  const listType = `${reader.prefix}list-type`
  const text = 'must be atomic in a set'
  return [
    ...(items.type === 'object' && items[mapType] !== 'atomic'
      ? [invalid(child(place, mapType), items[mapType] ?? null, text)]
      : []),
    ...(items.type === 'array' && (items[listType] ?? 'atomic') !== 'atomic'
      ? [invalid(child(place, listType), items[listType]!, text)]
      : []),
    ...neverNull(items, reader, place),
  ]
}

function mapListFaults(
  { items, keys }: { readonly items: Json | undefined; readonly keys: readonly Json[] },
  reader: ExtensionReader,
  path: FieldPath,
): FieldError[] {
  const place = child(path, `${reader.prefix}list-map-keys`)
  const none = keys.length === 0 ? [required(place, `must not be empty if ${reader.prefix}list-type is map`)] : []
  if (items == null)
    return [...none, required(child(path, 'items'), 'a list with list-type map requires an items schema')]
  if (!isObject(items)) return none
  const itemsPath = child(path, 'items')
  const nullable = neverNull(items, reader, itemsPath)
  if (items.type !== 'object')
    return [
      ...none,
      ...nullable,
      invalid(child(itemsPath, 'type'), items.type, 'must be object in a list with list-type map'),
    ]
  const properties = isObject(items.properties) ? items.properties : {}
  const isProperty = (key: Json) => typeof key === 'string' && Object.hasOwn(properties, key)
  const needed = listOf(items.required)
  return [
    ...none,
    ...nullable,
    ...(keys.every(isProperty) ? [] : [invalid(place, [...keys], 'entries must all be names of item properties')]),
    ...(new Set(keys).size === keys.length ? [] : [invalid(place, [...keys], 'must not contain duplicate entries')]),
    ...keys.filter(isProperty).flatMap((key) =>
      keyFaults(properties[key as string]!, reader, {
        path: at(child(itemsPath, 'properties'), key as string),
        isRequired: needed.includes(key),
      }),
    ),
  ]
}

/** Checks the keys of a list. A key must be a scalar that every element has. */
function keyFaults(
  property: Json,
  reader: ExtensionReader,
  { path, isRequired }: { readonly path: FieldPath; readonly isRequired: boolean },
): FieldError[] {
  if (!isObject(property)) return []
  const isScalar = property.type !== 'object' && property.type !== 'array'
  return [
    ...(isScalar ? [] : [invalid(child(path, 'type'), property.type, 'a key must be a scalar')]),
    ...(isRequired || property.default != null
      ? []
      : [required(child(path, 'default'), 'a list-map key must be required or have a default')]),
    ...neverNull(property, reader, path),
  ]
}

function neverNull({ nullable }: JsonObject, { isNew }: ExtensionReader, path: FieldPath): FieldError[] {
  return isNew && nullable === true ? [forbidden(child(path, 'nullable'), 'a compared item cannot be nullable')] : []
}
