/** Finds the field at a path in the schema of a kind. */
import { badRequest } from '../model/api-error.ts'
import { type FieldSteps, fieldPathText } from './field-path.ts'
import type { Schema } from './schema.ts'

/**
 * The type of a field, and whether its path passes through a list. If so, an object can have several values for the
 * field.
 */
export interface FoundField {
  readonly schema: Schema
  readonly isRepeated: boolean
}

/**
 * Finds the field at a path. Throws error 400 if the kind has no such field. Within content that has no schema, any
 * path is valid.
 */
export function findField(root: Schema, steps: FieldSteps, parameter: string): FoundField {
  let schema = root
  let isRepeated = false
  for (const [depth, name] of steps.entries()) {
    while (schema.type === 'list') {
      schema = schema.items
      isRepeated = true
    }
    const child = childOf(schema, name)
    if (child === undefined) {
      const path = JSON.stringify(fieldPathText(steps.slice(0, depth + 1)).slice(0, 200))
      throw badRequest(`${parameter}: ${path} is not a field of this kind`)
    }
    schema = child
  }
  return { schema, isRepeated }
}

const anything: Schema = { type: 'any' }

function childOf(schema: Schema, name: string): Schema | undefined {
  if (schema.type === 'any' || schema.anyType === true) return anything
  if (schema.type === 'map') return schema.values
  if (schema.type !== 'object') return undefined
  if (Object.hasOwn(schema.fields, name)) return schema.fields[name]!.schema
  return schema.open === true || schema.embedded === true ? anything : undefined
}
