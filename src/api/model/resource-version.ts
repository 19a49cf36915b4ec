/**
 * resourceVersion on the wire is an opaque string; behind it stands a store revision in decimal.
 * Only these two functions know that.
 */
import { shorten } from '../../base/text/shorten.ts'
import { badRequest } from './api-error.ts'

/** The resourceVersion of a revision. */
export function formatVersion(revision: number): string {
  return String(revision)
}

/** The revision of a resourceVersion; throws 400 for text that this server never hands out. */
export function parseVersion(text: string): number {
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(text))
    throw badRequest(
      `invalid resource version ${JSON.stringify(shorten(text, 50))}: it must be one that the server gave`,
    )
  const revision = Number(text)
  // No revision goes beyond 2^53, so any such number is simply too large.
  return Math.min(revision, Number.MAX_SAFE_INTEGER)
}
