/** Generated names, which consist of a prefix and five random characters. */
import { randomUUID } from 'node:crypto'
import { shorten } from '../../base/text/shorten.ts'

/** The characters of generated names. Vowels are excluded so that the names contain no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const randomLength = 5
const maxPrefixLength = 63 - randomLength

/** Appends random characters to a prefix. Truncates the prefix if the name would be too long. */
export function generateName(prefix: string): string {
  // The random bits come from a UUID, because Node.js generates UUIDs from buffered random bytes. Requesting a few
  // random bytes directly would cost a system call each time.
  let random = Number.parseInt(randomUUID().slice(0, 8), 16)
  let suffix = ''
  for (let i = 0; i < randomLength; i++) {
    suffix += alphabet[random % alphabet.length]
    random = Math.floor(random / alphabet.length)
  }
  return `${shorten(prefix, maxPrefixLength)}${suffix}`
}
