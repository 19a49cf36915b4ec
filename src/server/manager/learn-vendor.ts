/** Detects the profile of the API server from its API groups. Waits until the server responds. */

import { groupName, profileNames, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { backoffMs } from '../../base/concurrency/backoff.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Client } from '../../client/requests/client.ts'

const backoff = { firstMs: 250, longestMs: 5_000 }

/** Returns undefined if the signal aborts. */
export async function learnVendor(client: Client, log: Log, signal: AbortSignal): Promise<Vendor | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      const { groups } = await client.read<{ groups: { name: string }[] }>('/apis', { signal })
      const names = new Set(groups.map(({ name }) => name))
      const servedVendor = profileNames.map(vendorOf).find((vendor) => names.has(groupName(vendor, 'coordination')))
      if (servedVendor !== undefined) return servedVendor
      log.error("the server's API groups match no known profile; will retry", { groups: names.size })
    } catch (error) {
      if (!signal.aborted) log.warn('the API server is unreachable; will retry', errorFields(error))
    }
    await pause(backoffMs(backoff, failures), signal)
  }
  return undefined
}
