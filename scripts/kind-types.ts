/**
 * Generates the types of built-in kinds for users of `orch/client`: interfaces for each kind and its parts, with their
 * descriptions, and a constant that identifies each kind. `scripts/declare.mjs` uses this text because the compiler's
 * output contains neither names nor descriptions.
 */

import type { JsonObject } from '../src/api/json/json.ts'
import { allKinds } from '../src/api/kinds/all.ts'
import { tokenRequest } from '../src/api/kinds/authentication/token-request.ts'
import { scale } from '../src/api/kinds/autoscaling/scale.ts'
import { eviction } from '../src/api/kinds/policy/eviction.ts'
import { vendorOf } from '../src/api/model/vendor.ts'
import type { Kind } from '../src/api/schema/kind.ts'
import { Definitions } from '../src/api/schema/openapi.ts'
import { homeOf } from '../src/apiserver/http/openapi/group-version.ts'
import { type PrintedKind, TypePrinter } from '../src/tools/cli/typescript/print-types.ts'

/** Returns the text of all types. `names` are the exports of the library, which no type may reuse. */
export function kindTypes(names: readonly string[]): string {
  const definitions = new Definitions(vendorOf('orch'), 2)
  const parts = [scale, eviction, tokenRequest]
  const kinds = [...allKinds, ...parts].map((kind) => ({
    kind,
    reference: definitions.write(kind.schema, homeOf(kind)),
  }))
  const byName = Object.fromEntries(definitions.entries())
  const typeNames = new Map<string, string>()
  const taken = new Set(names)
  for (const { kind, reference } of kinds) typeNames.set(referenceName(reference), publicName(kind, taken))
  const printer = new TypePrinter(byName, typeNames, taken)
  const printed = kinds.map(({ kind, reference }) => {
    const name = typeNames.get(referenceName(reference))!
    const text = printer.kind({ name, schema: reference } as PrintedKind)
    return parts.includes(kind) ? text : `${text}export declare const ${name}: ResourceType<${name}>;\n`
  })
  return `${head}${printed.join('')}${printer.referred()}`
}

const head = `/** The built-in kinds: the types of their objects, and the values that say to a client where they are. */
import type { ResourceType } from './resource-type.js'
import type { ObjectMeta } from '../../api/model/object.js'
`

function referenceName({ $ref }: JsonObject): string {
  return String($ref).slice('#/definitions/'.length)
}

/**
 * Returns the name of the kind. If the name is taken, adds the version, as in src/client/requests/built-in-kinds.ts.
 */
function publicName({ kind, version }: Kind, taken: Set<string>): string {
  const name = taken.has(kind) ? `${kind}V${version.slice(1)}` : kind
  taken.add(name)
  return name
}
