/** `--emulated-version`: the Kubernetes version to emulate, written as `1.29` or `kube=1.29`. */
import {
  type EmulatedVersion,
  emulatedVersions,
  newestVersion,
  oldestVersion,
} from '../../api/versions/emulated-version.ts'
import { UsageError } from '../../base/flags/flags.ts'

/** Parses the version. For an unknown version, throws UsageError with the range of supported versions. */
export function readEmulatedVersion(text: string): EmulatedVersion {
  const [component = '', ...rest] = text.split('=')
  const requestedVersion = rest.length === 0 ? component : rest.join('=')
  if (text.includes(',')) throw refusal(text, 'specify exactly one version')
  if (rest.length > 0 && component !== 'kube') throw refusal(text, `use the component kube instead of ${component}`)
  const version = emulatedVersions.find((each) => each === requestedVersion)
  if (version === undefined) throw refusal(text, 'specify a major and a minor version')
  return version
}

function refusal(text: string, advice: string): UsageError {
  return new UsageError(
    `cannot emulate ${JSON.stringify(text)}: ${advice}, from ${oldestVersion} to ${newestVersion}, such as 1.29 or kube=1.29`,
  )
}
