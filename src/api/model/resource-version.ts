/**
 * A resourceVersion on the wire is an opaque string that contains a store revision in decimal. Only these two functions
 * depend on that.
 */
import { shorten } from '../../base/text/shorten.ts'
import { badRequest } from './api-error.ts'

/** Returns the resourceVersion of a revision. */
export function formatVersion(revision: number): string {
  return String(revision)
}

/** Returns the revision of a resourceVersion. Throws 400 for text that this server never returns. */
export function parseVersion(text: string): number {
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(text))
    throw badRequest(`invalid resource version ${JSON.stringify(shorten(text, 50))}: use one that the server returned`)
  const revision = Number(text)
  // No revision exceeds 2^53, so any such number is simply too large.
  return Math.min(revision, Number.MAX_SAFE_INTEGER)
}
