/**
 * The string form of a resourceVersion, which is opaque to clients. It contains a store revision in decimal, and only
 * the two functions in this file depend on this format.
 */
import { shorten } from '../../base/text/shorten.ts'
import { badRequest } from './api-error.ts'

/** Formats a store revision as a resourceVersion. */
export function formatVersion(revision: number): string {
  return String(revision)
}

/** Returns the revision of a resourceVersion. Throws a 400 error for text that this server never returns. */
export function parseVersion(text: string): number {
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(text))
    throw badRequest(
      `invalid resource version ${JSON.stringify(shorten(text, 50))}: use a version that the server returned`,
    )
  const revision = Number(text)
  // Cap the revision. No store ever reaches this number.
  return Math.min(revision, Number.MAX_SAFE_INTEGER)
}
