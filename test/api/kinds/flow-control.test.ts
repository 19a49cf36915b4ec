/**
 * Tests FlowSchema and PriorityLevelConfiguration: defaults, validation, the status subresource, mandatory objects
 * and tables.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { flowSchema } from '../../../src/api/kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration as level } from '../../../src/api/kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../../../src/api/kinds/flowcontrol/types/mandatory.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const to = { priorityLevelConfiguration: { name: 'low' } }
const subjects = [{ kind: 'User', user: { name: 'u' } }]
const resource = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }

const specs: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
  [to, []],
  [{}, ['Required priorityLevelConfiguration.name']],
  [{ priorityLevelConfiguration: { name: 'A_' } }, ['Invalid priorityLevelConfiguration.name']],
  [{ ...to, matchingPrecedence: 10_000 }, []],
  [{ ...to, matchingPrecedence: 10_001 }, ['Invalid matchingPrecedence']],
  [{ ...to, matchingPrecedence: -1 }, ['Invalid matchingPrecedence']],
  [{ ...to, matchingPrecedence: 1 }, ['Invalid matchingPrecedence']],
  [{ ...to, distinguisherMethod: { type: 'ByNamespace' } }, []],
  [{ ...to, distinguisherMethod: {} }, ['NotSupported distinguisherMethod.type']],
]

test('a FlowSchema requires a priority level and a valid matching precedence', () => {
  for (const [spec, faults] of specs) expectFaults(spec, faults, 'spec.')
  assert.deepEqual(asJson(createBy(flowSchema, schema(to)).object).spec, { ...to, matchingPrecedence: 1000 })
})

const account = (name: string, namespace: string) => ({ kind: 'ServiceAccount', serviceAccount: { name, namespace } })

const subjectCases: readonly (readonly [subject: JsonObject, faults: readonly string[]])[] = [
  [{ kind: 'Group', group: { name: 'g' } }, []],
  [account('*', 'n'), []],
  [{ kind: 'Group', group: { name: 'g' }, user: {} }, ['Forbidden user']],
  [{ kind: 'Odd', user: {}, serviceAccount: {} }, ['NotSupported kind']],
  [account('A_', 'n'), ['Invalid serviceAccount.name']],
  [account('', ''), ['Required serviceAccount.name', 'Required serviceAccount.namespace']],
  [account('a', '*'), ['Invalid serviceAccount.namespace']],
  [{ kind: 'User', user: {} }, ['Required user.name']],
  [{ kind: 'User' }, ['Required user']],
  [{ kind: 'Group', user: { name: 'u' } }, ['Forbidden user', 'Required group']],
  [{ kind: 'Node' }, ['NotSupported kind']],
  [{}, ['NotSupported kind']],
]

test('a FlowSchema subject must set the field that matches its kind', () => {
  for (const [subject, faults] of subjectCases)
    expectFaults(
      { ...to, rules: [{ subjects: [subject], resourceRules: [resource] }] },
      faults,
      'spec.rules[0].subjects[0].',
    )
})

const resourceCases: readonly (readonly [change: JsonObject, faults: readonly string[]])[] = [
  [{}, []],
  [{ verbs: [] }, ['Required verbs']],
  [{ verbs: ['fly'] }, ['NotSupported verbs']],
  [{ verbs: ['proxy', 'watch'] }, []],
  [{ verbs: ['*', 'get'] }, ['Invalid verbs']],
  [{ apiGroups: [] }, ['Required apiGroups']],
  [{ apiGroups: ['*', 'a'] }, ['Invalid apiGroups']],
  [{ resources: [] }, ['Required resources']],
  [{ resources: ['*', 'a'] }, ['Invalid resources']],
  [{ namespaces: [] }, ['Required namespaces']],
  [{ namespaces: [], clusterScope: true }, []],
  [{ namespaces: ['*', 'a'] }, ['Invalid namespaces']],
  [{ namespaces: ['a', 'B'] }, ['Invalid namespaces[1]']],
]

test('a FlowSchema with invalid resource rules is rejected', () => {
  for (const [change, faults] of resourceCases) {
    const rules = [{ subjects, resourceRules: [{ ...resource, ...change }] }]
    expectFaults({ ...to, rules }, faults, 'spec.rules[0].resourceRules[0].')
  }
  expectFaults({ ...to, rules: [{}] }, ['Required rules[0]', 'Required rules[0].subjects'], 'spec.')
})

test('a FlowSchema with invalid non-resource rules is rejected', () => {
  const urls = (nonResourceURLs: string[], faults: readonly string[]) =>
    expectFaults(
      { ...to, rules: [{ subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] }] },
      faults,
      'spec.rules[0].nonResourceRules[0].',
    )
  urls(['/', '/a', '/a/*'], [])
  urls(['*'], [])
  urls([], ['Required nonResourceURLs'])
  urls(['*', '/a'], ['Invalid nonResourceURLs'])
  const bad = ['a', '/a b', '/a//b', '/a*b', '/a*', '/a/*/', '/*/*', '']
  urls(
    bad,
    bad.map((_, i) => `Invalid nonResourceURLs[${i}]`),
  )
})

const queue = (queuing: JsonObject) => ({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing } } })

const levels: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
  [{}, ['NotSupported type']],
  [{ type: 'Exempt' }, ['Invalid type']],
  [{ type: 'Exempt', limited: {} }, ['Forbidden limited', 'Invalid type']],
  [{ type: 'Limited' }, ['Required limited']],
  [{ type: 'Limited', limited: {} }, ['NotSupported limited.limitResponse.type']],
  [
    { type: 'Limited', limited: { assuredConcurrencyShares: -1, limitResponse: { type: 'Reject' } } },
    ['Invalid limited.assuredConcurrencyShares'],
  ],
  [
    { type: 'Limited', limited: { limitResponse: { type: 'Reject', queuing: { queues: -1 } } } },
    ['Forbidden limited.limitResponse.queuing'],
  ],
  [{ type: 'Limited', limited: { limitResponse: { type: 'Queue' } } }, ['Required limited.limitResponse.queuing']],
  [queue({}), []],
  [queue({ queues: -1, handSize: 1, queueLengthLimit: -1 }), ['handSize', 'queueLengthLimit', 'queues'].map(ofQueue)],
  [queue({ queues: 4, handSize: 5 }), [ofQueue('handSize')]],
  [queue({ handSize: -1 }), [ofQueue('handSize')]],
  [queue({ queues: 10_000_001, handSize: 1 }), [ofQueue('queues')]],
  [queue({ queues: 64, handSize: 10 }), []],
  [queue({ queues: 10_000, handSize: 9 }), [ofQueue('handSize')]],
]

test('a limited priority level requires shares, and either queues excess requests or rejects them', () => {
  for (const [spec, faults] of levels) {
    const reportedFaults = createBy(level, schema(spec)).faults
    assert.deepEqual(
      reportedFaults,
      faults.map((fault) => fault.replace(' ', ' spec.')),
      JSON.stringify(spec),
    )
  }
  assert.deepEqual(asJson(createBy(level, schema(queue({}))).object).spec, {
    type: 'Limited',
    limited: {
      assuredConcurrencyShares: 30,
      limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
    },
  })
})

test('mandatory FlowSchemas and priority levels must keep their fixed spec', () => {
  for (const [name, spec] of mandatoryFlowSchemas) {
    assert.deepEqual(createBy(flowSchema, schema(spec as JsonObject, name)).faults, [], name)
    assert.deepEqual(createBy(flowSchema, schema({ ...(spec as JsonObject), rules: [] }, name)).faults, [
      'Invalid spec',
    ])
  }
  assert.deepEqual(createBy(flowSchema, schema({ ...to, matchingPrecedence: 1 }, 'catch-all')).faults, [
    'Invalid spec',
    'Invalid spec.matchingPrecedence',
  ])
  for (const [name, spec] of mandatoryLevels('1.23'))
    assert.deepEqual(createBy(level, schema(spec as JsonObject, name)).faults, [], name)
  assert.deepEqual(createBy(level, schema(queue({}), 'catch-all')).faults, ['Invalid spec'])
})

test('the status of a FlowSchema is mutable only through the status subresource and has one condition per type', () => {
  const { object } = createBy(flowSchema, { ...schema(to), status: { conditions: [{ type: 'A' }] } })
  assert.deepEqual([asJson(object).status, object.metadata.generation], [{}, 1])
  const status = (...conditions: JsonObject[]) =>
    updateBy(
      flowSchema,
      object,
      { metadata: { name: 'x', generateName: 'y', labels: { a: 'b' } }, status: { conditions } },
      { subresource: 'status' },
    )
  const written = status({ type: 'Dangling', status: 'True' })
  assert.deepEqual([written.faults, written.object.metadata], [[], { name: 'x' }])
  assert.deepEqual(asJson(written.object).spec, asJson(object).spec)
  assert.deepEqual(
    [object, written.object].map((each) => cellsOf(flowSchema, each)[5]),
    ['?', 'True'],
  )
  assert.deepEqual(status({ type: 'A' }, { type: 'A' }, {}).faults, [
    'Duplicate status.conditions[1].type',
    'Required status.conditions[2].type',
  ])
  assert.equal(updateBy(flowSchema, object, schema({ ...to, matchingPrecedence: 2 })).object.metadata.generation, 2)
})

test('the FlowSchema table and the priority level table show the main settings', () => {
  const shown = (spec: JsonObject) => cellsOf(level, createBy(level, schema(spec)).object).slice(1, 6)
  assert.deepEqual(shown(queue({})), ['Limited', 30, 64, 8, 50])
  assert.deepEqual(shown({ type: 'Exempt' }), ['Exempt', ...Array(4).fill('<none>')])
  const [, name, precedence, method] = cellsOf(flowSchema, createBy(flowSchema, schema(to)).object)
  assert.deepEqual([name, precedence, method], ['low', 1000, '<none>'])
})

function expectFaults(spec: JsonObject, faults: readonly string[], place: string): void {
  const reportedFaults = createBy(flowSchema, schema(spec)).faults
  assert.deepEqual(
    reportedFaults,
    faults.map((fault) => fault.replace(' ', ` ${place}`)),
    JSON.stringify(spec),
  )
}

function schema(spec: JsonObject, name = 'x'): JsonObject {
  return { metadata: { name }, spec }
}

function ofQueue(name: string): string {
  return `Invalid limited.limitResponse.queuing.${name}`
}

test('after every change, a FlowSchema reports whether its priority level exists', async (t) => {
  const client = (await serve(t)).client()
  const schemas = `/apis/flowcontrol.apiserver.orch.io/v1beta2/flowschemas`
  const levels = `/apis/flowcontrol.apiserver.orch.io/v1beta2/prioritylevelconfigurations`
  const conditionMessage = async (name: string, status: string): Promise<string> => {
    const path = `${schemas}?watch=1&fieldSelector=metadata.name%3D${name}`
    for await (const { object } of client.watch(path, AbortSignal.timeout(120_000))) {
      const [condition] = object.status.conditions ?? []
      if (condition?.status === status) return `${condition.type} ${condition.reason} ${condition.lastTransitionTime}`
    }
    throw new Error('the watch ended')
  }
  for (const name of ['exempt', 'catch-all']) {
    assert.match(await conditionMessage(name, 'False'), /^Dangling Found 20/)
    for (const path of [schemas, levels])
      assert.deepEqual((await client.get(`${path}/${name}`)).body.metadata.annotations, {
        'apf.orch.io/autoupdate-spec': 'true',
      })
  }
  const created = await client.post(schemas, schema({ ...to, priorityLevelConfiguration: { name: 'mine' } }, 'a'))
  assert.deepEqual([created.status, created.body.status], [201, {}])
  assert.match(await conditionMessage('a', 'True'), /^Dangling NotFound 20/)
  assert.equal((await client.post(levels, { metadata: { name: 'mine' }, spec: queue({}) })).status, 201)
  assert.match(await conditionMessage('a', 'False'), /^Dangling Found 20/)
  await client.delete(`${levels}/mine`)
  assert.match(await conditionMessage('a', 'True'), /^Dangling NotFound 20/)
  const { body } = await client.get(`${schemas}/a`)
  // Sort the entries, because the server sorts them by time, and several entries may have the same time.
  const managers = body.metadata.managedFields.map(
    ({ manager, subresource = '' }: JsonObject) => `${manager} ${subresource}`,
  )
  assert.deepEqual(managers.toSorted(), ['orch status', 'unknown '])
})

test('a priority level has the default lendablePercent in every version', async (t) => {
  const client = (await serve(t, ['--emulated-version=1.28'])).client()
  const group = '/apis/flowcontrol.apiserver.orch.io'
  const create = async (version: string, name: string, spec: JsonObject) => {
    const { status, body } = await client.post(`${group}/${version}/prioritylevelconfigurations`, {
      metadata: { name },
      spec,
    })
    assert.equal(status, 201, JSON.stringify(body))
    return body.spec
  }
  const limitResponse = { type: 'Reject' }
  assert.deepEqual(
    await create('v1beta2', 'limited', { type: 'Limited', limited: { assuredConcurrencyShares: 1, limitResponse } }),
    { type: 'Limited', limited: { assuredConcurrencyShares: 1, limitResponse, lendablePercent: 0 } },
  )
  const { body } = await client.send(`${group}/v1beta3/prioritylevelconfigurations/exempt`, {
    method: 'PATCH',
    body: { spec: { exempt: { lendablePercent: 10 } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  assert.deepEqual(body.spec, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 10 } })
})
