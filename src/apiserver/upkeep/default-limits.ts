/**
 * The limits that `orch up` begins with: a container in the namespace `default` that does not say what it needs requests
 * a tenth of a processor. Limits that somebody has changed stay; `--default-limit-range=false` leaves them out.
 */
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { createMissing } from './own-objects.ts'

const spec = { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] }

/** Keeps the LimitRange with which the namespace `default` begins. */
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
