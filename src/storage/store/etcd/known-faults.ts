/** Which versions of etcd have faults that matter here: a stale "most recent" read is one that no client can see. */

/** From which patch release on a minor release is sound; older ones have none, newer ones are. */
const soundFrom: { readonly [minor: number]: number } = { 5: 33, 6: 14 }
const newestListed = 6

/** What to warn of in this version; undefined: no fault is known. */
export function knownFaults(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  if (major > 3 || (major === 3 && minor > newestListed)) return undefined
  const sound = soundFrom[minor]
  if (major === 3 && sound !== undefined && patch >= sound) return undefined
  return `etcd ${version} has known faults (reads that are stale after a pause of a member, ways around its access control): use 3.5.33, 3.6.14 or later`
}
