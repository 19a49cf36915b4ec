/** Tests the index of policies and bindings by the labels that their selectors require. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MatchResources } from '../../../../src/api/kinds/admissionregistration/types/match-resources.ts'
import type { SelectorObject } from '../../../../src/api/selectors/label-selector.ts'
import type { AdmissionRequest } from '../../../../src/apiserver/admission/admission.ts'
import { Candidates } from '../../../../src/apiserver/admission/policy/candidates.ts'
import { matchedForm, matcherOf } from '../../../../src/apiserver/admission/policy/matching.ts'

const resource = { group: '', version: 'v1', resource: 'pods' }
const type = { group: '', version: 'v1', kind: 'Pod', plural: 'pods' }
const forms = { requested: { resource }, others: [] }
const podRequest = { operation: 'CREATE', type, forms, subresource: '', namespace: 'a', name: 'p' }
const request = podRequest as unknown as AdmissionRequest

const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }]
const binding = (name: string, resources: MatchResources) => ({ name, matcher: matcherOf(resources) })
const policyWith = (bindings: readonly ReturnType<typeof binding>[], resources: MatchResources = {}) => ({
  matcher: matcherOf({ resourceRules, ...resources }),
  bindings,
})

function namesOf(candidates: Candidates<ReturnType<typeof policyWith>>, namespace: { [name: string]: string }) {
  return candidates.select({ namespace, objects: [] }).map((candidate) => candidate.binding.name)
}

test('only bindings that match a label of the namespace or require no label are considered for a request', () => {
  const bindings = Array.from({ length: 1000 }, (_, i) =>
    binding(`b${i}`, { namespaceSelector: { matchLabels: { tenant: `t${i}` } } }),
  )
  const others = [binding('all', {}), binding('not', { namespaceSelector: notIn('tenant', ['t7']) })]
  const candidates = new Candidates([policyWith([...bindings, ...others])], request)
  assert.deepEqual(namesOf(candidates, { tenant: 't7', x: 'y' }), ['b7', 'all', 'not'])
  assert.deepEqual(namesOf(candidates, {}), ['all', 'not'])
})

test('policy bindings with rules for other resources are not considered', () => {
  const rule = { ...resourceRules[0]!, resources: ['secrets'] }
  const candidates = new Candidates([policyWith([binding('b', { resourceRules: [rule] })])], request)
  assert.ok(candidates.isEmpty)
})

test('the index selects the same policy bindings in the same order as a comparison of all selectors', () => {
  const random = (count: number) => Math.floor(Math.random() * count)
  const anySelector = (): SelectorObject | undefined => {
    const values = Array.from({ length: random(12) }, (_, i) => `v${i}`)
    const choices = [undefined, { matchLabels: { a: `v${random(3)}` } }, inValues('b', values), notIn('a', values)]
    return choices[random(choices.length)]
  }
  const resources = () => ({ namespaceSelector: anySelector(), objectSelector: anySelector() }) as MatchResources
  const anyLabels = () => ({ ...(random(2) && { a: `v${random(3)}` }), ...(random(2) && { b: `v${random(12)}` }) })
  const policies = Array.from({ length: 30 }, (_, p) =>
    policyWith(
      Array.from({ length: 10 }, (_, b) => binding(`${p}.${b}`, resources())),
      resources(),
    ),
  )
  const candidates = new Candidates(policies, request)
  for (let round = 0; round < 50; round++) {
    const labels = { namespace: anyLabels(), objects: [anyLabels(), anyLabels()] }
    const matches = ({ matcher }: (typeof policies)[0] | ReturnType<typeof binding>) =>
      matchedForm(matcher, request, labels) !== undefined
    const expected = policies.filter(matches).flatMap(({ bindings }) => bindings.filter(matches))
    const selected = candidates.select(labels).filter(({ policy, binding }) => matches(policy) && matches(binding))
    assert.deepEqual(
      selected.map((candidate) => candidate.binding.name),
      expected.map(({ name }) => name),
    )
  }
})

function inValues(key: string, values: string[]): SelectorObject {
  return { matchExpressions: [{ key, operator: 'In', values }] }
}

function notIn(key: string, values: string[]): NonNullable<MatchResources['namespaceSelector']> {
  return { matchExpressions: [{ key, operator: 'NotIn', values }] }
}
