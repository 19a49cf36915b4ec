/**
 * Checks the texts of this repository for phrases that are hard to read. The number of phrases must never grow. When it
 * falls, lower the limit below. `--list` prints each occurrence. CONTRIBUTING.md explains how to rewrite them.
 */
import { categories } from './texts.ts'

const phrases =
  /\b(?:whoever|who asks|nobody|somebody|told (?:of|from)|(?:is|are|was|were|be) (?:told|looked at|seen to|gone)|puts? up with|such a one|in its life|how it is|how they are|goes? by|only just|that which|let go|rests? on|no longer there)\b/gi

/** Maximum number of occurrences. Lower it when the number falls. */
const limit = 30

/**
 * Omits error messages, which repeat the wording of Kubernetes, and commit subjects, which can no longer be changed.
 */
const checked = Object.entries(categories).filter(([category]) => category !== 'errors' && category !== 'commits')

const occurrences = checked.flatMap(([, find]) =>
  find().flatMap(({ file, text }) => [...text.matchAll(phrases)].map(([phrase]) => `${file}: "${phrase}" in: ${text}`)),
)
if (process.argv.includes('--list')) for (const occurrence of occurrences) console.log(occurrence)
console.log(`${occurrences.length} phrases that readers stumble over, ${limit} are allowed`)
if (occurrences.length > limit) {
  console.error('rewrite the new ones in plain English (--list prints all; CONTRIBUTING.md says how)')
  process.exitCode = 1
}
