/**
 * Tests Job fields added since Kubernetes 1.24: policies, backoff per index, manager, generated labels, updates and
 * strict statuses.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { cronJob } from '../../../src/api/kinds/batch/cron-job.ts'
import { job } from '../../../src/api/kinds/batch/job.ts'
import { commonIndex, countIndexes } from '../../../src/api/kinds/batch/types/index-list.ts'
import { type ApiObject, asJson } from '../../../src/api/model/object.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { podsOf } from './pods-of.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const newest = { version: '1.36' } as const
const template = podsOf({ restartPolicy: 'Never' })
const objectOf = (spec: JsonObject, name = 'a'): JsonObject => ({
  metadata: { name, uid: 'u' },
  spec: { template, ...spec },
})
const create = (spec: JsonObject, version: EmulatedVersion = '1.36') => createBy(job, objectOf(spec), { version })
const specOf = (object: ApiObject) => asJson(object).spec as JsonObject

const onCode = (values: readonly number[], more: JsonObject = {}) => ({ operator: 'In', values: [...values], ...more })
const rule = (more: JsonObject): JsonObject => ({ action: 'Ignore', ...more })
const failure = (...rules: JsonObject[]): JsonObject => ({ podFailurePolicy: { rules } })
const indexed = { completionMode: 'Indexed', completions: 10, parallelism: 2 }
const success = (...rules: JsonObject[]): JsonObject => ({ ...indexed, successPolicy: { rules } })
const onReady = { onPodConditions: [{ type: 'Ready' }] }

test('Job policies, limits and managers are validated', () => {
  const first = 'spec.podFailurePolicy.rules[0]'
  const codes = `${first}.onExitCodes`
  const conditions = `${first}.onPodConditions`
  const succeeded = 'spec.successPolicy.rules[0]'
  const many = { completionMode: 'Indexed', completions: 200_000, parallelism: 1, backoffLimitPerIndex: 1 }
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    [{ podFailurePolicy: {} }, []],
    [failure(rule(onReady), { action: 'FailJob', onExitCodes: onCode([1, 7], { containerName: 'c' }) }), []],
    [failure({}), [`Invalid ${first}`, `Required ${first}.action`]],
    [failure(rule({ ...onReady, onExitCodes: onCode([1]) })), [`Invalid ${first}`]],
    [failure(rule({ ...onReady, action: 'Retry' })), [`NotSupported ${first}.action`]],
    [failure(...Array.from({ length: 21 }, () => rule(onReady))), ['TooMany spec.podFailurePolicy.rules']],
    [failure(rule({ onExitCodes: onCode([0]) })), [`Invalid ${codes}.values[0]`]],
    [failure(rule({ onExitCodes: onCode([5, 1]) })), [`Invalid ${codes}.values`]],
    [failure(rule({ onExitCodes: onCode([1, 1]) })), [`Duplicate ${codes}.values[1]`]],
    [failure(rule({ onExitCodes: onCode([]) })), [`Invalid ${codes}.values`]],
    [failure(rule({ onExitCodes: onCode(Array.from({ length: 256 }, (_, i) => i + 1)) })), [`TooMany ${codes}.values`]],
    [failure(rule({ onExitCodes: { values: [1] } })), [`Required ${codes}.operator`]],
    [failure(rule({ onExitCodes: onCode([1], { containerName: 'x' }) })), [`Invalid ${codes}.containerName`]],
    [
      failure(rule({ onPodConditions: [{ type: 'a b', status: 'Maybe' }] })),
      [`Invalid ${conditions}[0].type`, `NotSupported ${conditions}[0].status`],
    ],
    [failure(rule({ onPodConditions: Array.from({ length: 21 }, () => ({ type: 'A' })) })), [`TooMany ${conditions}`]],
    [failure(rule({ action: 'FailIndex', onExitCodes: onCode([1]) })), [`Invalid ${first}.action`]],
    [
      { ...failure(rule(onReady)), template: podsOf({ restartPolicy: 'OnFailure' }) },
      ['Invalid spec.template.spec.restartPolicy'],
    ],
    [
      { ...failure(rule(onReady)), podReplacementPolicy: 'TerminatingOrFailed' },
      ['NotSupported spec.podReplacementPolicy'],
    ],
    [{ podReplacementPolicy: '' }, ['NotSupported spec.podReplacementPolicy']],
    [{ backoffLimitPerIndex: 1 }, ['Invalid spec.backoffLimitPerIndex']],
    [{ ...indexed, maxFailedIndexes: 1 }, ['Required spec.backoffLimitPerIndex']],
    [
      { ...indexed, backoffLimitPerIndex: -1, maxFailedIndexes: 11 },
      ['Invalid spec.backoffLimitPerIndex', 'Invalid spec.maxFailedIndexes'],
    ],
    [many, ['Required spec.maxFailedIndexes']],
    [
      { ...many, parallelism: 20_000, maxFailedIndexes: 100_001 },
      ['Invalid spec.maxFailedIndexes', 'Invalid spec.parallelism'],
    ],
    [success({ succeededIndexes: '0-3,5', succeededCount: 2 }, { succeededIndexes: '' }, { succeededCount: 0 }), []],
    [success(), ['Required spec.successPolicy.rules']],
    [success({}), [`Required ${succeeded}`]],
    [{ ...success({}), completionMode: 'NonIndexed' }, ['Invalid spec.successPolicy']],
    [success({ succeededCount: 11 }), [`Invalid ${succeeded}.succeededCount`]],
    [success({ succeededCount: 3, succeededIndexes: '0-1' }), [`Invalid ${succeeded}.succeededCount`]],
    [success({ succeededIndexes: '1, 2' }), [`Invalid ${succeeded}.succeededIndexes`]],
    [success(...Array.from({ length: 21 }, () => ({ succeededCount: 1 }))), ['TooMany spec.successPolicy.rules']],
    [{ managedBy: 'example.com/a' }, []],
    [{ managedBy: '' }, ['Required spec.managedBy']],
    [{ managedBy: 'a' }, ['Invalid spec.managedBy']],
    [{ managedBy: `example.com/${'a'.repeat(60)}` }, ['TooLong spec.managedBy']],
  ]
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('index lists in a Job status are parsed in linear time and compared correctly', () => {
  const counts = ['', '3', '0-3,5', '5-3', '1-4,3', '10', '1-2-3', 'a', '-1'].map((text) => countIndexes(text, 10))
  assert.deepEqual(
    counts.map((count) => (typeof count === 'string' ? 'fault' : count)),
    [0, 1, 5, 'fault', 'fault', 'fault', 'fault', 'fault', 'fault'],
  )
  assert.deepEqual(
    [commonIndex('0-2,6', '3-5,6', 9), commonIndex('0-2', '3-5', 9), commonIndex('x,4', '4', 9)],
    [6, undefined, 4],
  )
})

test('the defaults and the dropped fields of a Job depend on the Kubernetes version', () => {
  const named = ({ podReplacementPolicy, manualSelector, backoffLimit, backoffLimitPerIndex }: JsonObject) => [
    podReplacementPolicy,
    manualSelector,
    backoffLimit,
    backoffLimitPerIndex,
  ]
  const perIndex = { ...indexed, backoffLimitPerIndex: 1 }
  assert.deepEqual(named(specOf(create({}, '1.28').object)), [undefined, undefined, 6, undefined])
  assert.deepEqual(named(specOf(create({}).object)), ['TerminatingOrFailed', false, 6, undefined])
  assert.deepEqual(named(specOf(create(failure(rule(onReady))).object)), ['Failed', false, 6, undefined])
  assert.deepEqual(named(specOf(create(perIndex, '1.28').object)), [undefined, undefined, 2 ** 31 - 1, undefined])
  assert.deepEqual(named(specOf(create(perIndex).object)), ['TerminatingOrFailed', false, 2 ** 31 - 1, 1])
  const failIndex = { ...perIndex, ...failure(rule({ action: 'FailIndex', onExitCodes: onCode([1]) })) }
  assert.deepEqual(specOf(create(failIndex, '1.28').object).podFailurePolicy, { rules: [] })
  assert.equal(specOf(create({ managedBy: 'example.com/a' }, '1.31').object).managedBy, undefined)
  const inTemplate = (spec: JsonObject, version: EmulatedVersion) =>
    createBy(
      cronJob,
      { metadata: { name: 'a' }, spec: { schedule: '@daily', jobTemplate: { spec: { template, ...spec } } } },
      { version },
    )
  const kept = specOf(inTemplate({ managedBy: 'example.com/a' }, '1.31').object).jobTemplate as JsonObject
  assert.equal((kept.spec as JsonObject).managedBy, 'example.com/a')
  const place = 'spec.jobTemplate.spec.podFailurePolicy.rules[0].onPodConditions[0].status'
  assert.deepEqual(inTemplate(failure(rule(onReady)), '1.31').faults, [`Required ${place}`])
  assert.deepEqual(inTemplate(failure(rule(onReady)), '1.34').faults, [])
})

test('since Kubernetes 1.27, the generated labels of a Job have a prefix', () => {
  const labelsOf = (version: EmulatedVersion) => {
    const spec = specOf(
      createBy(
        job,
        { metadata: { name: 'a', uid: 'u' }, spec: { template: podsOf({ restartPolicy: 'Never' }, {}) } },
        { version },
      ).object,
    )
    return [(spec.selector as JsonObject).matchLabels, ((spec.template as JsonObject).metadata as JsonObject).labels]
  }
  const plain = { 'job-name': 'a', 'controller-uid': 'u' }
  assert.deepEqual(labelsOf('1.26'), [{ 'controller-uid': 'u' }, plain])
  const prefixed = { 'batch.orch.io/job-name': 'a', 'batch.orch.io/controller-uid': 'u' }
  assert.deepEqual(labelsOf('1.27'), [{ 'batch.orch.io/controller-uid': 'u' }, { ...prefixed, ...plain }])
  const old = create({}, '1.26').object
  assert.deepEqual(updateBy(job, old, { ...asJson(old), spec: { ...specOf(old), suspend: true } }, newest).faults, [])
  const wrong = podsOf({ restartPolicy: 'Never' }, { labels: { 'batch.orch.io/job-name': 'b' } })
  assert.deepEqual(create({ template: wrong }).faults, [
    'Invalid spec.template.metadata.labels[batch.orch.io/job-name]',
  ])
  assert.deepEqual(createBy(job, objectOf(indexed, 'a'.repeat(62)), newest).faults, ['Invalid metadata.name'])
})

test('the policies of a Job are immutable, and the completions of an Indexed Job change only together with its parallelism', () => {
  const update = (before: JsonObject, after: JsonObject) => {
    const { object } = create(before)
    return updateBy(job, object, { ...asJson(object), spec: { ...specOf(object), ...after } }, newest).faults
  }
  assert.deepEqual(update(failure(rule(onReady)), failure()), ['Invalid spec.podFailurePolicy'])
  assert.deepEqual(update(success({ succeededCount: 1 }), { successPolicy: null }), ['Invalid spec.successPolicy'])
  assert.deepEqual(update({ managedBy: 'example.com/a' }, { managedBy: null }), ['Invalid spec.managedBy'])
  const perIndex = { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 1 }
  assert.deepEqual(update(perIndex, { backoffLimitPerIndex: 2 }), ['Invalid spec.backoffLimitPerIndex'])
  assert.deepEqual(update(perIndex, { maxFailedIndexes: 2 }), [])
  assert.deepEqual(update(indexed, { completions: 5, parallelism: 5 }), [])
  assert.deepEqual(update(indexed, { completions: 5 }), ['Invalid spec.completions'])
})

test('the scheduling directives and the resources of a suspended Job without active pods are mutable', () => {
  const limits = { containers: [{ name: 'c', image: 'img:1', resources: { limits: { cpu: '2' } } }] }
  const update = (status: JsonObject, pods: JsonObject, version: EmulatedVersion = '1.36') => {
    const { object } = create({ suspend: true }, version)
    const spec = specOf(object)
    const stored = spec.template as JsonObject
    const changed = { ...stored, spec: { ...(stored.spec as JsonObject), ...pods } }
    const previous = { ...object, status } as ApiObject
    return updateBy(job, previous, { ...asJson(object), spec: { ...spec, template: changed } }, { version }).faults
  }
  const started = { startTime: '2030-01-01T00:00:00Z' }
  const suspended = { ...started, conditions: [{ type: 'Suspended', status: 'True' }] }
  assert.deepEqual(update({}, { schedulingGates: [{ name: 'g' }] }), [])
  assert.deepEqual(update(started, { nodeSelector: { a: 'b' } }), ['Invalid spec.template'])
  assert.deepEqual(update(suspended, { nodeSelector: { a: 'b' } }), [])
  assert.deepEqual(update({ ...suspended, active: 1 }, { nodeSelector: { a: 'b' } }), ['Invalid spec.template'])
  assert.deepEqual(update({}, limits), [])
  assert.deepEqual(update({}, limits, '1.34'), ['Invalid spec.template'])
  assert.deepEqual(update({}, { priorityClassName: 'x' }), ['Invalid spec.template.spec'])
})

const is = (...types: string[]): JsonObject => ({ conditions: types.map((type) => ({ type, status: 'True' })) })
const times = { startTime: '2030-01-01T00:00:00Z', completionTime: '2030-01-01T00:01:00Z' }

test('since Kubernetes 1.32, inconsistent Job statuses are rejected', () => {
  const write = (spec: JsonObject, previous: JsonObject, status: JsonObject, version: EmulatedVersion = '1.36') => {
    const { object } = create(spec, version)
    const before = { ...object, status: previous } as ApiObject
    return updateBy(job, before, { ...asJson(object), status }, { subresource: 'status', version }).faults
  }
  const complete = { ...times, ...is('SuccessCriteriaMet', 'Complete') }
  const perIndex = { ...indexed, backoffLimitPerIndex: 1 }
  const end = 'Invalid status.completionTime'
  const cases: readonly (readonly [
    spec: JsonObject,
    previous: JsonObject,
    status: JsonObject,
    faults: readonly string[],
  ])[] = [
    [{}, {}, complete, []],
    [
      {},
      {},
      is('Complete'),
      ['Invalid status.conditions', 'Required status.completionTime', 'Required status.startTime'],
    ],
    [{}, {}, times, [end]],
    [{}, {}, { ...complete, startTime: '2030-01-01T00:02:00Z' }, [end]],
    [{}, complete, { ...complete, completionTime: '2030-01-01T00:03:00Z' }, [end]],
    [{}, complete, { ...complete, startTime: '2030-01-01T00:00:01Z' }, ['Invalid status.startTime']],
    [{}, complete, times, [end, 'Invalid status.conditions']],
    [{}, { succeeded: 2, failed: 1 }, {}, ['Invalid status.failed', 'Invalid status.succeeded']],
    [indexed, { succeeded: 2 }, {}, ['Invalid status.succeeded']],
    [{ ...indexed, completions: 2 }, { succeeded: 2 }, {}, []],
    [{}, {}, { active: 1, ready: 2 }, ['Invalid status.ready']],
    [
      {},
      {},
      { ...complete, active: 1, terminating: 1, uncountedTerminatedPods: { failed: ['a'] } },
      ['Invalid status.active', 'Invalid status.terminating', 'Invalid status.uncountedTerminatedPods'],
    ],
    [{}, {}, { startTime: times.startTime, ...is('Failed') }, ['Invalid status.conditions']],
    [{}, {}, { startTime: times.startTime, ...is('Failed', 'FailureTarget') }, []],
    [{}, {}, is('SuccessCriteriaMet', 'FailureTarget'), ['Invalid status.conditions']],
    [perIndex, {}, { completedIndexes: '0,2', failedIndexes: '1,3-4' }, []],
    [perIndex, {}, { completedIndexes: '0,2', failedIndexes: '2' }, ['Invalid status.failedIndexes']],
    [perIndex, {}, { completedIndexes: '2,0' }, ['Invalid status.completedIndexes']],
    [{ ...indexed, completions: 3 }, { completedIndexes: '9' }, { completedIndexes: '9', active: 1 }, []],
    [indexed, {}, { failedIndexes: '1' }, ['Invalid status.failedIndexes']],
    [{}, {}, { completedIndexes: '0' }, ['Invalid status.completedIndexes']],
  ]
  for (const [spec, previous, status, faults] of cases)
    assert.deepEqual(write(spec, previous, status), faults, JSON.stringify([spec, previous, status]))
  assert.deepEqual(write({}, {}, is('Complete'), '1.31'), [])
  assert.deepEqual(write({}, {}, is('SuccessCriteriaMet'), '1.30'), ['Invalid status.conditions'])
  assert.deepEqual(write({}, {}, is('SuccessCriteriaMet'), '1.31'), [])
  const noReplacement = write(success({ succeededCount: 1 }), {}, { ...times, ...is('Complete') }, '1.31')
  assert.deepEqual(noReplacement, ['Invalid status.conditions'])
})

test('since Kubernetes 1.30, the Job table shows the state of each Job', () => {
  const { object } = create({})
  const stateOf = (status: JsonObject, metadata: JsonObject = {}) =>
    cellsOf(job, { ...object, metadata: { ...object.metadata, ...metadata }, status } as ApiObject, '1.31')[1]
  const going = { deletionTimestamp: '2030-01-01T00:00:00Z' }
  assert.deepEqual(
    [
      stateOf({}),
      stateOf(is('Suspended')),
      stateOf(is('Suspended'), going),
      stateOf(is('FailureTarget', 'Failed'), going),
    ],
    ['Running', 'Suspended', 'Terminating', 'Failed'],
  )
})
