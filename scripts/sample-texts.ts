/**
 * Prints a random sample of this repository's texts for readers who grade them. Each line contains a file name and a
 * text.
 *
 *   bin/node scripts/sample-texts.ts --seed=7                   30 texts of every category
 *   bin/node scripts/sample-texts.ts --seed=7 --category=logs   30 log messages
 *   bin/node scripts/sample-texts.ts --seed=7 --recordings=DIR  omit errors that repeat Kubernetes' wording
 *
 * A directory of recordings contains JSON files with Kubernetes responses, whose messages this repository repeats
 * verbatim. The same seed draws the same texts as long as the sources do not change.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { categories, type Text } from './texts.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    category: { type: 'string' },
    count: { type: 'string', default: '30' },
    recordings: { type: 'string', multiple: true, default: [] },
  },
})
const { category } = values
const recorded = [...new Set(values.recordings.flatMap(readStrings))].join('\n')
if (category !== undefined && categories[category] === undefined)
  throw new Error(`unknown category ${category}; known are ${Object.keys(categories).join(', ')}`)

for (const name of category === undefined ? Object.keys(categories) : [category]) {
  console.log(`## ${name}, seed ${values.seed}`)
  const texts = categories[name]!().filter(({ text }) => name !== 'errors' || !isRecorded(text))
  for (const { file, text } of sample(texts, Number(values.count), `${values.seed}/${name}`))
    console.log(`${file}: ${text}`)
  console.log()
}

/** Returns all multi-word strings in the JSON files of a directory. */
function readStrings(directory: string): readonly string[] {
  const files = globSync('**/*.json', { cwd: directory }).sort()
  const strings = files.flatMap((file) => readFileSync(join(directory, file), 'utf8').match(/"(?:[^"\\]|\\.)*"/g) ?? [])
  return strings.filter((text) => text.includes(' ')).map((text) => text.replaceAll('\\"', '"'))
}

/** Whether the words around the placeholders of a text occur in the recordings. */
function isRecorded(text: string): boolean {
  const parts = text.split(/<\w+>/).map((part) => part.trim())
  return recorded !== '' && parts.every((part) => recorded.includes(part))
}

/** Draws texts without repetition. */
function sample(texts: readonly Text[], count: number, seed: string): readonly Text[] {
  const random = randomFrom(seed)
  const remaining = [...texts]
  return Array.from(
    { length: Math.min(count, remaining.length) },
    () => remaining.splice(Math.floor(random() * remaining.length), 1)[0]!,
  )
}

/** Returns a generator of numbers from 0 to 1 that depend only on the seed (FNV-1a for the seed, then xorshift). */
function randomFrom(seed: string): () => number {
  let state = 2166136261
  for (const character of seed) state = Math.imul(state ^ character.codePointAt(0)!, 16777619)
  state = state >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}
