/**
 * Tests prepared selectors of any length. Each result is compared with the result of evaluating the selector's
 * requirements one by one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../src/api/model/api-error.ts'
import { FieldMatcher, parseFieldSelector } from '../../../src/api/selectors/field-selector.ts'
import {
  LabelMatcher,
  type Labels,
  parseLabelSelector,
  type Requirement,
} from '../../../src/api/selectors/label-selector.ts'
import { seeded } from '../../storage/store/random-source.ts'

/** Whether the labels match the requirement, according to its literal meaning. */
function holds(requirement: Requirement, labels: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
  switch (requirement.op) {
    case 'in':
      return value !== undefined && requirement.values.includes(value)
    case 'notin':
      return value === undefined || !requirement.values.includes(value)
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    case 'gt':
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) > requirement.value
    case 'lt':
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) < requirement.value
    default:
      return requirement satisfies never
  }
}

test('label selectors match according to each operator', () => {
  const random = seeded(Number(process.env.ORCH_TEST_SEED ?? 11))
  const keys = ['a', 'b', 'c', 'constructor']
  const values = ['', '1', '2', '30', 'x', 'y']
  const term = () => {
    const key = random.pick(keys)
    const some = Array.from({ length: 1 + random.below(3) }, () => random.pick(values)).join()
    return random.pick([
      `${key}=${random.pick(values)}`,
      `${key}!=${random.pick(values)}`,
      `${key} in (${some})`,
      `${key} notin (${some})`,
      key,
      `!${key}`,
      `${key}>1`,
      `${key}<2`,
    ])
  }
  let matched = 0
  for (let i = 0; i < 20_000; i++) {
    const requirements = parseLabelSelector(Array.from({ length: random.below(5) }, term).join())
    const chosen = keys.filter(() => random.chance(0.6)).map((key) => [key, random.pick(values)] as const)
    const labels = random.chance(0.1) ? undefined : Object.fromEntries(chosen)
    const expected = requirements.every((requirement) => holds(requirement, labels))
    const matcher = new LabelMatcher(requirements)
    assert.equal(matcher.matches(labels), expected, JSON.stringify({ requirements, labels }))
    // The index must find every matching object.
    const { choice } = matcher
    if (expected && choice !== undefined) assert.ok(choice.values.has(labels![choice.key]!))
    if (expected) matched++
  }
  assert.ok(matched > 2000 && matched < 18_000, `${matched} of 20000 matched`)
})

test('field selectors match according to each operator', () => {
  const random = seeded(Number(process.env.ORCH_TEST_SEED ?? 12))
  const values = ['', 'x', 'y', 'z']
  for (let i = 0; i < 20_000; i++) {
    const terms = Array.from({ length: random.below(5) }, () => {
      return `${random.pick(['a', 'b'])}${random.pick(['=', '==', '!='])}${random.pick(values)}`
    })
    const requirements = parseFieldSelector(terms.join())
    const fields = new Map([
      ['a', random.pick([...values, undefined])],
      ['b', random.pick(values)],
    ])
    const fieldValue = (path: string) => fields.get(path)
    const expected = requirements.every(({ path, equal, value }) => ((fieldValue(path) ?? '') === value) === equal)
    assert.equal(
      new FieldMatcher(requirements).matches(fieldValue),
      expected,
      JSON.stringify({ terms, fields: [...fields] }),
    )
  }
})

test('the cost of matching an object does not grow with the size of the label selector', () => {
  const looks = { labels: 0, fields: 0 }
  const labels = new Proxy<{ [key: string]: string }>(
    { app: 'a' },
    {
      get: (target, key: string) => {
        looks.labels++
        return target[key]
      },
    },
  )
  const long = Array.from({ length: 999 }, (_, i) => `!k${i}`).join()
  assert.equal(new LabelMatcher(parseLabelSelector(`${long},app`)).matches(labels), true)
  const names = Array.from({ length: 1000 }, (_, i) => `metadata.name!=n${i}`).join()
  const countLooks = () => {
    looks.fields++
    return 'other'
  }
  assert.equal(new FieldMatcher(parseFieldSelector(names)).matches(countLooks), true)
  assert.ok(looks.labels <= 2 && looks.fields <= 2, JSON.stringify(looks))
})

test('a selector with too many requirements is rejected, and the error contains the number of requirements', () => {
  const many = (count: number, term: (i: number) => string) => Array.from({ length: count }, (_, i) => term(i)).join()
  const refused = (parse: () => unknown, words: RegExp) =>
    assert.throws(parse, (error) => error instanceof ApiError && error.code === 400 && words.test(error.message))
  refused(() => parseFieldSelector(many(1001, (i) => `a!=${i}`)), /1001 requirements, but at most 1000 are allowed/)
  refused(() => parseLabelSelector(many(1001, (i) => `a${i}`)), /more than 1000 requirements/)
  refused(() => parseFieldSelector(`a=${'x'.repeat(64 * 1024)}`), /longer than/)
  assert.equal(parseFieldSelector(many(1000, (i) => `a!=${i}`)).length, 1000)
})
