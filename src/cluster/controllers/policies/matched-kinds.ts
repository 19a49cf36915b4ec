/**
 * Finds the kinds whose objects a policy matches, so that the policy's expressions can be checked against their types.
 * Wildcards for groups, versions, resources or subresources do not identify kinds, so they are ignored.
 */

import type { ValidatingAdmissionPolicySpec } from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type DiscoveredType, typesOf } from '../../../client/requests/discovery.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'

export interface KindName {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Maximum number of kinds per rule, as in Kubernetes. */
const maxKinds = 10

type Rules = NonNullable<NonNullable<ValidatingAdmissionPolicySpec['matchConstraints']>['resourceRules']>

/** Returns the kinds, sorted by group, version and kind. Unknown resources are skipped. */
export async function matchedKinds(client: Client, rules: Rules, signal: AbortSignal): Promise<KindName[]> {
  const discovery = new Discovery(client, signal)
  const found = new Map<string, KindName>()
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue
    const plurals = resources.filter((name) => !/[*/]/.test(name)).toSorted(compareUtf8)
    const places = apiGroups
      .toSorted(compareUtf8)
      .flatMap((group) => apiVersions.toSorted(compareUtf8).map((version) => ({ group, version })))
    const count = await addKinds({ places, plurals, discovery, found })
    if (count === maxKinds) break
  }
  return [...found].toSorted(([a], [b]) => compareUtf8(a, b)).map(([, kind]) => kind)
}

interface Search {
  readonly places: readonly Omit<KindName, 'kind'>[]
  readonly plurals: readonly string[]
  readonly discovery: Discovery
  readonly found: Map<string, KindName>
}

/** Adds the kinds of one rule up to the limit and returns their number. */
async function addKinds({ places, plurals, discovery, found }: Search): Promise<number> {
  let count = 0
  for (const { group, version } of places) {
    if (plurals.length === 0) continue
    const types = await discovery.typesOf(group, version)
    for (const plural of plurals) {
      const type = types.find((each) => each.plural === plural)
      if (type === undefined) continue
      found.set([group, version, type.kind].join('\0'), { group, version, kind: type.kind })
      count++
      if (count === maxKinds) return count
    }
  }
  return count
}

/** Requests the types of each group version only once. */
class Discovery {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #known = new Map<string, readonly DiscoveredType[]>()

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  async typesOf(group: string, version: string): Promise<readonly DiscoveredType[]> {
    const key = `${group}/${version}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const types = (await ignoreNotFound(typesOf(this.#client, { group, version }, { signal: this.#signal }))) ?? []
    this.#known.set(key, types)
    return types
  }
}
