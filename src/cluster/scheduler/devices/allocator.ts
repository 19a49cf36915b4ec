/**
 * Chooses devices for the requests of claims on one node. The result is the first combination of free devices that
 * meets all selectors and constraints. For a request with alternatives, the first possible alternative is chosen.
 */

import { randomUUID } from 'node:crypto'
import type { Budget } from '../../../api/cel/budget.ts'
import { defined, sameJson } from '../../../api/json/json.ts'
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import { asJson } from '../../../api/model/object.ts'
import { formatQuantity } from '../../../api/model/quantity.ts'
import type { NodeInfo } from '../node-info.ts'
import type { Allocation, Device } from './device.ts'
import { type Consumption, isShared } from './device-capacity.ts'
import { DeviceUsage } from './device-usage.ts'
import { type Inventory, nodesOf } from './inventory.ts'

type Devices = NonNullable<NonNullable<ResourceClaim['spec']>['devices']>
type Request = NonNullable<Devices['requests']>[number]
type Exact = NonNullable<Request['exactly']>
type Constraint = NonNullable<Devices['constraints']>[number]
type Result = NonNullable<NonNullable<Allocation['devices']>['results']>[number]

/** A device chosen for a request of a claim. */
interface Chosen {
  readonly request: string
  readonly device: Device
  readonly wanted: Exact
  readonly consumed: Consumption
}

/** Maximum number of devices that a claim can allocate, as in Kubernetes. */
const maxResults = 32
/** Cost charged to the budget for trying one device. Selectors and constraints are charged separately. */
const stepsPerTry = 10

/** The node whose devices are searched, and the limit on the search. */
export interface SearchPlace {
  readonly node: NodeInfo
  readonly inventory: Inventory
  readonly budget: Budget
}

/**
 * Returns an allocation for each claim, or undefined if the node does not have the devices. Throws BudgetExceeded if
 * the search takes too long.
 */
export function allocate(
  claims: readonly ResourceClaim[],
  place: SearchPlace,
): Map<ResourceClaim, Allocation> | undefined {
  const search = new Search(place)
  const allocations = new Map<ResourceClaim, Allocation>()
  for (const claim of claims) {
    const { requests = [], constraints = [] } = claim.spec?.devices ?? {}
    const chosen = search.choose(requests, constraints)
    if (chosen === undefined) return undefined
    allocations.set(claim, allocationOf(claim, chosen, place))
  }
  return allocations
}

class Search {
  readonly #inventory: Inventory
  readonly #budget: Budget
  readonly #devices: readonly Device[]
  readonly #usage: DeviceUsage
  #constraints: readonly Constraint[] = []

  constructor({ node, inventory, budget }: SearchPlace) {
    this.#inventory = inventory
    this.#budget = budget
    this.#usage = new DeviceUsage(inventory, budget)
    // Devices that need no preparation are tried first.
    this.#devices = inventory.devicesAt(node).toSorted((a, b) => Number(needsBinding(a)) - Number(needsBinding(b)))
  }

  /** Chooses the devices of one claim. The chosen devices are not available to later claims. */
  choose(requests: readonly Request[], constraints: readonly Constraint[]): Chosen[] | undefined {
    this.#constraints = constraints
    const chosen: Chosen[] = []
    return this.#fill(requests, chosen) ? chosen : undefined
  }

