/** Reads `--cors-allowed-origins`: regular expressions that match in linear time for any input. */

import type { IsAllowedOrigin } from '../../apiserver/http/steps/allow-origins.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'

/**
 * Reads the patterns, or returns undefined if the list is empty. A pattern may match any part of an origin, as in Go.
 * Throws UsageError for an invalid pattern.
 */
export async function readAllowedOrigins(patterns: readonly string[]): Promise<IsAllowedOrigin | undefined> {
  if (patterns.length === 0) return undefined
  const { RE2JS } = await import('re2js')
  const compiled = patterns.map((pattern) => {
    try {
      return RE2JS.compile(pattern)
    } catch (error) {
      const why = messageOf(error)
      throw new UsageError(`--cors-allowed-origins: ${JSON.stringify(pattern)} is not a regular expression: ${why}`)
    }
  })
  return (origin) => compiled.some((pattern) => pattern.test(origin))
}
