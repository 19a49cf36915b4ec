/** Dynamic resource allocation: excludes nodes that do not have the devices that the claims of a Pod request. */
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
