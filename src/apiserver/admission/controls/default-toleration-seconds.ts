/**
 * DefaultTolerationSeconds: lets pods stay on a not-ready or unreachable node for a limited time, five minutes by
 * default, unless they set their own tolerations.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Toleration } from '../../../api/kinds/core/types/scheduling.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Control } from '../admission.ts'

/** Toleration times in seconds by node condition. */
export interface TolerationSeconds {
  readonly 'not-ready': number
  readonly unreachable: number
}

const fiveMinutes: TolerationSeconds = { 'not-ready': 300, unreachable: 300 }

interface TolerationParts {
  readonly vendor: Vendor
  /** Toleration times in seconds. Each condition has a default of five minutes. */
  readonly tolerationSeconds?: TolerationSeconds
}

export function defaultTolerationSeconds({ vendor, tolerationSeconds = fiveMinutes }: TolerationParts): Control<Pod> {
  // The fields are in the same order as in stored objects, so that they need not be sorted for every pod.
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

/** Whether a toleration of the pod already covers a NoExecute taint. */
function covers({ key = '', effect = 'NoExecute' }: Toleration, taint: string): boolean {
  return (key === '' || key === taint) && effect === 'NoExecute'
}
