/**
 * DefaultTolerationSeconds: a pod stays for some minutes on a node that is not ready or cannot be reached, unless it
 * says itself what it puts up with.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Toleration } from '../../../api/kinds/core/types/scheduling.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Control } from '../admission.ts'

/** How long a pod stays on a node in such a condition. */
export interface TolerationSeconds {
  readonly 'not-ready': number
  readonly unreachable: number
}

const fiveMinutes: TolerationSeconds = { 'not-ready': 300, unreachable: 300 }

interface TolerationParts {
  readonly vendor: Vendor
  /** Five minutes each where it is left out. */
  readonly tolerationSeconds?: TolerationSeconds
}

export function defaultTolerationSeconds({ vendor, tolerationSeconds = fiveMinutes }: TolerationParts): Control<Pod> {
  // Their fields are in the order in which they are stored, which saves sorting them in every pod.
  const defaults = (['not-ready', 'unreachable'] as const).map((condition) => ({
    effect: 'NoExecute' as const,
    key: vendorKey(vendor, condition, 'node'),
    operator: 'Exists' as const,
    tolerationSeconds: tolerationSeconds[condition],
  }))
  return {
    name: 'DefaultTolerationSeconds',
    handles: { operations: ['CREATE', 'UPDATE'], types: [pods], subresources: [''] },
    mutate: ({ object }) => {
      const { spec = {} } = object
      const { tolerations = [] } = spec
      const added = defaults.filter(({ key }) => !tolerations.some((each) => covers(each, key)))
      return added.length === 0 ? undefined : { ...object, spec: { ...spec, tolerations: [...tolerations, ...added] } }
    },
  }
}

/** Whether the pod says something of its own about being driven out by this taint. */
function covers({ key = '', effect = 'NoExecute' }: Toleration, taint: string): boolean {
  return (key === '' || key === taint) && effect === 'NoExecute'
}
