/** Names that the server makes up: a prefix, and five characters that make it one of its own. */
import { randomUUID } from 'node:crypto'
import { shorten } from '../../base/text/shorten.ts'

/** Without vowels, so that no words come about. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const randomLength = 5
const maxPrefixLength = 63 - randomLength

/** The prefix is cut where the name would be too long. */
export function generateName(prefix: string): string {
  // Node draws uuids from a stock of random bytes; a few bytes alone cost it a call of the system.
  let random = Number.parseInt(randomUUID().slice(0, 8), 16)
  let suffix = ''
  for (let i = 0; i < randomLength; i++) {
    suffix += alphabet[random % alphabet.length]
    random = Math.floor(random / alphabet.length)
  }
  return `${shorten(prefix, maxPrefixLength)}${suffix}`
}
