/**
 * Checks the Node.js version against `engines` in package.json. Test runners use the Node.js on the PATH. With an old
 * version, they would fail later with an unclear error.
 */
const floors: readonly (readonly [number, number, number])[] = [
  [24, 18, 1],
  [26, 5, 1],
]

/** Throws an error that lists the supported versions if the given version is not supported. */
export function assertNodeFits(version: string): void {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const isNewer = major > floors.at(-1)![0]
  const fits = floors.some(([a, b, c]) => major === a && (minor > b || (minor === b && patch >= c)))
  if (isNewer || fits) return
  const supportedVersions = floors.map((floor) => floor.join('.')).join(', ')
  throw new Error(`orch/testing cannot run on Node ${version}: use ${supportedVersions} or newer`)
}
