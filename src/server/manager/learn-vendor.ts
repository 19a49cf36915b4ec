/** Determines the API server's profile and version. Waits until the server responds. */

import { groupName, profileNames, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { type EmulatedVersion, emulatedVersions } from '../../api/versions/emulated-version.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { backoffMs } from '../../base/concurrency/backoff.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Client } from '../../client/requests/client.ts'

const backoff = { firstMs: 250, longestMs: 5_000 }

/** Determines the vendor from the API groups that the server lists. Returns undefined if the signal aborts. */
export async function learnVendor(client: Client, log: Log, signal: AbortSignal): Promise<Vendor | undefined> {
  return await learn({ log, signal }, async () => {
    const { groups } = await client.read<{ groups: { name: string }[] }>('/apis', { signal })
    const names = new Set(groups.map(({ name }) => name))
    const servedVendor = profileNames.map(vendorOf).find((vendor) => names.has(groupName(vendor, 'coordination')))
    if (servedVendor === undefined)
      log.error("the server's API groups match no known profile; will retry", { groups: names.size })
    return servedVendor
  })
}

/** Returns the Kubernetes version that the server reports in `/version`, or undefined if the signal aborts. */
export async function learnVersion(
  client: Client,
  log: Log,
  signal: AbortSignal,
): Promise<EmulatedVersion | undefined> {
  return await learn({ log, signal }, async () => {
    const { major, minor } = await client.read<{ major: string; minor: string }>('/version', { signal })
    const version = emulatedVersions.find((each) => each === `${major}.${minor}`)
    if (version === undefined)
      log.error("the server's version is not supported; will retry", { version: `${major}.${minor}` })
    return version
  })
}

interface LearnOptions {
  readonly log: Log
  readonly signal: AbortSignal
}

/** Repeats a request until it succeeds and yields a value. */
async function learn<T>(options: LearnOptions, read: () => Promise<T | undefined>): Promise<T | undefined> {
  const { log, signal } = options
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      const value = await read()
      if (value !== undefined) return value
    } catch (error) {
      if (!signal.aborted) log.warn('the API server is unreachable; will retry', errorFields(error))
    }
    await pause(backoffMs(backoff, failures), signal)
  }
  return undefined
}
