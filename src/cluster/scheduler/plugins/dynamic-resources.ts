/** Dynamic resource allocation: excludes nodes that lack the devices requested by a Pod's claims. */
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import type { Inventory } from '../devices/inventory.ts'
import { chooseDevices, deviceClaimsOf, prepareSelectors, usesDevices } from '../devices/pod-devices.ts'
import { SearchBudget } from '../devices/search-budget.ts'
import { happened, type NodeCheck, type Plugin, type Refusal } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'

export const dynamicResources: Plugin = {
  name: 'DynamicResources',
  wokenBy: happened.nodeAdded | happened.nodeLabels | happened.deviceChanged,
  filter: (pod, { inventory }) => (inventory === undefined || !usesDevices(pod) ? undefined : prepare(pod, inventory)),
}

function* prepare(pod: PodInfo, inventory: Inventory): Sliced<NodeCheck | Refusal> {
  const claims = deviceClaimsOf(pod, inventory)
  if ('reasons' in claims) return claims
  const budget = new SearchBudget()
  const refused = yield* prepareSelectors(claims, { inventory, budget })
  if (refused !== undefined) return refused
  return {
    check: (node) => {
      const choice = chooseDevices(claims, { node, inventory, budget })
      return 'reasons' in choice ? choice : undefined
    },
  }
}
