/** Tests `policyreports`: how many existing objects a policy would reject, computed in the background. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const group = 'admissionregistration.orch.io/v1'
const path = '/apis/ops.orch.io/v1/policyreports'
const server = await serve({ after }, ['--emulated-version=1.34'])
const client = server.client()

async function create(collection: string, name: string, more: object): Promise<void> {
  const answer = await client.post(collection, { metadata: { name }, ...more })
  assert.equal(answer.status, 201, answer.text)
}

const rule = (operations: string[], resources: string[]) => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations,
  resources,
})

async function policy(name: string, spec: object, resourceRules: object[]): Promise<void> {
  await create(`/apis/${group}/validatingadmissionpolicies`, name, {
    spec: { matchConstraints: { resourceRules }, ...spec },
  })
}

async function bind(name: string, policyName: string, more: object): Promise<void> {
  await create(`/apis/${group}/validatingadmissionpolicybindings`, name, { spec: { policyName, ...more } })
}

interface Report {
  readonly status: { readonly phase: string; readonly checkedObjects: number; readonly [field: string]: unknown }
}

async function complete(name: string, isNew: (report: Report) => boolean = () => true): Promise<object> {
  const report = await until(
    async () => (await client.get(`${path}/${name}`)).body as Report,
    (each) => each.status.phase === 'Complete' && isNew(each),
  )
  const { completionTime, ...status } = report.status
  assert.match(String(completionTime), /^\d{4}-/)
  return status
}

test('a policy report counts the existing objects that violate the policy', async () => {
  const maps = '/api/v1/namespaces/default/configmaps'
  for (const n of [1, 2, 3, 4, 5]) await create(maps, `m${n}`, { data: { n: String(n) } })
  await create(maps, 'limit', { data: { max: '3' } })
  const mine = [{ name: 'mine', expression: "has(object.data) && 'n' in object.data" }]
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConditions: mine,
    validations: [{ expression: 'int(object.data.n) <= int(params.data.max)', message: 'too large' }],
  }
  await policy('limited', spec, [rule(['CREATE'], ['configmaps'])])
  assert.deepEqual(await complete('limited'), {
    phase: 'Complete',
    checkedObjects: 0,
    violatingObjects: 0,
    deniedObjects: 0,
  })
  const paramRef = { name: 'limit', namespace: 'default', parameterNotFoundAction: 'Deny' }
  const here = { namespaceSelector: { matchLabels: { 'orch.io/metadata.name': 'default' } } }
  await bind('warn', 'limited', { validationActions: ['Warn'], paramRef, matchResources: here })
  const found = {
    phase: 'Complete',
    violatingObjects: 2,
    examples: ['m4', 'm5'].map((name) => ({ object: `configmaps default/${name}`, message: 'too large' })),
  }
  const checked = 7 // The ConfigMaps above, and that of the root CA.
  const warned = (await complete('limited', ({ status }) => status.checkedObjects > 0)) as Report['status']
  assert.ok(warned.checkedObjects === checked || warned.checkedObjects === checked - 1)
  const { checkedObjects } = warned
  assert.deepEqual(warned, { ...found, checkedObjects, deniedObjects: 0 })
  // A new binding makes the report outdated.
  await bind('deny', 'limited', { validationActions: ['Deny'], paramRef, matchResources: here })
  const denied = await complete('limited', ({ status }) => status.deniedObjects !== 0)
  assert.deepEqual(denied, { ...found, checkedObjects, deniedObjects: 2 })

  // A policy for updates evaluates the object as both the old and the new state. The report is computed without a user,
  // so authorizer checks deny everything.
  const update = [{ expression: "object == oldObject && request.operation == 'UPDATE'" }]
  const allowed = [{ expression: "authorizer.group('').resource('secrets').check('get').allowed()" }]
  await policy('namespaces', { validations: [...update, ...allowed] }, [rule(['UPDATE'], ['namespaces'])])
  await bind('namespaces', 'namespaces', { validationActions: ['Deny'] })
  const namespaces = (await complete('namespaces')) as Report['status']
  assert.ok(namespaces.checkedObjects > 0)
  assert.equal(namespaces.violatingObjects, namespaces.checkedObjects)
  assert.match(JSON.stringify(namespaces.examples), /failed expression: authorizer/)
})

test('policy reports are available as a table, are removed together with their policies, and require permission', async () => {
  const list = await client.get(path)
  const items = list.body.items as (Report & { readonly metadata: { readonly name: string } })[]
  // The list request finds that the bindings of each policy are unchanged, so it does not compute completed reports
  // again.
  assert.deepEqual(
    items.map(({ metadata, status }) => [metadata.name, status.phase]),
    [
      ['limited', 'Complete'],
      ['namespaces', 'Complete'],
    ],
  )
  const table = await client.send(path, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' } })
  assert.match(table.text, /"Complete"/)
  assert.equal((await client.get(`${path}/none`)).status, 404)
  assert.equal((await client.delete(`${path}/limited`)).status, 405)
  assert.equal((await server.client('bob-token').get(path)).status, 403)
  await client.delete(`/apis/${group}/validatingadmissionpolicies/namespaces`)
  assert.equal((await client.get(`${path}/namespaces`)).status, 404)
})
