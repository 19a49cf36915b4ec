/** Generates a random valid object of a kind, as a client would send it. */

import type { JsonObject } from '../../../src/api/json/json.ts'
import { customResourceDefinition } from '../../../src/api/kinds/apiextensions/custom-resource-definition.ts'
import { apiService } from '../../../src/api/kinds/apiregistration/api-service.ts'
import { apiVersionOf, vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { type Making, makeObject } from './random-object.ts'
import { nameDefinition } from './valid-definitions.ts'
import { metadataOf, validValues } from './valid-values.ts'

const vendor = vendorOf('orch')

export function newObject(kind: Kind, making: Making, name: string): JsonObject {
  const made = withoutStatus(makeObject(kind.schema, making, validValues, homeOf(kind)))
  const called = nameOf(kind, made, name)
  return {
    ...made,
    apiVersion: apiVersionOf(vendor, kind.group, kind.version),
    kind: kind.kind,
    metadata: metadataOf(making, called),
  }
}

/** Returns the name of the object. Some kinds require a name that is composed of values from the spec. */
function nameOf(kind: Kind, made: JsonObject, name: string): string {
  if (kind.kind === customResourceDefinition.kind) return nameDefinition(made, name)
  if (kind !== apiService) return name
  const spec = made.spec as JsonObject
  spec.group = `${name}.${spec.group}`
  return `${spec.version}.${spec.group}`
}

/** Returns the group and version of a kind in the format of the keys in `ValidValues.fields`. */
export function homeOf({ group, version }: Kind): string {
  return `${group}.${version}`
}

/** Returns the object without its status, which the server sets for a new object. */
export function withoutStatus({ status: _, ...rest }: JsonObject): JsonObject {
  return rest
}