  /** Chooses devices for the remaining requests. If that is impossible, leaves `chosen` as it was and returns false. */
  #fill([request, ...others]: readonly Request[], chosen: Chosen[]): boolean {
    if (request === undefined) return true
    const { name = '', exactly, firstAvailable = [] } = request
    const options: (readonly [name: string, wanted: Exact])[] =
      exactly === undefined ? firstAvailable.map((each) => [`${name}/${each.name}`, each as Exact]) : [[name, exactly]]
    return options.some(([label, wanted]) => {
      const candidates = this.#candidates(wanted)
      const choice = { label, wanted, candidates, others, from: 0 }
      if (wanted.allocationMode !== 'All') {
        const mayRepeat = wanted.adminAccess !== true && candidates.some(({ device }) => isShared(device))
        return this.#take({ ...choice, count: Number(wanted.count ?? 1), mayRepeat }, chosen)
      }
      const isMissing = (device: Device) => this.#consumptionOf(device, wanted, chosen) === undefined
      if (candidates.length === 0 || candidates.some(isMissing)) return false
      return this.#take({ ...choice, count: candidates.length, mayRepeat: false }, chosen)
    })
  }

  /** Chooses `count` more devices among the candidates, then the devices for the other requests. */
  #take(choice: Choice, chosen: Chosen[]): boolean {
    const { label, wanted, candidates, others, from, count, mayRepeat } = choice
    if (count === 0) return this.#fill(others, chosen)
    if (chosen.length + count > maxResults) return false
    const end = mayRepeat ? candidates.length : candidates.length - count + 1
    for (let i = from; i < end; i++) {
      const device = candidates[i]!
      this.#budget.work(stepsPerTry + chosen.length * (chosen.length + 1) * this.#constraints.length)
      const consumed = this.#consumptionOf(device, wanted, chosen)
      if (consumed === undefined) continue
      const next = { request: label, device, wanted, consumed }
      if (!this.#isConsistent([...chosen, next])) continue
      chosen.push(next)
      if (wanted.adminAccess !== true) this.#usage.take(device, consumed)
      if (this.#take({ ...choice, from: mayRepeat ? i : i + 1, count: count - 1 }, chosen)) return true
      if (wanted.adminAccess !== true) this.#usage.release(device, consumed)
      chosen.pop()
    }
    return false
  }

  #candidates(wanted: Exact): Device[] {
    const deviceClass = this.#inventory.classes.get({ name: wanted.deviceClassName ?? '' })
    if (deviceClass === undefined) return []
    const selectors = [...(deviceClass.spec?.selectors ?? []), ...(wanted.selectors ?? [])]
    this.#budget.work(this.#devices.length * (1 + selectors.length) * stepsPerTry)
    return this.#devices.filter(
      (device) => isTolerated(device, wanted) && this.#inventory.selectors.match(selectors, device, this.#budget),
    )
  }

  /**
   * Returns the capacity that an allocation of the device consumes, or undefined if the device cannot be allocated to
   * the request now.
   */
  #consumptionOf(device: Device, wanted: Exact, chosen: readonly Chosen[]): Consumption | undefined {
    if (wanted.adminAccess !== true) return this.#usage.consumptionOf(device, wanted.capacity?.requests)
    return chosen.some((each) => each.device === device) ? undefined : new Map()
  }

  #isConsistent(chosen: readonly Chosen[]): boolean {
    return this.#constraints.every(({ requests = [], matchAttribute, distinctAttribute }) => {
      const applies = ({ request }: Chosen) =>
        requests.length === 0 || requests.some((name) => request === name || request.startsWith(`${name}/`))
      const name = matchAttribute ?? distinctAttribute ?? ''
      const found = chosen.filter(applies).map(({ device }) => attributeOf(device, name))
      if (found.includes(undefined)) return false
      const isSame = (a: unknown, b: unknown) => sameJson(asJson(a as object), asJson(b as object))
      if (matchAttribute !== undefined) return found.every((value) => isSame(value, found[0]))
      return found.every((value, i) => !found.slice(0, i).some((other) => isSame(value, other)))
    })
  }
}

interface Choice {
  readonly label: string
  readonly wanted: Exact
  readonly candidates: readonly Device[]
  readonly others: readonly Request[]
  readonly from: number
  readonly count: number
  /** Whether a shared device may be chosen several times. */
  readonly mayRepeat: boolean
}

/**
 * Returns an attribute by its name, which includes a domain. In a slice, the names of the driver's own attributes may
 * omit the domain.
 */
function attributeOf({ driver, device: { attributes = {} } }: Device, name: string) {
  const short = name.startsWith(`${driver}/`) ? name.slice(driver.length + 1) : name
  return Object.hasOwn(attributes, name)
    ? attributes[name]
    : Object.hasOwn(attributes, short)
      ? attributes[short]
      : undefined
}

/** Whether a device has conditions that must be true before a Pod is bound. */
function needsBinding({ device: { bindingConditions = [] } }: Device): boolean {
  return bindingConditions.length > 0
}

/** Whether the request tolerates the device's taints. */
function isTolerated({ device: { taints = [] } }: Device, { tolerations = [] }: Exact): boolean {
  return taints.every(
    ({ key, value = '', effect }) =>
      effect === 'None' ||
      tolerations.some(
        (each) =>
          (each.effect === undefined || each.effect === '' || each.effect === effect) &&
          (each.operator === 'Exists'
            ? !each.key || each.key === key
            : each.key === key && (each.value ?? '') === value),
      ),
  )
}

function allocationOf(
  { spec }: ResourceClaim,
  chosen: readonly Chosen[],
  { node, inventory }: SearchPlace,
): Allocation {
  const results: Result[] = chosen.map(({ request, device: { driver, pool, device }, wanted, consumed }) => {
    const { bindingConditions, bindingFailureConditions } = device
    return {
      ...{ request, driver, pool, device: device.name ?? '' },
      ...defined({ adminAccess: wanted.adminAccess, tolerations: wanted.tolerations }),
      ...defined({ bindingConditions, bindingFailureConditions }),
      ...(isShared(device) && wanted.adminAccess !== true ? shareOf(consumed) : {}),
    }
  })
  const byRequest = new Map(chosen.map(({ request, wanted }) => [request, wanted]))
  const ofClasses = [...byRequest].flatMap(([request, { deviceClassName = '' }]) =>
    (inventory.classes.get({ name: deviceClassName })?.spec?.config ?? []).map((each) => ({
      ...each,
      ...{ source: 'FromClass', requests: [request] },
    })),
  )
  const ofClaim = (spec?.devices?.config ?? []).map((each) => ({ ...each, source: 'FromClaim' }))
  const config = [...ofClasses, ...ofClaim] as NonNullable<Allocation['devices']>['config'] & object[]
  const nodeSelector = nodesOf(
    chosen.map(({ device }) => device),
    node,
  )
  return {
    devices: { results, ...(config.length === 0 ? {} : { config }) },
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  }
}

/** Returns the ID of a new share of a device, and the capacity that the share consumes. */
function shareOf(consumed: Consumption): Pick<Result, 'shareID' | 'consumedCapacity'> {
  const amounts = consumed.entries().map(([name, quantity]) => [name, formatQuantity(quantity)] as const)
  return { shareID: randomUUID(), consumedCapacity: Object.fromEntries(amounts) }
}
