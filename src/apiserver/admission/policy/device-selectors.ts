/**
 * Adds validation of CEL expressions to the kinds that select devices: claims, claim templates and device classes. A
 * new expression must compile, return a bool, and stay within the cost limit.
 */
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { compileRule, type Environment } from '../../../api/cel/program.ts'
import { type CelType, formatType, mapOf, types } from '../../../api/cel/types.ts'
import { sameJson } from '../../../api/json/json.ts'
import type { DeviceClass } from '../../../api/kinds/resource/device-class.ts'
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import type { ResourceClaimTemplate } from '../../../api/kinds/resource/resource-claim-template.ts'
import type { ResourceClaimSpec } from '../../../api/kinds/resource/types/claim-spec.ts'
import { type DeviceSelector, maxExpressionBytes } from '../../../api/kinds/resource/types/selector.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid } from '../../../api/model/field-error.ts'
import { emulationOf, isEnabled, type RuleContext } from '../../../api/schema/context.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { minorOf } from '../../../api/versions/emulated-version.ts'
import type { LoadPatterns } from './policy-faults.ts'

/** A list of device selectors and its path in the object. */
interface PlacedSelectors {
  readonly path: FieldPath
  readonly selectors: readonly DeviceSelector[]
}

type FindSelectors = (object: never) => readonly PlacedSelectors[]

/** Functions that find the device selectors of an object, keyed by the plural name of the object's resource type. */
const finders = new Map<string, FindSelectors>([
  ['deviceclasses', ({ spec = {} }: DeviceClass) => [{ path: 'spec.selectors', selectors: spec.selectors ?? [] }]],
  ['resourceclaims', ({ spec }: ResourceClaim) => selectorsOf(spec, 'spec')],
  ['resourceclaimtemplates', ({ spec }: ResourceClaimTemplate) => selectorsOf(spec?.spec, 'spec.spec')],
])

/** Adds validation of device selectors to a kind. Returns a kind without selectors unchanged. */
export function withSelectorRules(kind: Kind, loadPatterns: LoadPatterns): Kind {
  const find = kind.group === 'resource' ? finders.get(kind.plural) : undefined
  if (find === undefined) return kind
  const judge: NonNullable<Kind['rules']['judge']> = async (object, previous, context) => {
    if (context.subresource !== '') return []
    const found = find(object as never)
    if (previous !== undefined && isStored(kind, found, find(previous as never))) return []
    const checking = { ...deviceVariables(context), ...versionsOf(context), readPattern: await loadPatterns() }
    const faults: FieldError[] = []
    for (const { path, selectors } of found)
      for (const [i, { cel: { expression } = {} }] of selectors.entries()) {
        if (expression === undefined || Buffer.byteLength(expression) > maxExpressionBytes) continue
        const place = child(at(path, i), 'cel.expression')
        faults.push(...(await context.timeSlice.run(check(expression, checking, place))))
      }
    return faults
  }
  return { ...kind, rules: { ...kind.rules, judge } }
}

/**
 * Whether the selectors in an update need no validation because they are already stored. Only device classes can change
 * their selectors. If anything changes, even their order, all selectors are validated.
 */
function isStored({ plural }: Kind, next: readonly PlacedSelectors[], previous: readonly PlacedSelectors[]): boolean {
  return plural !== 'deviceclasses' || sameJson(next, previous)
}

function selectorsOf({ devices }: ResourceClaimSpec = {}, spec: FieldPath): PlacedSelectors[] {
  return (devices?.requests ?? []).flatMap(({ exactly, firstAvailable = [] }, i) => {
    const request = at(child(spec, 'devices.requests'), i)
    return [
      { path: child(request, 'exactly.selectors'), selectors: exactly?.selectors ?? [] },
      ...firstAvailable.map(({ selectors = [] }, k) => ({
        path: child(at(child(request, 'firstAvailable'), k), 'selectors'),
        selectors,
      })),
    ]
  })
}

/** Maximum lengths and sizes in a ResourceSlice, which bound the estimated cost of an expression. */
const maxSizes = { driver: 63, domain: 63, name: 32, attribute: 64, members: 32 }

function textOf(maxElements: number): DeclaredType {
  return { type: types.string, form: 'string', maxElements, minBytes: 2 }
}

interface MapOptions {
  readonly maxKeyLength: number
  /** Whether expressions select values by name, as in `attributes['example.com'].model`. */
  readonly anyField?: boolean
}

function mapWith(elem: DeclaredType, { maxKeyLength, anyField = false }: MapOptions): DeclaredType {
  const type = mapOf(types.string, elem.type)
  const map = { type, form: 'map', elem, maxElements: maxSizes.members, maxKeyLength, minBytes: 2 } as const
  return anyField ? { ...map, anyField: elem } : map
}

interface DeviceVariables {
  readonly variables: ReadonlyMap<string, DeclaredType>
  readonly attribute: CelType
}

/** Declares the variable `device` for the type checker, and the type of its attributes. */
function deviceVariables(context: RuleContext): DeviceVariables {
  const attribute: DeclaredType = {
    type: isEnabled('DRAListTypeAttributes', context) ? types.dyn : types.any,
    form: 'dynamic',
    maxElements: maxSizes.attribute,
    minBytes: 1,
  }
  const capacity: DeclaredType = { type: types.quantity, form: 'string', maxElements: 0, minBytes: 2 }
  const attributes = mapWith(attribute, { maxKeyLength: maxSizes.name, anyField: true })
  const capacities = mapWith(capacity, { maxKeyLength: maxSizes.name })
  const isShared: DeclaredType = { type: types.bool, form: 'boolean', maxElements: 1, minBytes: 4 }
  const fields = new Map([
    ['driver', textOf(maxSizes.driver)],
    ['attributes', mapWith(attributes, { maxKeyLength: maxSizes.domain })],
    ['capacity', mapWith(capacities, { maxKeyLength: maxSizes.domain })],
    ...(isEnabled('DRAConsumableCapacity', context) ? [['allowMultipleAllocations', isShared] as const] : []),
  ])
  const device: DeclaredType = { type: { kind: 'object', fields }, form: 'object', fields, maxElements: 0, minBytes: 2 }
  return { variables: new Map([['device', device]]), attribute: attribute.type }
}

/** Minor version of Kubernetes that added semantic versions to CEL. Device selectors supported them from the start. */
const semanticVersionsSince = 33

function versionsOf(context: RuleContext): Pick<Environment, 'version' | 'costVersion'> {
  const costVersion = minorOf(emulationOf(context).version)
  return { version: Math.max(costVersion - 1, semanticVersionsSince), costVersion }
}

/** Maximum estimated cost of a selector. */
const maxCost = 1_000_000

type Checking = DeviceVariables & Pick<Environment, 'version' | 'costVersion' | 'readPattern'>

function* check(text: string, { attribute, ...environment }: Checking, path: FieldPath): Generator<void, FieldError[]> {
  const compiled = yield* compileRule(text, { ...environment, result: 'any', hasUnknownSizes: true, hasBind: true })
  if (compiled.outcome === 'invalid') return [invalid(path, text, compiled.why)]
  const { type, maxCost: cost } = compiled.program
  // The type of an attribute is known only at run time, so an expression that returns an attribute has an unknown type.
  if (type.kind !== 'bool' && type.kind !== attribute.kind && type.kind !== 'any')
    return [invalid(path, text, `must evaluate to bool or the unknown type, not ${formatType(type)}`)]
  return cost > maxCost ? [forbidden(path, 'too complex, exceeds cost limit')] : []
}
