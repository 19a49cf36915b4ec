/**
 * Tests the check whether a set of rules covers a rule, by comparing it with a brute-force check of individual
 * permissions. Also tests the cost of the check for many rules.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Coverage, coverage } from '../../../src/apiserver/authz/rbac/coverage.ts'
import { type PolicyRule, ruleOf } from '../../../src/apiserver/authz/rbac/rule.ts'
import { runToCompletion, TimeSlice } from '../../../src/base/concurrency/time-slice.ts'
import { type RandomSource, seeded } from '../../storage/store/random-source.ts'
import { assertBrief } from '../../support/effort.ts'

const judge = (held: readonly PolicyRule[], given: readonly PolicyRule[], most = 20): Coverage =>
  runToCompletion(coverage(held.map(ruleOf), given, most))

/**
 * Determines by brute force whether the rule is covered: each individual permission in the rule must be in one of the
 * user's rules.
 */
function isCovered(held: readonly PolicyRule[], rule: PolicyRule): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const has = (words: readonly string[] | undefined, word: string) => words?.includes('*') || words?.includes(word)
  const hasResource = (words: readonly string[] | undefined, word: string) =>
    has(words, word) || (word.includes('/') && has(words, `*${word.slice(word.indexOf('/'))}`))
  const hasName = (words: readonly string[] = [], word: string | undefined) =>
    words.length === 0 || (word !== undefined && words.includes(word))
  const hasPath = (paths: readonly string[] = [], path: string) =>
    paths.some((own) => own === '*' || own === path || (own.endsWith('*') && path.startsWith(own.slice(0, -1))))
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  return verbs.every(
    (verb) =>
      apiGroups.every((group) =>
        resources.every((resource) =>
          names.every((name) =>
            held.some(
              (own) =>
                has(own.verbs, verb) &&
                has(own.apiGroups, group) &&
                hasResource(own.resources, resource) &&
                hasName(own.resourceNames, name),
            ),
          ),
        ),
      ) &&
      nonResourceURLs.every((path) => held.some((own) => has(own.verbs, verb) && hasPath(own.nonResourceURLs, path))),
  )
}

const some = (random: RandomSource, words: readonly string[], most: number) =>
  Array.from({ length: 1 + random.below(most) }, () => words[random.below(words.length)]!)

function randomRule(random: RandomSource): PolicyRule {
  const verbs = some(random, ['get', 'list', 'watch', '*'], 2)
  if (random.chance(0.2)) return { verbs, nonResourceURLs: some(random, ['/a', '/a/*', '/a/b', '*', '/b'], 2) }
  const resources = some(random, ['pods', 'pods/log', '*/log', 'nodes', '*'], 2)
  const rule = { verbs, apiGroups: some(random, ['', 'apps', '*'], 2), resources }
  return random.chance(0.3) ? { ...rule, resourceNames: some(random, ['x', 'y'], 2) } : rule
}

test('for random RBAC rules, the check for covered rules agrees with a brute-force check', () => {
  const random = seeded(11)
  let covered = 0
  for (let i = 0; i < 3000; i++) {
    const held = Array.from({ length: random.below(8) }, () => randomRule(random))
    const rule = randomRule(random)
    const expected = isCovered(held, rule)
    const { uncovered, decided } = judge(held, [rule])
    assert.deepEqual([uncovered.length === 0, decided], [expected, true], JSON.stringify({ held, rule }))
    if (expected) covered++
  }
  assert.ok(covered > 600, `${covered} covered`)
})

const many = (count: number, make: (i: number) => PolicyRule) => Array.from({ length: count }, (_, i) => make(i))
const verbs = ['get', 'list']

/** Sets of rules that differ in only one list. */
const shapes: { readonly [part: string]: (i: number) => PolicyRule } = {
  resources: (i) => ({ verbs, apiGroups: ['apps'], resources: [`r${i}`] }),
  groups: (i) => ({ verbs, apiGroups: [`g${i}`], resources: ['pods'] }),
  names: (i) => ({ verbs, apiGroups: [''], resources: ['pods'], resourceNames: [`n${i}`] }),
  verbs: (i) => ({ verbs: [`v${i}`], apiGroups: [''], resources: ['pods'] }),
  'groups of all resources': (i) => ({ verbs, apiGroups: [`g${i}`], resources: ['*'] }),
  paths: (i) => ({ verbs, nonResourceURLs: [`/p${i}`] }),
}

for (const [part, make] of Object.entries(shapes)) {
  test(`2,000 RBAC rules are covered by 10,000 rules that differ in their ${part}`, async () => {
    const held = many(10_000, make).map(ruleOf)
    const given = many(2000, (i) => make(i * 5))
    const { result } = await assertBrief(50, () => new TimeSlice().run(coverage(held, given, 20)))
    assert.deepEqual(result, { uncovered: [], decided: true })
    const more = [...given, make(10_000)]
    assert.deepEqual(judge(many(10_000, make), more), { uncovered: [make(10_000)], decided: true })
  })
}

test('many narrow RBAC rules together cover a wide rule', () => {
  const words = (prefix: string) => Array.from({ length: 100 }, (_, i) => `${prefix}${i}`)
  const held = words('g').flatMap((group) =>
    words('r').map((resource) => ({ verbs, apiGroups: [group], resources: [resource] })),
  )
  const wide = { verbs, apiGroups: words('g'), resources: words('r') }
  assert.deepEqual(judge(held, [wide]), { uncovered: [], decided: true })
})

test('a check of RBAC rules yields to other work, and ends without a result if it is too expensive', async () => {
  const words = (prefix: string) => Array.from({ length: 400 }, (_, i) => `${prefix}${i}`)
  const wide = { verbs: words('v'), apiGroups: words('g'), resources: words('r') }
  // Each of the 64 million permissions is granted by a rule with a single verb.
  const held = words('v').map((verb) => ruleOf({ ...wide, verbs: [verb] }))
  const { result } = await assertBrief(50, () => new TimeSlice().run(coverage(held, [wide], 20)))
  assert.deepEqual(result, { uncovered: [], decided: false })
  const lacking = { verbs: ['x'], apiGroups: ['x'], resources: ['x'] }
  assert.deepEqual(
    judge(
      words('v').map((verb) => ({ ...wide, verbs: [verb] })),
      [lacking, wide],
    ),
    {
      uncovered: [lacking],
      decided: false,
    },
  )
})
