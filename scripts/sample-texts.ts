/**
 * Prints a random sample of this repository's texts for readers who grade them. Each line contains a file name and a
 * text.
 *
 *   bin/node scripts/sample-texts.ts --seed=7                   30 texts of every category
 *   bin/node scripts/sample-texts.ts --seed=7 --category=logs   30 log messages
 *
 * The same seed draws the same texts as long as the sources do not change.
 */
import { parseArgs } from 'node:util'
import { categories, type Text } from './texts.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    category: { type: 'string' },
    count: { type: 'string', default: '30' },
  },
})
const { category } = values
if (category !== undefined && categories[category] === undefined)
  throw new Error(`unknown category ${category}; known are ${Object.keys(categories).join(', ')}`)

for (const name of category === undefined ? Object.keys(categories) : [category]) {
  console.log(`## ${name}, seed ${values.seed}`)
  for (const { file, text } of sample(categories[name]!(), Number(values.count), `${values.seed}/${name}`))
    console.log(`${file}: ${text}`)
  console.log()
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
