/**
 * The AppArmor profile, which is set by annotations or fields, must be the runtime's default or a profile that is
 * loaded on the node.
 */
import { vendorKey } from '../../../../api/model/vendor.ts'
import { type Check, type CheckedPod, list, namesWhere, setters } from '../check.ts'

export const appArmorProfile: Check = {
  id: 'appArmorProfile',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: (pod) => {
        const bad = [...badFields(pod), ...badAnnotations(pod)]
        if (bad.length === 0) return undefined
        return { reason: `forbidden AppArmor profile${bad.length === 1 ? '' : 's'}`, detail: list(bad) }
      },
    },
  ],
}

function badAnnotations({ annotations, vendor }: CheckedPod): string[] {
  const prefix = vendorKey(vendor, '', 'container.apparmor.security.beta')
  return Object.entries(annotations)
    .filter(([key, profile]) => key.startsWith(prefix) && !isAllowed(profile))
    .map(([key, profile]) => `${key}=${JSON.stringify(profile)}`)
    .sort()
}

/** Kubernetes 1.30 replaced the annotations with fields. */
function badFields(pod: CheckedPod): string[] {
  const isBad = ({ securityContext }: Part) => !allowedTypes.includes(securityContext?.appArmorProfile?.type)
  const who = setters({ pod: isBad(pod.spec), containers: namesWhere(pod, isBad) })
  return who === '' ? [] : [`${who} must not set another AppArmor profile than RuntimeDefault or Localhost`]
}

interface Part {
  readonly securityContext?: { readonly appArmorProfile?: { readonly type?: string } }
}

const allowedTypes = [undefined, 'RuntimeDefault', 'Localhost']

function isAllowed(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/')
}
