/**
 * Creates the LimitRange for `orch up`. In the namespace `default`, this LimitRange sets a CPU request of 100m for
 * containers without a CPU request. User changes to the LimitRange are preserved. With `--default-limit-range=false`,
 * the LimitRange is not created.
 */
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { createMissing } from './own-objects.ts'

const spec = { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] }

/** Returns a loop that creates the LimitRange of the namespace `default` if it is missing. */
export function defaultLimitsLoop(catalogue: Catalogue): Loop {
  return {
    name: 'default-limits',
    sources: [atStart('limits')],
    reconcile: async (name) => {
      const ranges = catalogue.stored('core', 'limitranges')
      if (ranges !== undefined) await createMissing(ranges, { namespace: 'default', name }, { spec })
      return 'done'
    },
  }
}
