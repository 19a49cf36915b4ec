/** Parses the `apiVersion` of an object, such as `apps/v1`, or `v1` in the core group, whose name is empty. */

/** Returns the group of an apiVersion: `apps` for `apps/v1`, and '' for `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

/** Returns the version of an apiVersion: `v1` for `apps/v1` and for `v1`. */
export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}
