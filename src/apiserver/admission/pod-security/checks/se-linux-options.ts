/** SELinux options are limited to some container types. Custom users and roles are forbidden. */
import type { SecurityContext } from '../../../../api/kinds/core/types/security-context.ts'
import { type Check, containersOf, distinct, namesWhere, quotedList, setters } from '../check.ts'

type Options = SecurityContext['seLinuxOptions']

const allowed = ['', 'container_t', 'container_init_t', 'container_kvm_t']

export const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: (pod) => {
        const ofPod = pod.spec.securityContext?.seLinuxOptions
        const containers = namesWhere(
          pod,
          ({ securityContext }) => faultsOf(securityContext?.seLinuxOptions).length > 0,
        )
        const who = setters({ pod: faultsOf(ofPod).length > 0, containers })
        if (who === '') return undefined
        const all = [ofPod, ...containersOf(pod.spec).map(({ securityContext }) => securityContext?.seLinuxOptions)]
        return {
          reason: 'seLinuxOptions',
          detail: `${who} set forbidden securityContext.seLinuxOptions: ${describeFaults(all)}`,
        }
      },
    },
  ],
}

function faultsOf({ type = '', user = '', role = '' }: NonNullable<Options> = {}): string[] {
  return [allowed.includes(type) ? '' : 'type', user === '' ? '' : 'user', role === '' ? '' : 'role'].filter(
    (fault) => fault !== '',
  )
}

function describeFaults(all: readonly Options[]): string {
  const faults = new Set(all.flatMap(faultsOf))
  const types = distinct(all.map((options) => options?.type ?? '').filter((type) => !allowed.includes(type)))
  return [
    ...(types.length === 0 ? [] : [`type${types.length === 1 ? '' : 's'} ${quotedList(types)}`]),
    ...['user', 'role'].filter((field) => faults.has(field)).map((field) => `${field} may not be set`),
  ].join('; ')
}
