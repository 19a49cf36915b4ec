/** Windows HostProcess containers are forbidden. */
import { type Check, namesWhere, setters } from '../check.ts'

export const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: (pod) => {
        const containers = namesWhere(
          pod,
          ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true,
        )
        const who = setters({ pod: pod.spec.securityContext?.windowsOptions?.hostProcess === true, containers })
        if (who === '') return undefined
        return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` }
      },
    },
  ],
}
