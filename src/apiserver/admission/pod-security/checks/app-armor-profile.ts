/**
 * The AppArmor profile must be the runtime's default or one loaded on the node. Annotations set it for each container.
 */
import { vendorKey } from '../../../../api/model/vendor.ts'
import { type Check, list } from '../check.ts'

export const appArmorProfile: Check = {
  id: 'appArmorProfile',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: ({ annotations, vendor }) => {
        const prefix = vendorKey(vendor, '', 'container.apparmor.security.beta')
        const bad = Object.entries(annotations)
          .filter(([key, profile]) => key.startsWith(prefix) && !isAllowed(profile))
          .map(([key, profile]) => `${key}=${JSON.stringify(profile)}`)
          .sort()
        if (bad.length === 0) return undefined
        return { reason: `forbidden AppArmor profile${bad.length === 1 ? '' : 's'}`, detail: list(bad) }
      },
    },
  ],
}

function isAllowed(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/')
}
