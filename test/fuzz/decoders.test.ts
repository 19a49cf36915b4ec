/**
 * Tests decoders with random and damaged documents. An accepted document must survive a round trip in any format, and
 * all other documents must be rejected. Label selectors must match the same labels as simple functions with the same
 * meaning.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson, stringifyJson } from '../../src/api/codec/json.ts'
import { stringifyYaml } from '../../src/api/codec/write-yaml.ts'
import { parseYaml } from '../../src/api/codec/yaml.ts'
import type { Json } from '../../src/api/json/json.ts'
import { LabelMatcher, parseLabelSelector } from '../../src/api/selectors/label-selector.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { damaged, randomJson, spellJson } from './documents.ts'
import { rounds, Slowest, seed, tell, unlessRefused } from './scale.ts'

const limit = 3 * 1024 * 1024
const generous = 1000
const fromJson = (text: string | Buffer) => parseJson(Buffer.from(text)).value
const fromYaml = (text: string | Buffer) => parseYaml(Buffer.from(text), limit).value

test('a random value decodes to the same value in every format', () => {
  const random = seeded(seed)
  const count = rounds(1500, 50_000)
  for (let i = 0; i < count; i++) {
    const value = randomJson(random)
    const text = spellJson(random, value)
    assert.deepEqual(fromJson(text), value, text)
    assert.deepEqual(fromYaml(text), value, text)
    const written = stringifyJson(value)
    assert.deepEqual(fromJson(written), value, written)
    const yaml = stringifyYaml(value)
    assert.deepEqual(fromYaml(yaml), value, yaml)
    // The output is canonical, regardless of the notation of the input.
    assert.equal(stringifyJson(fromYaml(yaml)), written)
  }
  tell('forms', { values: count, differences: 0 })
})

for (const [name, write, parse] of [
  ['JSON', (random: RandomSource, value: Json) => spellJson(random, value), fromJson],
  ['YAML', (_: RandomSource, value: Json) => stringifyYaml(value), fromYaml],
] as const)
  test(`damaged ${name} input is rejected or survives a round trip`, () => {
    const random = seeded(seed + 1)
    const slowest = new Slowest()
    const counts = { documents: rounds(2500, 200_000), accepted: 0 }
    for (let i = 0; i < counts.documents; i++) {
      const bytes = damaged(random, write(random, randomJson(random)))
      const value = slowest.run(() => unlessRefused(() => parse(bytes)))
      if (value === undefined) continue
      counts.accepted++
      // Compares the written text, because -0 is parsed as -0 but written as 0.
      const written = stringifyJson(value, undefined, 512)
      assert.equal(stringifyJson(fromJson(written), undefined, 512), written, bytes.toString())
      assert.equal(stringifyJson(fromYaml(stringifyYaml(value)), undefined, 512), written, bytes.toString())
    }
    assert.ok(counts.accepted > counts.documents / 100)
    assert.ok(slowest.ms < generous, `${slowest.ms} ms`)
    tell(`damaged ${name}`, { ...counts, 'ms for the slowest': Math.round(slowest.ms) })
  })

const keys = ['a', 'b', 'x.io/c', 'constructor']
const values = ['', '1', 'x', 'y-z']
type Labels = { readonly [key: string]: string }
/** A requirement as text, and a function with the same meaning. */
type Term = readonly [text: string, meaning: (labels: Labels) => boolean]

function randomTerm(random: RandomSource): Term {
  const key = random.pick(keys)
  const value = random.pick(values)
  const some = Array.from({ length: 1 + random.below(3) }, () => random.pick(values))
  const get = (labels: Labels) => (Object.hasOwn(labels, key) ? labels[key]! : undefined)
  const isIn = (labels: Labels) => get(labels) !== undefined && some.includes(get(labels)!)
  const space = () => random.pick(['', ' '])
  return random.pick<Term>([
    [key, (labels) => get(labels) !== undefined],
    [`!${key}`, (labels) => get(labels) === undefined],
    [`${key}${space()}=${space()}${value}`, (labels) => get(labels) === value],
    [`${key}==${value}`, (labels) => get(labels) === value],
    [`${key}${space()}!=${value}`, (labels) => get(labels) !== value],
    [`${key} in (${some.join(`,${space()}`)})`, isIn],
    [`${key} notin (${some.join()})`, (labels) => !isIn(labels)],
  ])
}

test('random label selectors match as a simple model predicts, and damaged selectors do not cause unexpected errors', () => {
  const random = seeded(seed + 3)
  const slowest = new Slowest()
  const count = rounds(2500, 50_000)
  for (let i = 0; i < count; i++) {
    const terms = Array.from({ length: 1 + random.below(4) }, () => randomTerm(random))
    const chosen = keys.filter(() => random.chance(0.5)).map((key) => [key, random.pick(values)] as const)
    const labels: Labels = Object.fromEntries(chosen)
    const text = terms.map(([term]) => term).join()
    const expected = terms.every(([, meaning]) => meaning(labels))
    assert.equal(
      new LabelMatcher(parseLabelSelector(text)).matches(labels),
      expected,
      `${text} on ${JSON.stringify(labels)}`,
    )
    const broken = damaged(random, text).toString()
    const parsed = slowest.run(() => unlessRefused(() => parseLabelSelector(broken)))
    if (parsed !== undefined) new LabelMatcher(parsed).matches(labels)
  }
  assert.ok(slowest.ms < generous, `${slowest.ms} ms`)
  tell('label selectors', { selectors: 2 * count, differences: 0 })
})
