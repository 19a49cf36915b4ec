/** Tests HorizontalPodAutoscaler: validation, conversion between versions, and requests to a server. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import {
  isCpuTarget,
  horizontalPodAutoscaler as v2,
} from '../../../src/api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import { horizontalPodAutoscalerV1 as v1 } from '../../../src/api/kinds/autoscaling/horizontal-pod-autoscaler-v1.ts'
import { horizontalPodAutoscalerV2beta1 as v2beta1 } from '../../../src/api/kinds/autoscaling/horizontal-pod-autoscaler-v2beta1.ts'
import { horizontalPodAutoscalerV2beta2 as v2beta2 } from '../../../src/api/kinds/autoscaling/horizontal-pod-autoscaler-v2beta2.ts'
import type { MetricSpec } from '../../../src/api/kinds/autoscaling/metrics.ts'
import { type ApiObject, asJson, asObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { decode } from '../../../src/api/schema/decode.ts'
import { fillDefaults } from '../../../src/api/schema/defaults.ts'
import { validate } from '../../../src/api/schema/validate.ts'
import { assertCheap } from '../../support/effort.ts'
import { serve } from '../../support/in-process.ts'
import { ruleContext } from './rules.ts'

const vendor = vendorOf('orch')
const context = { vendor, subresource: '' }
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }
const cpu = (averageUtilization: number) => resource('cpu', { type: 'Utilization', averageUtilization })
const metric = { name: 'm', selector: { matchLabels: { a: 'b' } } }

function resource(name: string, target: JsonObject): JsonObject {
  return { type: 'Resource', resource: { name, target } }
}

/** Returns a v2 object in its stored form: with defaults and canonicalized. */
function stored(spec: JsonObject, status: JsonObject = {}, metadata: JsonObject = {}): ApiObject {
  const object = defaulted(spec, status, metadata)
  v2.rules.canonicalize?.(object as never, ruleContext)
  return object
}

/** Returns a v2 object with defaults, ready for validation. */
function defaulted(spec: JsonObject, status: JsonObject = {}, metadata: JsonObject = {}): ApiObject {
  const { value } = decode(v2.schema, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h', ...metadata },
    spec: { scaleTargetRef, maxReplicas: 5, ...spec },
    status,
  })
  fillDefaults(v2.schema, value, { context })
  return asObject(value)
}

function faults(spec: JsonObject): string[] {
  const errors = validate(v2.schema, asJson(defaulted(spec)), context)
  return errors.map(({ fault, path }) => `${path} ${fault.replace('FieldValue', '')}`).sort()
}

