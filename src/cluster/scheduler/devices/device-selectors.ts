/**
 * Evaluates the CEL selectors of device requests. Results are cached by device, because the scheduler evaluates the
 * same devices for one Pod after another. A selector that fails for a device does not select it.
 */

import type { Budget } from '../../../api/cel/budget.ts'
import { quantityValue, semverValue } from '../../../api/cel/functions/quantities.ts'
import { dynamicType } from '../../../api/cel/json-values.ts'
import { loadPatternEngine } from '../../../api/cel/pattern-engine.ts'
import { estimateSize } from '../../../api/cel/pattern-size.ts'
import { compileRule, type Program } from '../../../api/cel/program.ts'
import type { ReadPattern } from '../../../api/cel/regex.ts'
import { CelError, CelMap, LiteralMap, type Value } from '../../../api/cel/values.ts'
import type { DeviceSelector } from '../../../api/kinds/resource/types/selector.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import type { Device } from './device.ts'
import { isShared } from './device-capacity.ts'

/** Maximum number of compiled selectors that are kept for later Pods. */
const maxPrograms = 200
/**
 * Maximum total size of the patterns in a selector, measured in steps of the compiled patterns. Each step takes about a
 * hundred bytes of memory.
 */
const maxPatternSteps = 1000

const results = new WeakMap<Device, BoundedMap<string, boolean>>()
const values = new WeakMap<Device, Value>()
const maxResults = 64

/** The selectors of the Pod that is being scheduled. */
export class DeviceSelectors {
  /** The regular expression engine. Undefined until it is loaded. */
  #readPattern: ReadPattern | undefined
  readonly #programs = new BoundedMap<string, Program>(maxPrograms)
  #current: ReadonlyMap<string, Program> = new Map()

  /** Loads the regular expression engine. Must be called before selectors are compiled. */
  async load(): Promise<void> {
    this.#readPattern ??= await loadPatternEngine()
  }

  /**
   * Compiles the selectors of a Pod in small steps. The API server has already validated them. Returns the reasons if
   * any of them cannot be compiled.
   */
  *compile(selectors: Iterable<DeviceSelector>): Sliced<readonly string[]> {
    const current = new Map<string, Program>()
    for (const { cel: { expression = '' } = {} } of selectors) {
      if (current.has(expression)) continue
      const known = this.#programs.get(expression)
      const compiled = known === undefined ? yield* this.#compileOne(expression) : known
      if (typeof compiled === 'string') return [compiled]
      current.set(expression, compiled)
      this.#programs.set(expression, compiled)
    }
    this.#current = current
    return []
  }

  *#compileOne(expression: string): Sliced<Program | string> {
    if (this.#readPattern === undefined) throw new TypeError('the regular expression engine is not loaded')
    const patterns = limitPatterns(this.#readPattern)
    const variables = new Map([['device', dynamicType]])
    const { read: readPattern } = patterns
    const compiled = yield* compileRule(expression, { variables, result: 'any', hasBind: true, readPattern })
    patterns.close()
    return compiled.outcome === 'program' ? compiled.program : compiled.why
  }

  /** Whether all selectors match the device. The selectors must have been compiled. Throws BudgetExceeded. */
  match(selectors: readonly DeviceSelector[], device: Device, budget: Budget): boolean {
    return selectors.every(({ cel: { expression = '' } = {} }) => {
      const program = this.#current.get(expression)
      return program !== undefined && isSelected(expression, { program, device, budget })
    })
  }
}

/** Restricts the patterns of a selector: their total size is limited, and all of them must be constants. */
function limitPatterns(readPattern: ReadPattern): { readonly read: ReadPattern; readonly close: () => void } {
  let steps = 0
  let isCompiled = false
  const read: ReadPattern = (source) => {
    if (isCompiled) return { outcome: 'refused', why: 'the pattern must be a constant' }
    steps += estimateSize(source)
    if (steps > maxPatternSteps)
      return { outcome: 'refused', why: `the patterns are too large in total: the limit is ${maxPatternSteps} steps` }
    return readPattern(source)
  }
  return {
    read,
    close: () => {
      isCompiled = true
    },
  }
}

interface Evaluation {
  readonly program: Program
  readonly device: Device
  readonly budget: Budget
}

function isSelected(expression: string, evaluation: Evaluation): boolean {
  const { device } = evaluation
  const known = results.get(device) ?? new BoundedMap<string, boolean>(maxResults)
  results.set(device, known)
  const result = known.get(expression) ?? evaluate(evaluation)
  known.set(expression, result)
  return result
}

function evaluate({ program, device, budget }: Evaluation): boolean {
  const value = values.get(device) ?? deviceValue(device)
  values.set(device, value)
  try {
    return program.evaluate([value], budget) === true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

/** Returns the variable `device`. Names without a domain belong to the domain of the driver. */
function deviceValue({ driver, device }: Device): Value {
  const { attributes = {}, capacity = {} } = device
  const attributeValues = Object.entries(attributes).map(([name, each]) => [name, attributeValue(each)] as const)
  const capacityValues = Object.entries(capacity).map(
    ([name, each]) => [name, quantityValue(each.value ?? '0')] as const,
  )
  return new LiteralMap([
    ['driver', driver],
    ['attributes', new ByDomain(attributeValues, driver)],
    ['capacity', new ByDomain(capacityValues, driver)],
    ['allowMultipleAllocations', isShared(device)],
  ])
}

type Attribute = NonNullable<Device['device']['attributes']>[string]

function attributeValue({ int, bool, string, version }: Attribute): Value {
  if (int !== undefined) return Number(int)
  if (bool !== undefined) return bool
  return version === undefined ? (string ?? '') : semverValue(version)
}

const none = new LiteralMap([])

/**
 * Values by domain and name. Every domain is treated as existing, so that selectors need not test whether a domain
 * exists.
 */
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
