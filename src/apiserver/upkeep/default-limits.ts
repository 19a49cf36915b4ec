/**
 * The LimitRange that `orch up` creates: containers in the namespace `default` that set no CPU request get 100m.
 * Changes by users are preserved. `--default-limit-range=false` disables it.
 */
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { createMissing } from './own-objects.ts'

const spec = { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] }

/** Creates the LimitRange of the namespace `default` if it is missing. */
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
