/**
 * Parses the `apiVersion` of an object: a group and a version, as in `apps/v1`, or only a version, as in `v1`, for the
 * core group. The name of the core group is empty.
 */

/** Returns the group of an apiVersion: `apps` for `apps/v1`, and '' for `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

/** Returns the version of an apiVersion: `v1` for `apps/v1` and for `v1`. */
export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}
