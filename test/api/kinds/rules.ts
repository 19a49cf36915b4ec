/** Applies the rules of a kind to an object without a server, as a create or update would. */

import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import type { FieldError } from '../../../src/api/model/field-error.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { apiVersionOf, vendorOf } from '../../../src/api/model/vendor.ts'
import { defaultColumns } from '../../../src/api/schema/columns.ts'
import type { RuleContext } from '../../../src/api/schema/context.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { normalizeSliced } from '../../../src/api/schema/normalize.ts'
import { derivation } from '../../../src/api/schema/of-version.ts'
import type { Allocator } from '../../../src/api/schema/reservations.ts'
import { type EmulatedVersion, oldestVersion } from '../../../src/api/versions/emulated-version.ts'
import { defaultGatesOf, type Gates } from '../../../src/api/versions/feature-gates.ts'
import { isSameKind } from '../../../src/apiserver/registry/catalogue/served.ts'
import {
  mayAllocate,
  type ObjectToValidate,
  prepareByRules,
  validations,
} from '../../../src/apiserver/registry/writes/kind-rules.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'

const user = { name: 'someone', uid: '', groups: [], extra: new Map() }

export const ruleContext = {
  vendor: vendorOf('orch'),
  subresource: '',
  user,
  now: Date.parse('2030-01-02T03:04:05Z'),
}

export interface Outcome {
  readonly object: ApiObject
  /** Distinct errors, for example `Required spec.capacity`, in alphabetical order. */
  readonly faults: readonly string[]
}

/** An allocator without pools, for kinds that do not allocate values. */
const noPools: Allocator = { pools: [], maxValues: 0, draw: () => undefined, refuse: () => 'there is no pool' }

/** The parameters of a write other than the kind and the object. */
export interface Ways {
  readonly subresource: string
  readonly version: EmulatedVersion
  readonly gates: Gates
  readonly allocator: Allocator
}

export function createBy(kind: Kind, sent: JsonObject, ways: Partial<Ways> = {}): Outcome {
  return writeBy({ kind, sent, previous: undefined }, ways)
}

export function updateBy(kind: Kind, previous: ApiObject, sent: JsonObject, ways: Partial<Ways> = {}): Outcome {
  return writeBy({ kind, sent, previous }, ways)
}

/** Runs the kind-specific steps of a write in the same way as `apiserver/registry/writes/write-steps.ts`. */
function writeBy(
  { kind: anyKind, sent, previous }: { kind: Kind; sent: JsonObject; previous: ApiObject | undefined },
  { subresource = '', version = oldestVersion, gates = defaultGatesOf(version), allocator = noPools }: Partial<Ways>,
): Outcome {
  const kind = kindsOfVersion(version).find((each) => isSameKind(each, anyKind)) ?? anyKind
  const context = { ...ruleContext, subresource, version, gates }
  const object = completed(kind, sent, context)
  const judged: ObjectToValidate = { kind, object, previous }
  prepareByRules(judged, context)
  const refused = mayAllocate(judged, context) ? allocated(kind, object, { previous, allocator }) : []
  if (refused.length > 0) return { object, faults: errorTexts(refused) }
  const faults: FieldError[] = []
  for (const check of validations(judged, context)) {
    const found = check(faults.length === 0) ?? []
    faults.push(...('next' in found ? runToCompletion(found) : found))
  }
  return { object, faults: errorTexts(faults) }
}

function allocated(
  { reservations }: Kind,
  object: ApiObject,
  { previous, allocator }: { previous: ApiObject | undefined; allocator: Allocator },
) {
  return reservations !== undefined && 'allocate' in reservations
    ? reservations.allocate(object, previous, allocator)
    : []
}

/** Returns the table cells of a stored object. */
export function cellsOf(kind: Kind, object: ApiObject, version: EmulatedVersion = oldestVersion): Json[] {
  const { columns = defaultColumns } = derivation(version).kind(kind).views
  return columns.map(({ cell }) => cell(object, ruleContext.now, ruleContext.vendor))
}

function completed(kind: Kind, sent: JsonObject, context: RuleContext): ApiObject {
  const apiVersion = apiVersionOf(context.vendor, kind.group, kind.version)
  return runToCompletion(normalizeSliced({ kind, apiVersion, context }, sent)).object
}

function errorTexts(errors: readonly FieldError[]): string[] {
  return [...new Set(errors.map(({ fault, path }) => `${fault.replace('FieldValue', '')} ${path}`))].sort()
}
