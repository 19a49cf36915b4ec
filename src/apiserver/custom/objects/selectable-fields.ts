/** The fields of custom objects that field selectors can use. The definition lists them as simple JSON paths. */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import type { DefinitionVersion } from '../../../api/kinds/apiextensions/definition-fields.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooMany,
} from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { namesIn } from './custom-scale.ts'

/** Returns the selectable fields of a version as clients write them in field selectors, such as `spec.color`. */
export function selectablePaths({ selectableFields = [] }: DefinitionVersion): string[] {
  return selectableFields.map(({ jsonPath = '' }) => jsonPath.replace(/^\./, ''))
}

/** Returns a function that reads the selectable fields of an object. The value of a missing field is ''. */
export function selectableFields(paths: readonly string[]): (object: ApiObject) => { [path: string]: string } {
  const steps = paths.map((path) => [path, namesIn(`.${path}`)] as const)
  return (object) => Object.fromEntries(steps.map(([path, names]) => [path, textAt(asJson(object), names)]))
}

function textAt(object: JsonObject, names: readonly string[]): string {
  let value: Json | undefined = object
  for (const name of names) value = isObject(value) ? own(value, name) : undefined
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

const maxFields = 8

/** Validates the list of selectable fields in a version of a definition. `place` is the path of that version. */
export function selectableFieldFaults(
  { selectableFields = [], schema }: DefinitionVersion,
  prefix: string,
  place: FieldPath,
): FieldError[] {
  const path = child(place, 'selectableFields')
  if (selectableFields.length > maxFields) return [tooMany(path, selectableFields.length, maxFields)]
  const root = (schema?.openAPIV3Schema ?? {}) as JsonObject
  return selectableFields.flatMap(({ jsonPath = '' }, i) => {
    const where = child(at(path, i), 'jsonPath')
    if (selectableFields.slice(0, i).some((other) => other.jsonPath === jsonPath)) return [duplicate(where, jsonPath)]
    if (jsonPath === '') return [required(where)]
    const fault = pathFault(jsonPath, root, prefix)
    return fault === undefined ? [] : [invalid(where, jsonPath, fault)]
  })
}

const simplePath = /^(?:\.[A-Za-z_][A-Za-z0-9_-]*)+$/
const types: readonly (Json | undefined)[] = ['string', 'boolean', 'integer']

function pathFault(path: string, root: JsonObject, prefix: string): string | undefined {
  if (!simplePath.test(path)) return 'must be a simple path of field names, such as .spec.color'
  let schema: Json | undefined = root
  for (const name of namesIn(path))
    schema = isObject(schema) && isObject(schema.properties) ? own(schema.properties, name) : undefined
  if (!isObject(schema)) return 'must lead to a field of the schema'
  const isScalar = types.includes(schema.type) && schema[`${prefix}int-or-string`] !== true
  return isScalar ? undefined : 'must lead to a string, a boolean or an integer'
}