describe('validation of HorizontalPodAutoscalers', () => {
  const target = (fields: JsonObject) => ({ metrics: [resource('memory', fields)] })
  const up = (rules: JsonObject) => ({ behavior: { scaleUp: rules } })
  const cases: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['only required fields', {}, []],
    ['zero maxReplicas', { maxReplicas: 0 }, ['spec.maxReplicas Invalid', 'spec.maxReplicas Invalid']],
    ['maxReplicas below minReplicas', { minReplicas: 6 }, ['spec.maxReplicas Invalid']],
    ['zero minReplicas', { minReplicas: 0 }, ['spec.metrics Forbidden', 'spec.minReplicas Invalid']],
    [
      'empty scaleTargetRef',
      { scaleTargetRef: {} },
      ['spec.scaleTargetRef.kind Required', 'spec.scaleTargetRef.name Required'],
    ],
    [
      'scaleTargetRef name with a slash',
      { scaleTargetRef: { ...scaleTargetRef, name: 'a/b' } },
      ['spec.scaleTargetRef.name Invalid'],
    ],
    [
      'metric without a type',
      { metrics: [{}] },
      ['spec.metrics[0].type NotSupported', 'spec.metrics[0].type Required'],
    ],
    ['metric without a source', { metrics: [{ type: 'Pods' }] }, ['spec.metrics[0].pods Required']],
    [
      'invalid metric after a CPU target, reported with the index that the client sent',
      { metrics: [cpu(50), { type: 'Pods' }] },
      ['spec.metrics[1].pods Required'],
    ],
    [
      'metric with two sources',
      { metrics: [{ ...cpu(1), pods: { metric, target: { type: 'AverageValue', averageValue: '1' } } }] },
      ['spec.metrics[0].pods Forbidden'],
    ],
    [
      'metric with two sources of other types: only the first, in the order object, external, pods, is validated',
      {
        metrics: [
          {
            type: 'abc',
            pods: { metric, target: { type: 'Value', value: '0' } },
            external: { metric, target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
      },
      [
        'spec.metrics[0].external Forbidden',
        'spec.metrics[0].external.target.averageValue Required',
        'spec.metrics[0].pods Forbidden',
        'spec.metrics[0].type NotSupported',
      ],
    ],
    [
      'target without a value',
      target({ type: 'Value' }),
      ['spec.metrics[0].resource.target.averageUtilization Required'],
    ],
    [
      'target with two values',
      target({ type: 'Value', averageValue: '1', averageUtilization: 1 }),
      ['spec.metrics[0].resource.target.averageValue Forbidden'],
    ],
    [
      'target value of zero',
      target({ type: 'AverageValue', averageValue: '0' }),
      ['spec.metrics[0].resource.target.averageValue Invalid'],
    ],
    [
      'target utilization of zero',
      { metrics: [cpu(0)] },
      ['spec.metrics[0].resource.target.averageUtilization Invalid'],
    ],
    [
      'unknown target type',
      target({ type: 'Best', averageUtilization: 1 }),
      ['spec.metrics[0].resource.target.type Invalid'],
    ],
    [
      'external metric with two target values and no name',
      {
        metrics: [
          { type: 'External', external: { metric: {}, target: { type: 'Value', value: '1', averageValue: '1' } } },
        ],
      },
      ['spec.metrics[0].external.metric.name Required', 'spec.metrics[0].external.target.value Forbidden'],
    ],
    [
      'object metric without an object',
      { metrics: [{ type: 'Object', object: { metric, target: { type: 'Value', value: '1' } } }] },
      ['spec.metrics[0].object.describedObject.kind Required', 'spec.metrics[0].object.describedObject.name Required'],
    ],
    ['scaling rules with defaults', up({}), []],
    ['empty list of policies', up({ policies: [] }), ['spec.behavior.scaleUp.policies Required']],
    ['unknown selectPolicy', up({ selectPolicy: 'Any' }), ['spec.behavior.scaleUp.selectPolicy NotSupported']],
    [
      'stabilization window above the limit',
      up({ stabilizationWindowSeconds: 3601 }),
      ['spec.behavior.scaleUp.stabilizationWindowSeconds Invalid'],
    ],
    [
      'invalid policy',
      up({ policies: [{ type: 'Half', value: 0, periodSeconds: 1801 }] }),
      [
        'spec.behavior.scaleUp.policies[0].periodSeconds Invalid',
        'spec.behavior.scaleUp.policies[0].type NotSupported',
        'spec.behavior.scaleUp.policies[0].value Invalid',
      ],
    ],
  ]
  for (const [name, spec, expected] of cases)
    test(name, () => {
      assert.deepEqual(faults(spec), expected)
    })
})

describe('conversion to older versions and back', () => {
  const { fromStored, toStored } = v1.conversion!
  const status = {
    currentReplicas: 2,
    desiredReplicas: 3,
    lastScaleTime: '2030-01-01T00:00:00Z',
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '100m' } } },
      { type: 'External', external: { metric, current: { value: '7' } } },
      { type: 'Resource', resource: { name: 'memory', current: { value: '0', averageUtilization: 1 } } },
    ],
    conditions: [
      { type: 'AbleToScale', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z', reason: 'R', message: '<m>' },
    ],
  }
  const value = { type: 'Value', value: '1500m' }
  const average = { type: 'AverageValue', averageValue: '2k' }
  const metrics = [
    cpu(50),
    resource('memory', { type: 'AverageValue', averageValue: '1Gi' }),
    cpu(70),
    resource('cpu', { type: 'Value', averageValue: '1', value: '3' }),
    { type: 'Pods', pods: { metric, target: average } },
    { type: 'Object', object: { metric: { name: 'm' }, describedObject: scaleTargetRef, target: value } },
    { type: 'Object', object: { metric, describedObject: { kind: 'Service', name: 's' }, target: average } },
    { type: 'External', external: { metric, target: value } },
    { type: 'External', external: { metric, target: average } },
    {
      type: 'ContainerResource',
      containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 9 } },
    },
  ]
  const behavior = { scaleUp: { selectPolicy: 'Min', policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }] } }
  const objects: readonly (readonly [string, ApiObject])[] = [
    ['default metrics', stored({})],
    ['metrics of every type, in mixed order', stored({ metrics })],
    ['metrics without a v1 field', stored({ metrics: metrics.slice(3) })],
    ['a behavior', stored({ behavior })],
    ['a status', stored({}, status)],
    ['unrelated annotations', stored({ behavior }, status, { annotations: { a: 'b' } })],
    [
      'label with the name of a field',
      stored({
        metrics: [
          {
            type: 'Pods',
            pods: { metric: { name: 'm', selector: { matchLabels: { ScaleUp: 'X' } } }, target: average },
          },
        ],
      }),
    ],
  ]
  for (const [name, object] of objects) {
    for (const older of [v1, v2beta1, v2beta2])
      test(`an autoscaler that is read and written through ${older.version} loses no fields: ${name}`, () => {
        const there = older.conversion!.fromStored(object, vendor)
        assert.deepEqual(decode(older.schema, asJson(there)).unknown, [])
        assert.deepEqual(
          decode(v2.schema, asJson(older.conversion!.toStored(there, vendor, object))).value,
          decode(v2.schema, asJson(older === v1 ? withCpuLast(object) : object)).value,
        )
      })
  }

  /**
   * Moves the CPU utilization metric to the end, as a write through v1 does. In v1, this metric has its own field, and
   * an annotation stores all other metrics.
   */
  function withCpuLast(object: ApiObject): ApiObject {
    const { metrics = [] } = object.spec as { metrics?: readonly MetricSpec[] }
    const first = metrics.find(isCpuTarget)
    if (first === undefined) return object
    const moved = [...metrics.filter((metric) => metric !== first), first]
    return { ...object, spec: { ...(object.spec as object), metrics: moved } } as unknown as ApiObject
  }

  test('v2beta1 autoscalers have flat metrics, and an annotation stores their behavior', () => {
    const { metadata, spec } = v2beta1.conversion!.fromStored(
      stored({ metrics: metrics.slice(0, 8), behavior }),
      vendor,
    )
    const flat = (spec as { metrics: JsonObject[] }).metrics.map((each) => JSON.parse(JSON.stringify(each)))
    const selector = { matchLabels: { a: 'b' } }
    assert.deepEqual(flat, [
      { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } },
      { type: 'Resource', resource: { name: 'cpu', targetAverageValue: '1' } },
      { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '2k', selector } },
      { type: 'Object', object: { target: scaleTargetRef, metricName: 'm', targetValue: '1500m' } },
      {
        type: 'Object',
        object: {
          target: { kind: 'Service', name: 's' },
          metricName: 'm',
          targetValue: '0',
          selector,
          averageValue: '2k',
        },
      },
      { type: 'External', external: { metricName: 'm', metricSelector: selector, targetValue: '1500m' } },
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 50 } },
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 70 } },
    ])
    assert.deepEqual(Object.keys(metadata.annotations ?? {}), ['autoscaling.alpha.orch.io/behavior'])
  })

  test('converting an autoscaler with 30,000 metrics from an older version is fast', async () => {
    const many = Array.from({ length: 30_000 }, (_, i) => cpu(i + 1))
    await assertCheap(5_000, () => {
      const object = stored({ metrics: many })
      const there = v1.conversion!.fromStored(object, vendor)
      const reversed = stored({ metrics: many.map((_, i) => cpu(100_000 + i)) })
      v1.conversion!.toStored(there, vendor, reversed)
    })
  })

  test('v1 autoscalers store v2 fields in annotations', () => {
    const { metadata, spec } = fromStored(stored({ metrics: [metrics[1]!, cpu(50)], behavior }, status), vendor)
    assert.deepEqual(spec, { scaleTargetRef, minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 50 })
    assert.deepEqual(metadata.annotations, {
      'autoscaling.alpha.orch.io/metrics':
        '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
      'autoscaling.alpha.orch.io/behavior':
        '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":2}]},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}]}}',
      'autoscaling.alpha.orch.io/current-metrics':
        '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":40,"currentAverageValue":"100m"}},{"type":"External","external":{"metricName":"m","metricSelector":{"matchLabels":{"a":"b"}},"currentValue":"7"}},{"type":"Resource","resource":{"name":"memory","currentAverageUtilization":1,"currentAverageValue":"0"}}]',
      'autoscaling.alpha.orch.io/conditions':
        '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2030-01-01T00:00:00Z","reason":"R","message":"<m>"}]',
    })
  })

  test('a malformed conversion annotation on an autoscaler is ignored', () => {
    for (const text of ['', '{', '7', '[7]', '[{"type":7}]', '[{"resource":{"targetAverageValue":"much"}}]']) {
      const there = fromStored(stored({}), vendor)
      const annotations = { 'autoscaling.alpha.orch.io/metrics': text, other: 'kept' }
      const back = toStored({ ...there, metadata: { ...there.metadata, annotations } }, vendor) as {
        spec: JsonObject
      } & ApiObject
      assert.deepEqual([back.spec.metrics, back.metadata.annotations], [[cpu(80)], { other: 'kept' }], text)
    }
  })
})

