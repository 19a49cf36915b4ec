/**
 * Evaluates the CEL selectors of device requests. Results are cached by device, because the scheduler evaluates the
 * same devices for one Pod after another. A selector that fails for a device does not select it.
 */

import type { Budget } from '../../../api/cel/budget.ts'
import { quantityValue, semverValue } from '../../../api/cel/functions/quantities.ts'
import { dynamicType } from '../../../api/cel/json-values.ts'
import { compileRule, type Program } from '../../../api/cel/program.ts'
import { CelError, CelMap, LiteralMap, type Value } from '../../../api/cel/values.ts'
import type { DeviceSelector } from '../../../api/kinds/resource/types/selector.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import type { Device } from './inventory.ts'

const maxPrograms = 1000

const programs = new BoundedMap<string, Program | undefined>(maxPrograms)
const results = new WeakMap<Device, BoundedMap<string, boolean>>()
const values = new WeakMap<Device, Value>()
const maxResults = 64

/** Whether all selectors match the device. Throws BudgetExceeded. */
export function matchesDevice(selectors: readonly DeviceSelector[], device: Device, budget: Budget): boolean {
  return selectors.every(({ cel }) => cel?.expression !== undefined && isSelected(cel.expression, device, budget))
}

function isSelected(expression: string, device: Device, budget: Budget): boolean {
  const known = results.get(device) ?? new BoundedMap<string, boolean>(maxResults)
  results.set(device, known)
  const result = known.get(expression) ?? evaluate(expression, device, budget)
  known.set(expression, result)
  return result
}

function evaluate(expression: string, device: Device, budget: Budget): boolean {
  const program = programs.has(expression) ? programs.get(expression) : compile(expression)
  programs.set(expression, program)
  const value = values.get(device) ?? deviceValue(device)
  values.set(device, value)
  try {
    return program?.evaluate([value], budget) === true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

/**
 * Compiles a selector. The API server has already validated it, except for patterns, which the scheduler does not
 * support.
 */
function compile(expression: string): Program | undefined {
  const compiled = runToCompletion(
    compileRule(expression, {
      variables: new Map([['device', dynamicType]]),
      result: 'any',
      hasBind: true,
      readPattern: () => ({ outcome: 'refused', why: 'the scheduler does not support patterns' }),
    }),
  )
  return compiled.outcome === 'program' ? compiled.program : undefined
}

/** Returns the variable `device`. Names without a domain belong to the domain of the driver. */
function deviceValue({ driver, device: { attributes = {}, capacity = {} } }: Device): Value {
  const attributeValues = Object.entries(attributes).map(([name, each]) => [name, attributeValue(each)] as const)
  const capacityValues = Object.entries(capacity).map(
    ([name, each]) => [name, quantityValue(each.value ?? '0')] as const,
  )
  return new LiteralMap([
    ['driver', driver],
    ['attributes', new ByDomain(attributeValues, driver)],
    ['capacity', new ByDomain(capacityValues, driver)],
  ])
}

type Attribute = NonNullable<Device['device']['attributes']>[string]

function attributeValue({ int, bool, string, version }: Attribute): Value {
  if (int !== undefined) return Number(int)
  if (bool !== undefined) return bool
  return version === undefined ? (string ?? '') : semverValue(version)
}

const none = new LiteralMap([])

/** Values by domain and name. Every domain counts as existing, so that selectors need not test for it. */
class ByDomain extends CelMap {
  readonly #domains: ReadonlyMap<string, LiteralMap>

  constructor(entries: Iterable<readonly [name: string, value: Value]>, driver: string) {
    super()
    const split = [...entries].map(([name, value]) => {
      const slash = name.indexOf('/')
      return slash < 0 ? [driver, name, value] : [name.slice(0, slash), name.slice(slash + 1), value]
    }) as [domain: string, name: string, value: Value][]
    const byDomain = Map.groupBy(split, ([domain]) => domain)
    this.#domains = new Map(
      [...byDomain].map(([domain, all]) => [domain, new LiteralMap(all.map(([, name, value]) => [name, value]))]),
    )
  }

  get size(): number {
    return this.#domains.size
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' ? (this.#domains.get(key) ?? none) : undefined
  }

  override has(key: Value): boolean {
    return typeof key === 'string' && this.#domains.has(key)
  }

  keys(): readonly string[] {
    return [...this.#domains.keys()]
  }
}
