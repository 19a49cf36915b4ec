/** hostPath volumes are forbidden. */
import { type Check, nameList } from '../check.ts'

export const hostPathVolumes: Check = {
  id: 'hostPathVolumes',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: ({ spec: { volumes = [] } }) => {
        const names = volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name = '' }) => name)
        return names.length === 0 ? undefined : { reason: 'hostPath volumes', detail: nameList('volume', names) }
      },
    },
  ],
}
