/** Runs an object through the rules of its kind, as a create or an update does, without a server. */
import { atOnce } from '../../src/base/pace.ts'
import { defaultGates, type Gates } from '../../src/model/feature-gates.ts'
import type { FieldError } from '../../src/model/field-error.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { type ApiObject, asJson } from '../../src/model/object.ts'
import { apiVersionOf, vendorOf } from '../../src/model/vendor.ts'
import type { Allocator } from '../../src/schema/claims.ts'
import { defaultColumns } from '../../src/schema/columns.ts'
import { completeSteps } from '../../src/schema/complete.ts'
import type { Kind } from '../../src/schema/kind.ts'
import { validate } from '../../src/schema/validate.ts'

const user = { name: 'someone', uid: '', groups: [], extra: new Map() }

export const ruleContext = {
  vendor: vendorOf('orch'),
  subresource: '',
  user,
  now: Date.parse('2030-01-02T03:04:05Z'),
}

export interface Outcome {
  readonly object: ApiObject
  /** `Required spec.capacity`, each once, in order of the alphabet. */
  readonly faults: readonly string[]
}

/** For kinds that hold nothing. */
const noPools: Allocator = { pools: [], most: 0, draw: () => undefined, refuse: () => 'there is no pool' }

export function createBy(
  kind: Kind,
  sent: JsonObject,
  { gates = defaultGates, allocator = noPools }: Partial<Ways> = {},
): Outcome {
  const context = { ...ruleContext, gates }
  const object = completed(kind, sent)
  kind.rules.prepareForCreate?.(object, context)
  const refused = allocated(kind, object, { previous: undefined, allocator })
  if (refused.length > 0) return { object, faults: told(refused) }
  const errors = kind.rules.validateCreate?.(object, context) ?? []
  return { object, faults: told([...errorsOf(kind, object), ...errors]) }
}

function allocated(
  { claims }: Kind,
  object: ApiObject,
  { previous, allocator }: { previous: ApiObject | undefined; allocator: Allocator },
) {
  return claims !== undefined && 'allocate' in claims ? claims.allocate(object, previous, allocator) : []
}

/** What a write goes through beside the kind itself. */
export interface Ways {
  readonly subresource: string
  readonly gates: Gates
  readonly allocator: Allocator
}

export function updateBy(
  kind: Kind,
  previous: ApiObject,
  sent: JsonObject,
  { subresource = '', gates = defaultGates, allocator = noPools }: Partial<Ways> = {},
): Outcome {
  const context = { ...ruleContext, subresource, gates }
  const object = completed(kind, sent)
  const rules = subresource === '' ? kind.rules : kind.views.subresources?.[subresource]
  rules?.prepareForUpdate?.(object, previous, context)
  const refused = subresource === '' ? allocated(kind, object, { previous, allocator }) : []
  if (refused.length > 0) return { object, faults: told(refused) }
  const errors = kind.rules.validateUpdate?.(object, previous, context) ?? []
  return { object, faults: told([...errorsOf(kind, object), ...errors]) }
}

/** What a table shows of an object, as it is stored. */
export function cellsOf(kind: Kind, object: ApiObject): Json[] {
  const { columns = defaultColumns } = kind.views
  return columns.map(({ cell }) => cell(object, ruleContext.now, ruleContext.vendor))
}

function completed(kind: Kind, sent: JsonObject): ApiObject {
  const { vendor } = ruleContext
  const apiVersion = apiVersionOf(vendor, kind.group, kind.version)
  return atOnce(completeSteps({ kind, apiVersion, context: ruleContext }, sent)).object
}

function errorsOf(kind: Kind, object: ApiObject): FieldError[] {
  return [...validate(kind.schema, asJson(object), ruleContext), ...(kind.rules.validate?.(object, ruleContext) ?? [])]
}

function told(errors: readonly FieldError[]): string[] {
  return [...new Set(errors.map(({ fault, path }) => `${fault.replace('FieldValue', '')} ${path}`))].sort()
}
