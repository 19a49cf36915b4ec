/**
 * The Kubernetes versions that the server can emulate (`--emulated-version`), and their order. Each version is
 * represented by its newest patch release, which appears only in `/version` and in the version of simulated nodes.
 */

/**
 * A Kubernetes minor version to which a definition refers, such as `1.25`. The version may be later than every emulated
 * version.
 */
export type KubeVersion = `1.${number}`

/** Number of the newest patch release for each minor version. */
const patches = {
  '1.23': '17',
  '1.24': '17',
  '1.25': '16',
  '1.26': '15',
  '1.27': '16',
  '1.28': '15',
  '1.29': '15',
  '1.30': '14',
  '1.31': '14',
  '1.32': '13',
  '1.33': '13',
  '1.34': '11',
  '1.35': '8',
  '1.36': '4',
} as const

/** A minor version that the server can emulate, such as `1.36`. */
export type EmulatedVersion = keyof typeof patches

/** All versions that the server can emulate, oldest first. */
export const emulatedVersions = Object.keys(patches) as readonly EmulatedVersion[]

/**
 * The oldest version that the server can emulate. Definitions without `since` exist in this version and in all later
 * versions.
 */
export const oldestVersion: EmulatedVersion = '1.23'

/** The latest Kubernetes version that the server can emulate. */
export const newestVersion: EmulatedVersion = '1.36'

/** Whether the version is `since` or later. */
export function isAtLeast(version: KubeVersion, since: KubeVersion): boolean {
  return minorOf(version) >= minorOf(since)
}

/** Returns the minor version as a number, such as 25 for `1.25`. */
export function minorOf(version: KubeVersion): number {
  return Number(version.slice(2))
}

/** A Kubernetes version including its patch release, as `/version` reports it. */
export interface ReleaseVersion {
  readonly major: string
  readonly minor: string
  readonly patch: string
}

/** Returns the version with its newest patch release. */
export function releaseOf(version: EmulatedVersion): ReleaseVersion {
  return { major: '1', minor: version.slice(2), patch: patches[version] }
}
