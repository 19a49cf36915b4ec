/**
 * Maintains the default ServiceCIDR, which contains the ranges in the flags. The server creates the ServiceCIDR and
 * marks it as ready. If the flags contain a range of the other IP family too, the server adds the range. Any other
 * difference is only logged.
 */
import { sameJson } from '../../api/json/json.ts'
import type { ServiceCIDR } from '../../api/kinds/networking/service-cidr.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { changeFields, createMissing, getCached } from './own-objects.ts'
import { withCondition, writeStatus } from './status-conditions.ts'

const periodMs = 60_000

/**
 * Returns a loop that maintains the default ServiceCIDR. `ranges` contains the ranges in the flags, with the primary IP
 * family first.
 */
export function defaultServiceCidrLoop(catalogue: Catalogue, ranges: readonly string[], log: Log): Loop {
  return {
    name: 'default-service-cidr',
    sources: [every(periodMs, catalogue.vendor.apiService)],
    reconcile: async (name, signal) => {
      const resource = catalogue.stored('networking', 'servicecidrs')
      if (resource === undefined) return 'done'
      await createMissing(resource, { namespace: '', name }, { spec: { cidrs: [...ranges] } })
      const found: ServiceCIDR | undefined = getCached(resource, { namespace: '', name })
      if (found?.metadata.deletionTimestamp !== undefined) return 'done'
      await settleRanges(resource, { name, ranges, found, log })
      await writeStatus(resource, { name, signal, next: (object) => ready(object, resource.time()) })
      return 'done'
    },
  }
}

interface Settling {
  readonly name: string
  readonly ranges: readonly string[]
  readonly found: ServiceCIDR | undefined
  readonly log: Log
}

async function settleRanges(resource: Resource, { name, ranges, found, log }: Settling): Promise<void> {
  const cidrs = found?.spec?.cidrs ?? ranges
  if (sameJson([...cidrs], [...ranges])) return
  if (cidrs.length === 1 && ranges.length === 2 && cidrs[0] === ranges[0])
    await changeFields(resource, { namespace: '', name }, { spec: { cidrs: [...ranges] } })
  else log.warn('the default ServiceCIDR differs from --service-cluster-ip-range', { ranges: cidrs.join(' ') })
}

function ready(object: ApiObject, now: string): ApiObject {
  const message = 'The default ServiceCIDR is ready'
  return withCondition(object, { type: 'Ready', status: 'True', reason: '', message }, now)
}
