/** Serves `/version`, the list of paths at `/`, and the 404 for unknown paths. */

import { jsonDocument } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { noSuchPath } from '../../../api/model/api-error.ts'
import { versionInfo } from '../../../api/schema/meta-types.ts'
import { derivation } from '../../../api/schema/of-version.ts'
import { type EmulatedVersion, isAtLeast, minorOf, releaseOf } from '../../../api/versions/emulated-version.ts'
import { buildInfo } from '../../../base/text/build-info.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import { sendBytes, sendPageNotFound } from '../response/responses.ts'

export interface VersionInfo {
  /** The version of this program. */
  readonly version: string
  /** The version of the Kubernetes API that the server implements. */
  readonly api: EmulatedVersion
}

/** Serves `/` and `/version`. */
export function rootPaths(info: VersionInfo, paths: () => readonly string[]): PathHandler {
  const answers: { readonly [path: string]: () => JsonObject } = {
    '/': () => ({ paths: [...paths()] }),
    '/version': () => versionDocument(info),
    '/version/': () => versionDocument(info),
  }
  const versionSchema = derivation(info.api).schema(versionInfo)
  return (exchange, { path, verb }) => {
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
    if (answer === undefined) return false
    if (verb !== 'get' && (path !== '/' || verb !== 'head')) throw notAllowed()
    return sendBytes(exchange, 200, jsonDocument(answer(), versionSchema))
  }
}

function versionDocument({ version, api }: VersionInfo): JsonObject {
  const { major, minor, patch } = releaseOf(api)
  return {
    major,
    minor,
    ...(isAtLeast(api, '1.33') && {
      emulationMajor: major,
      emulationMinor: minor,
      minCompatibilityMajor: major,
      minCompatibilityMinor: String(minorOf(api) - 1),
    }),
    gitVersion: `v${major}.${minor}.${patch}+orch.${version}`,
    gitCommit: buildInfo.commit,
    gitTreeState: buildInfo.treeState,
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: `node ${process.versions.node}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
}

/**
 * Handles requests that no other handler accepts. For paths below `/version`, the error reports an unknown resource.
 * For all other paths, it reports that the path was not found.
 */
export const unknownPath: PathHandler = async (exchange, { path }) => {
  if (path.startsWith('/version/')) throw noSuchPath()
  sendPageNotFound(exchange)
}
