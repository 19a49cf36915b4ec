/** Tests the type-checking results in the status of ValidatingAdmissionPolicies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const rule = (apiGroups: string[], apiVersions: string[], resources: string[]) => ({
  apiGroups,
  apiVersions,
  resources,
  operations: ['*'],
})
const workloads = [rule(['apps'], ['v1'], ['statefulsets', 'deployments', 'deployments/scale', 'nothings'])]

test('the status of a validating policy reports type errors in expressions for each matched kind', async (t) => {
  const { client, vendor, start } = await openLoopServer(t, ['--emulated-version=1.34'])
  start(['validatingadmissionpolicy-status'])
  const policies = inDomainOf(vendor, kinds.ValidatingAdmissionPolicy)
  const definition = {
    metadata: { name: 'caches.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced' as const,
      names: { plural: 'caches', kind: 'Cache' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { size: { type: 'integer' }, port: { 'x-orch-int-or-string': true } },
            },
          },
        },
      ],
    },
  }
  await client.create(inDomainOf(vendor, kinds.CustomResourceDefinition), definition as never)
  await until(
    () => client.read<{ paths: object }>('/openapi/v3'),
    ({ paths }) => 'apis/example.com/v1' in paths,
  )

  const statusOf = async (name: string, spec: object) => {
    await client.create(policies, { metadata: { name }, spec } as never)
    const checked = await until(
      () => client.get(policies, { name }),
      ({ status }) => status?.observedGeneration !== undefined,
    )
    assert.equal(checked.status!.observedGeneration, 1)
    return checked.status!.typeChecking?.expressionWarnings?.map(({ fieldRef, warning }) => [fieldRef, warning])
  }
  const policy = (resourceRules: object[], expressions: readonly string[], more: object = {}) => ({
    matchConstraints: { resourceRules },
    validations: expressions.map((expression) => ({ expression })),
    ...more,
  })

  // The message has the same layout as in Kubernetes: one paragraph per kind.
  assert.deepEqual(await statusOf('missing', policy(workloads, ['object.replicas > 1', 'object.spec.replicas > 1'])), [
    [
      'spec.validations[0].expression',
      ['Deployment', 'StatefulSet']
        .map(
          (kind) =>
            `apps/v1, Kind=${kind}: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n`,
        )
        .join('\n'),
    ],
  ])
  const only = (found: (string | undefined)[][] | undefined) => found?.map(([, warning]) => warning!.split('\n')[0])
  const pods = [rule([''], ['v1'], ['pods'])]
  const rows: [string, object, string[] | undefined][] = [
    ['core', policy(pods, ["object.spec.hostNetwork == 'x'"]), ['/v1, Kind=Pod: ERROR']],
    ['any-version', policy([rule(['apps'], ['*'], ['deployments'])], ['object.nothing == 1']), undefined],
    ['any-resource', policy([rule(['apps'], ['v1'], ['*'])], ['object.nothing == 1']), undefined],
    ['either-type', policy(pods, ["object.spec.containers.all(c, c.livenessProbe.httpGet.port == 'a')"]), undefined],
    [
      'quantity',
      policy(pods, ["object.spec.containers.all(c, quantity(c.resources.limits['cpu']).isInteger())"]),
      undefined,
    ],
    [
      'variables',
      policy(pods, ['variables.n == object.spec.priority'], { variables: [{ name: 'n', expression: "'text'" }] }),
      ['/v1, Kind=Pod: ERROR'],
    ],
    [
      'params',
      policy(pods, ['params.data.a == params.nothing'], { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }),
      ['/v1, Kind=Pod: ERROR'],
    ],
    [
      'custom',
      policy([rule(['example.com'], ['v1'], ['caches'])], ['object.size > 1 && object.port == 1', "object.size == ''"]),
      ['example.com/v1, Kind=Cache: ERROR'],
    ],
    [
      'recursive',
      policy(
        [rule(['apiextensions.orch.io'], ['v1'], ['customresourcedefinitions'])],
        ["object.spec.versions.all(v, v.schema.openAPIV3Schema.type == 'object')"],
      ),
      undefined,
    ],
    [
      'message',
      { ...policy(pods, []), validations: [{ expression: 'true', messageExpression: "'at ' + object.spec.priority" }] },
      ['/v1, Kind=Pod: ERROR'],
    ],
  ]
  for (const [name, spec, expected] of rows) {
    const found = only(await statusOf(name, spec))
    assert.deepEqual(
      found?.map((line) => line?.replace(/: <input>.*/, '')),
      expected,
      `${name}: ${found}`,
    )
  }

  // A new generation is checked again, and the warnings about the old generation disappear.
  const { metadata } = await client.patch(
    policies,
    { name: 'missing' },
    {
      patch: { merge: { spec: { validations: [{ expression: 'has(object.spec.replicas)' }] } } },
    },
  )
  assert.equal(metadata.generation, 2)
  const again = await until(
    () => client.get(policies, { name: 'missing' }),
    ({ status }) => status?.observedGeneration === 2,
  )
  assert.equal(again.status?.typeChecking?.expressionWarnings, undefined)
})
