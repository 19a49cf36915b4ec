/** Dynamic resource allocation: excludes nodes that lack the devices requested by a Pod's claims. */
import { chooseDevices, deviceClaimsOf } from '../devices/pod-devices.ts'
import { SearchBudget } from '../devices/search-budget.ts'
import { happened, type Plugin } from '../plugin.ts'

export const dynamicResources: Plugin = {
  name: 'DynamicResources',
  wokenBy: happened.nodeAdded | happened.nodeLabels | happened.deviceChanged,
  filter: (pod, { inventory }) => {
    if (inventory === undefined || (pod.spec.resourceClaims ?? []).length === 0) return undefined
    const claims = deviceClaimsOf(pod, inventory)
    if ('reasons' in claims) return claims
    const budget = new SearchBudget()
    return {
      check: (node) => {
        const choice = chooseDevices(claims, { node, inventory, budget })
        return 'reasons' in choice ? choice : undefined
      },
    }
  },
}
