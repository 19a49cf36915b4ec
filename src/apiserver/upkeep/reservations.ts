/**
 * Checks at startup and every five minutes that the reserved addresses and ports, and the IPAddresses, match the stored
 * objects. See apiserver/registry/reservations/repair-reservations.ts and repair-address-records.ts.
 */

import type { Log } from '../../base/telemetry/log.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { repairAddressRecords } from '../registry/reservations/repair-address-records.ts'
import { repairReservations } from '../registry/reservations/repair-reservations.ts'

const periodMs = 5 * 60_000

/** Returns a loop that releases orphaned reservations and restores missing reservations. */
export function reservationsLoop(catalogue: Catalogue, log: Log): Loop {
  return {
    name: 'reservations',
    sources: [every(periodMs, 'all')],
    reconcile: async () => {
      const { freed, restored: taken, shared } = await repairReservations(catalogue)
      if (freed.length > 0) log.warn('released orphaned IP address and port allocations', summary(freed))
      if (taken.length > 0) log.warn('restored missing IP address and port allocations', summary(taken))
      if (shared.length > 0)
        log.error('several objects use the same IP address or port; delete all but one of them', summary(shared))
      const { created, deleted } = await repairAddressRecords(catalogue)
      if (created.length > 0) log.warn('created missing IPAddresses for Services', summary(created))
      if (deleted.length > 0) log.warn('deleted IPAddresses that do not belong to a Service', summary(deleted))
      return 'done'
    },
  }
}

function summary(keys: readonly string[]) {
  return { count: keys.length, keys: keys.slice(0, 10).join(' ') }
}
