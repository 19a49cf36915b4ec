/** The `apiVersion` of an object taken apart: `apps/v1`, or `v1` in the core group, whose name is empty. */

/** The group of `apps/v1`; '' of `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

/** `v1` of `apps/v1` and of `v1`. */
export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}
