/** Sets and removes environment variables of one container. */

import { isObject, type Json, type JsonObject } from '../../../../api/json/json.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { Container } from './pod-spec.ts'

export interface Variable extends JsonObject {
  name: string
}

export interface EnvChange {
  readonly set: readonly Variable[]
  readonly remove: readonly string[]
}

export function variablesOf({ env }: Container): Variable[] {
  return Array.isArray(env) ? env.filter((one: Json): one is Variable => isObject(one)) : []
}

/**
 * Returns the environment variables of a container after the change. Existing variables keep their positions. Throws
 * UsageError if a variable already exists and must not be overwritten.
 */
export function changedEnvironment(
  container: Container,
  { set, remove }: EnvChange,
  { object, overwrite }: { readonly object: ApiObject; readonly overwrite: boolean },
): Variable[] {
  const result = new Map(variablesOf(container).map((variable) => [variable.name, variable]))
  for (const variable of set) {
    const before = result.get(variable.name)
    if (before !== undefined && !overwrite)
      throw new UsageError(
        `${object.kind}/${object.metadata.name} '${variable.name}' already has a value (${before.value ?? 'from a reference'}), and --overwrite is false`,
      )
    result.set(variable.name, variable)
  }
  for (const name of remove) result.delete(name)
  return [...result.values()]
}
