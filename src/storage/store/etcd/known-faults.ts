/**
 * Known bugs of etcd versions that affect this store. For example, some versions return stale results for linearizable
 * reads, which no client can detect.
 */

/**
 * The first patch release of each minor release that fixes the known bugs. Older minor releases were never fixed. Newer
 * minor releases are not affected.
 */
const soundFrom: { readonly [minor: number]: number } = { 5: 33, 6: 14 }
const newestListed = 6

/** Returns a warning if the given etcd version has a bug that affects the store, or undefined otherwise. */
export function knownFaults(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  if (major > 3 || (major === 3 && minor > newestListed)) return undefined
  const sound = soundFrom[minor]
  if (major === 3 && sound !== undefined && patch >= sound) return undefined
  return `etcd ${version} has known bugs (stale reads after a member was paused, access control bypasses): use 3.5.33, 3.6.14 or later`
}
