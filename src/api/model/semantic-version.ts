/** Semantic versions (semver.org, version 2.0.0), such as `1.36.0-beta.1`. */

const semanticVersion =
  /^(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/
const maxLength = 256

/** Whether the string is a semantic version. Strings longer than any real version are rejected. */
export function isSemanticVersion(text: string): boolean {
  return text.length <= maxLength && semanticVersion.test(text)
}

/** Compares major, minor and patch versions of two semantic versions. Returns a negative number if `a` is earlier. */
export function compareReleases(a: string, b: string): number {
  const right = releaseOf(b)
  for (const [i, part] of releaseOf(a).entries()) if (part !== right[i]) return part < right[i]! ? -1 : 1
  return 0
}

function releaseOf(version: string): bigint[] {
  return version.split(/[-+]/)[0]!.split('.').map(BigInt)
}