describe('HorizontalPodAutoscalers on a running server', async () => {
  const path = (version: string, name = '') =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers${name}`
  const body = (name: string, spec: JsonObject = {}) => ({
    metadata: { name },
    spec: { scaleTargetRef, maxReplicas: 5, ...spec },
  })
  const memory = resource('memory', { type: 'AverageValue', averageValue: '1Gi' })

  test('v1 and v2 serve the same autoscaler with the same resourceVersion', async (t) => {
    const client = (await serve(t)).client()
    const created = await client.post(path('v1'), body('h', { targetCPUUtilizationPercentage: 60 }))
    assert.deepEqual([created.status, created.body.apiVersion], [201, 'autoscaling/v1'])
    const asV2 = await client.get(path('v2', '/h'))
    assert.deepEqual(asV2.body.spec.metrics, [cpu(60)])
    assert.equal(asV2.body.metadata.resourceVersion, created.body.metadata.resourceVersion)
    assert.deepEqual((await client.get(path('v1', '/h'))).body, created.body)
    const list = await client.get(path('v1'))
    assert.deepEqual([list.body.apiVersion, list.body.kind], ['autoscaling/v1', 'HorizontalPodAutoscalerList'])
    assert.equal(list.body.items[0].spec.targetCPUUtilizationPercentage, 60)
    const group = await client.get('/apis/autoscaling')
    assert.equal(group.body.preferredVersion.version, 'v2')

    const table = { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' }
    const inV1 = await client.get(path('v1', '/h'), table)
    const inV2 = await client.get(path('v2', '/h'), table)
    // Ignore the last cell, which contains the age, because the age changes every second.
    for (const { body } of [inV1, inV2])
      assert.deepEqual(body.rows[0].cells.slice(0, -1), ['h', 'Deployment/d', '<unknown>/60%', '1', 5, 0])
  })

  test('deprecated autoscaler versions return a warning, and also serve objects written through v2', async (t) => {
    const client = (await serve(t)).client()
    const { body: made } = await client.post(path('v2'), body('h', { metrics: [memory, cpu(50)], behavior: {} }))
    for (const [version, level] of [
      ['v2beta1', 'v1.25'],
      ['v2beta2', 'v1.26'],
    ] as const) {
      const read = await client.get(path(version, '/h'))
      assert.match(String(read.headers.warning), new RegExp(`unavailable in ${level}.; use autoscaling/v2 Horizontal`))
      assert.equal(read.body.status.currentReplicas, 0)
      assert.deepEqual((await client.put(path(version, '/h'), read.body)).body, read.body)
      assert.deepEqual((await client.get(path('v2', '/h'))).body, made)
    }
    const byDefault = await client.post(path('v2beta1'), body('d'))
    const processors = { name: 'cpu', targetAverageUtilization: 80 }
    assert.deepEqual(byDefault.body.spec.metrics, [{ type: 'Resource', resource: processors }])
  })

  test('an Object metric with an average is stored with a target value of 0, and updates through any version are rejected', async (t) => {
    const client = (await serve(t)).client()
    const target = { kind: 'Ingress', name: 'i' }
    const object = { target, metricName: 'm', targetValue: '0', averageValue: '7' }
    const refused = await client.post(path('v2beta1'), body('x', { metrics: [{ type: 'Object', object }] }))
    assert.deepEqual(refused.body.details.causes[0].field, 'spec.metrics[0].object.target.value')
    const average = { type: 'AverageValue', averageValue: '7' }
    const metrics = [{ type: 'Object', object: { metric: { name: 'm' }, describedObject: target, target: average } }]
    const made = await client.post(path('v2'), body('y', { metrics }))
    assert.deepEqual(made.body.spec.metrics[0].object.target, { type: 'AverageValue', value: '0', averageValue: '7' })
    assert.equal((await client.get(path('v2beta1', '/y'))).body.spec.metrics[0].object.targetValue, '0')
    for (const version of ['v1', 'v2beta1', 'v2'])
      assert.equal((await client.put(path(version, '/y'), (await client.get(path(version, '/y'))).body)).status, 422)
    assert.equal((await client.put(path('v2', '/y'), body('y', { metrics, maxReplicas: 9 }))).status, 200)
    const { body: seen } = await client.get(path('v2', '/y'))
    const reported = { ...seen, status: { ...seen.status, currentReplicas: 2 } }
    assert.equal((await client.put(path('v2', '/y/status'), reported)).body.status.currentReplicas, 2)
  })

  test('the v1 conversion of an autoscaler puts CPU targets last, and table rows omit the conversion annotations', async (t) => {
    const client = (await serve(t)).client()
    const metrics = [cpu(50), memory, cpu(60)]
    const { body: made } = await client.post(path('v2'), body('h', { metrics, behavior: {} }))
    assert.deepEqual(made.spec.metrics, [memory, cpu(50), cpu(60)])
    assert.deepEqual((await client.put(path('v2', '/h'), made)).body, made)
    assert.deepEqual((await client.post(path('v2beta2'), body('i', { metrics }))).body.spec.metrics, made.spec.metrics)
    const table = { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' }
    const { rows } = (await client.get(path('v1', '/h'), table)).body
    assert.equal(rows[0].object.metadata.annotations, undefined)
    assert.equal(Object.keys((await client.get(path('v1', '/h'))).body.metadata.annotations).length, 2)
  })

  test('reading an autoscaler through v1 and writing it back changes nothing', async (t) => {
    const client = (await serve(t)).client()
    const { body: first } = await client.post(path('v2'), body('h', { metrics: [cpu(50), memory], behavior: {} }))
    const { body: read } = await client.get(path('v1', '/h'))
    const { body: put } = await client.put(path('v1', '/h'), read)
    assert.deepEqual(put, read)
    assert.deepEqual((await client.get(path('v2', '/h'))).body, first)
    await client.put(path('v1', '/h'), { ...read, spec: { ...read.spec, maxReplicas: 9 } })
    const { body: next } = await client.get(path('v2', '/h'))
    assert.deepEqual(next.spec, { ...first.spec, maxReplicas: 9 })
  })

  test('a watch of autoscalers returns events in the requested version', async (t) => {
    const client = (await serve(t)).client()
    const stop = new AbortController()
    const watches = ['v1', 'v2', 'v1'].map((version) => client.watch(`${path(version)}?watch=1`, stop.signal))
    const firsts = watches.map((events) => events.next())
    await client.post(path('v2'), body('h', { metrics: [cpu(50)] }))
    const [a, b, c] = (await Promise.all(firsts)).map(({ value }) => value)
    assert.deepEqual(
      [a.type, a.object.apiVersion, a.object.spec.targetCPUUtilizationPercentage],
      ['ADDED', 'autoscaling/v1', 50],
    )
    assert.deepEqual([b.object.apiVersion, b.object.spec.metrics], ['autoscaling/v2', [cpu(50)]])
    assert.deepEqual(c, a)
    const deleted = await client.delete(path('v1', '/h'))
    assert.equal(deleted.body.status, 'Success')
    const second = (await watches[0]!.next()).value
    assert.deepEqual([second.type, second.object.apiVersion], ['DELETED', 'autoscaling/v1'])
    stop.abort()
  })

  test('managed fields of an autoscaler record the version of each write, and conflicts are detected across versions', async (t) => {
    const client = (await serve(t)).client()
    const apply = (version: string, by: string, spec: JsonObject, force = false) =>
      client.send(`${path(version, '/h')}?fieldManager=${by}&force=${force}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec },
      })
    const owners = async () => {
      const { metadata } = (await client.get(path('v2', '/h'))).body
      const entries: { manager: string; apiVersion: string; fieldsV1: { 'f:spec'?: object } }[] = metadata.managedFields
      return Object.fromEntries(
        entries.map((entry) => [
          `${entry.manager} ${entry.apiVersion}`,
          Object.keys(entry.fieldsV1['f:spec'] ?? {}).sort(),
        ]),
      )
    }
    await apply('v2', 'a', { scaleTargetRef, maxReplicas: 5, metrics: [cpu(50)] })
    const conflict = await apply('v1', 'b', { targetCPUUtilizationPercentage: 60 })
    assert.deepEqual([conflict.status, conflict.body.details.causes[0].field], [409, '.spec.metrics'])
    assert.equal((await apply('v1', 'b', { targetCPUUtilizationPercentage: 50 })).status, 200)
    assert.deepEqual(await owners(), {
      'a autoscaling/v2': ['f:maxReplicas', 'f:metrics', 'f:scaleTargetRef'],
      'b autoscaling/v1': ['f:targetCPUUtilizationPercentage'],
    })
    const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
    const patched = await client.send(`${path('v1', '/h')}?fieldManager=c`, {
      ...patch,
      body: { spec: { targetCPUUtilizationPercentage: 70, minReplicas: 2 } },
    })
    assert.equal(patched.status, 200)
    assert.deepEqual(await owners(), {
      'a autoscaling/v2': ['f:maxReplicas', 'f:scaleTargetRef'],
      'c autoscaling/v1': ['f:minReplicas', 'f:targetCPUUtilizationPercentage'],
    })
  })

  test('the status of an autoscaler can be updated through its subresource in v1 and v2', async (t) => {
    const client = (await serve(t)).client()
    await client.post(path('v2'), { ...body('h', { metrics: [cpu(50), memory] }), status: { currentReplicas: 3 } })
    const { body: object } = await client.get(path('v1', '/h'))
    assert.deepEqual(object.status, { currentReplicas: 0, desiredReplicas: 0 })
    const status = { currentReplicas: 2, desiredReplicas: 4, currentCPUUtilizationPercentage: 33 }
    const spec = { ...object.spec, maxReplicas: 99 }
    const written = await client.put(path('v1', '/h/status'), { ...object, spec, status })
    assert.deepEqual([written.status, written.body.spec.maxReplicas], [200, 5])
    const { body: read } = await client.get(path('v2', '/h'))
    assert.deepEqual(read.spec.metrics, [memory, cpu(50)])
    assert.deepEqual(read.status, {
      currentReplicas: 2,
      desiredReplicas: 4,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 33, averageValue: '0' } } },
      ],
    })
    const seen = [
      { type: 'External', external: { metric: { name: 'm' }, current: {} } },
      { type: 'Object', object: { metric: { name: 'm' }, describedObject: scaleTargetRef, current: {} } },
      { type: 'Pods', pods: { metric: { name: 'm' }, current: {} } },
    ]
    const { body: latest } = await client.get(path('v2', '/h'))
    const shown = await client.put(path('v2', '/h/status'), { ...latest, status: { currentMetrics: seen } })
    assert.equal(shown.status, 200, shown.text)
    assert.deepEqual(
      shown.body.status.currentMetrics
        .map(({ type: _, ...source }: JsonObject) => Object.values(source)[0]!)
        .map(({ current }: JsonObject) => current),
      [{ value: '0' }, { value: '0' }, { averageValue: '0' }],
    )
    const negative = await client.put(path('v2', '/h/status'), { ...shown.body, status: { desiredReplicas: -1 } })
    assert.deepEqual([negative.status, negative.body.details.causes[0].field], [422, 'status.desiredReplicas'])
  })
})

for (const [version, status] of [
  ['1.35', 422],
  ['1.36', 200],
] as const)
  test(`a v1 write of an autoscaler with an average in an Object metric returns ${status} at Kubernetes ${version}`, async (t) => {
    const client = (await serve(t, [`--emulated-version=${version}`])).client()
    const path = (apiVersion: string) => `/apis/autoscaling/${apiVersion}/namespaces/default/horizontalpodautoscalers`
    const target = { type: 'AverageValue', averageValue: '5' }
    const object = { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'm' }, target }
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
    const spec = { scaleTargetRef, maxReplicas: 2, metrics: [{ type: 'Object', object }] }
    assert.equal((await client.post(path('v2'), { metadata: { name: 'o' }, spec })).status, 201)
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = { metadata: { labels: { a: 'b' } } }
    const written = await client.send(`${path('v1')}/o`, { method: 'PATCH', headers, body })
    assert.equal(written.status, status, written.text)
    assert.equal((await client.send(`${path('v2')}/o`, { method: 'PATCH', headers, body })).status, 200)
  })
