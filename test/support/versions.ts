/**
 * Lists the test files that run at several Kubernetes versions. Tests use 1.23 unless their flags specify a version.
 * These files cover features that must not depend on the version: requests, watches, custom resources, admission and
 * authorization. The cheap files also run at 1.36. In the long variant, all of these files also run at the versions for
 * which recorded facts exist.
 */
import { long } from './long.ts'

const cheap: readonly string[] = [
  'test/apiserver/admission/node-restriction.test.ts',
  'test/apiserver/admission/resource-quota.test.ts',
  'test/apiserver/authn/bootstrap-tokens.test.ts',
  'test/apiserver/custom/conversion.test.ts',
  'test/apiserver/http/methods.test.ts',
]
/** Files that each take at least five seconds of CPU time. */
const costly: readonly string[] = [
  'test/apiserver/custom/custom-resources.test.ts',
  'test/apiserver/http/every-write-method.test.ts',
]

const files = long ? [...cheap, ...costly] : cheap
const laterVersions = long ? ['1.28', '1.31', '1.34', '1.36'] : ['1.36']

/**
 * Returns these files with the version in their query, such as `test/a.test.ts?version=1.36`. `batch.mjs` reads the
 * query.
 */
export function atLaterVersions(chosen: readonly string[]): string[] {
  return chosen
    .filter((file) => files.includes(file))
    .flatMap((file) => laterVersions.map((each) => withVersion(file, each)))
}

function withVersion(file: string, version: string): string {
  return `${file}?version=${version}`
}

/** Returns the path of a file without its version. */
export function pathOf(file: string): string {
  return file.split('?', 1)[0]!
}
