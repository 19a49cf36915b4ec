/** Tests the rules for ResourceClaim, ResourceClaimTemplate, DeviceClass and ResourceSlice. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkCapacity } from '../../../src/api/kinds/resource/types/device-capacity.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { serve } from '../../support/in-process.ts'
import { type Row, testRows } from '../../support/version-rows.ts'

const domain = `resource.${vendorOf('kubernetes').groupDomain}`
const group = `/apis/${domain}/v1`
const request = { name: 'r', exactly: { deviceClassName: 'gpu' } }
const claim = (devices: object) => ({ path: `${group}/namespaces/default/resourceclaims`, body: { spec: { devices } } })
const exactly = (fields: object) => claim({ requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', ...fields } }] })
const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
const slice = (spec: object) => ({
  path: `${group}/resourceslices`,
  body: { spec: { driver: 'd.example', nodeName: 'n', pool, ...spec } },
})
const withDevice = (fields: object) => slice({ devices: [{ name: 'a', ...fields }] })
const deviceClass = (spec: object) => ({ path: `${group}/deviceclasses`, body: { spec } })
const cel = (expression: string) => ({ cel: { expression } })
const device = { driver: 'd.example', pool: 'p', device: 'a' }
const allocation = { devices: { results: [{ request: 'r', ...device }] } }
const term = { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }
const manyCounters = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`c${i}`, { value: '1' }]))
const policy = 'spec.devices[0].capacity[m].requestPolicy'
const shared = (requestPolicy: object) =>
  withDevice({ allowMultipleAllocations: true, capacity: { m: { value: '8', requestPolicy } } })
const first = 'spec.devices.requests[0]'

const rows: Row[] = [
  {
    name: 'one device is the default',
    ...claim({ requests: [request] }),
    shows: { 'spec.devices.requests.0.exactly.count': 1 },
  },
  {
    name: 'all devices have no count',
    ...exactly({ allocationMode: 'All', count: 1 }),
    causes: [`Invalid ${first}.exactly.count`],
  },
  { name: 'a request has one form', ...claim({ requests: [{ name: 'r' }] }), causes: [`Required ${first}`] },
  {
    name: 'request names do not repeat',
    ...claim({ requests: [request, request] }),
    causes: ['Duplicate spec.devices.requests[1]'],
  },
  {
    name: 'requests are limited',
    ...claim({ requests: Array.from({ length: 33 }, (_, i) => ({ ...request, name: `r${i}` })) }),
    causes: ['TooMany spec.devices.requests'],
  },
  {
    name: 'alternatives have names',
    ...claim({ requests: [{ name: 'r', firstAvailable: [{ deviceClassName: 'g' }] }] }),
    causes: [`Invalid ${first}.firstAvailable[0].name`],
  },
  { name: 'selectors compile', ...exactly({ selectors: [cel('device.driver == "d"')] }) },
  {
    name: 'selectors know only the device',
    ...exactly({ selectors: [cel('object.x == 1')] }),
    causes: [`Invalid ${first}.exactly.selectors[0].cel.expression`],
  },
  ...[
    'device.attributes["d.example"].model == "x" && device.attributes["d.example"].size > 3',
    'device.attributes["d.example"].isFast',
    'device.capacity["d.example"].memory.compareTo(quantity("1Gi")) >= 0',
    'cel.bind(own, device.attributes["d.example"], own.isFast && own.model.startsWith("x"))',
    'device.attributes["d.example"].version.isGreaterThan(semver("1.2.3"))',
    'device.attributes["d.example"].all(name, name.size() > 1)',
    'device.attributes["d.example"].model.matches("^a[bc]*$")',
    'device.attributes["d.example"].model in ["a", "b"]',
    '!device.allowMultipleAllocations',
  ].map((expression) => ({ name: `a selector is valid: ${expression}`, ...exactly({ selectors: [cel(expression)] }) })),
  ...[
    'device.attributes["d.example"].model.name == "x"',
    'device.attributes["d.example"].models.exists(model, model == "x")',
    'dyn(true)',
    'device.model == "x"',
    'device.driver.matches("[")',
  ].map((expression) => ({
    name: `a selector is invalid: ${expression}`,
    ...exactly({ selectors: [cel(expression)] }),
    causes: [`Invalid ${first}.exactly.selectors[0].cel.expression`],
  })),
  ...[
    'device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a + b == c + d))))',
    '["a"].exists(x, device.driver.contains(x))',
  ].map((expression) => ({
    name: `a selector is too expensive: ${expression}`,
    ...exactly({ selectors: [cel(expression)] }),
    causes: [`Forbidden ${first}.exactly.selectors[0].cel.expression`],
  })),
  {
    name: 'alternatives have selectors',
    ...claim({
      requests: [{ name: 'r', firstAvailable: [{ name: 'a', deviceClassName: 'g', selectors: [cel('device.x')] }] }],
    }),
    causes: [`Invalid ${first}.firstAvailable[0].selectors[0].cel.expression`],
  },
  {
    name: 'the selectors of a template compile',
    path: `${group}/namespaces/default/resourceclaimtemplates`,
    body: {
      spec: {
        spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'g', selectors: [cel('1')] } }] } },
      },
    },
    causes: [`Invalid spec.${first}.exactly.selectors[0].cel.expression`],
  },
  {
    name: 'selectors return a bool',
    ...exactly({ selectors: [cel('"x"')] }),
    causes: [`Invalid ${first}.exactly.selectors[0].cel.expression`],
  },
  {
    name: 'tolerations have known effects',
    ...exactly({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'X' }] }),
    causes: [`NotSupported ${first}.exactly.tolerations[0].effect`],
  },
  {
    name: 'constraints name requests',
    ...claim({ requests: [request], constraints: [{ requests: ['z'], matchAttribute: 'd.example/a' }] }),
    causes: ['Invalid spec.devices.constraints[0].requests[0]'],
  },
  {
    name: 'constraints need an attribute with a domain',
    ...claim({ requests: [request], constraints: [{ matchAttribute: 'a' }] }),
    causes: ['Invalid spec.devices.constraints[0].matchAttribute'],
  },
  {
    name: 'configuration is an object',
    ...claim({ requests: [request], config: [{ opaque: { driver: 'd', parameters: 'x' } }] }),
    causes: ['Invalid spec.devices.config[0].opaque.parameters'],
  },
  {
    name: 'a claim does not change',
    ...claim({ requests: [request] }),
    patch: { spec: { devices: { requests: [] } } },
    causes: ['Invalid spec'],
  },
  {
    name: 'only allocated claims are reserved',
    ...claim({ requests: [request] }),
    patch: { status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } },
    subresource: '/status',
    causes: ['Forbidden status.reservedFor'],
  },
  {
    name: 'allocations name requests',
    ...claim({ requests: [request] }),
    patch: { status: { allocation: { devices: { results: [{ ...device, request: 'z' }] } } } },
    subresource: '/status',
    causes: ['Invalid status.allocation.devices.results[0].request'],
  },
  {
    name: 'allocations do not change',
    ...claim({ requests: [request] }),
    status: { status: { allocation } },
    patch: { status: { allocation: { devices: { results: [] } } } },
    subresource: '/status',
    causes: ['Invalid status.allocation'],
  },
  {
    name: 'drivers report allocated devices',
    ...claim({ requests: [request] }),
    status: { status: { allocation } },
    patch: { status: { devices: [{ ...device, networkData: { ips: ['10.9.8.7/24'] } }] } },
    subresource: '/status',
  },
  {
    name: 'drivers report no other devices',
    ...claim({ requests: [request] }),
    status: { status: { allocation } },
    patch: { status: { devices: [{ ...device, device: 'b' }] } },
    subresource: '/status',
    causes: ['Invalid status.devices[0]'],
  },
  {
    name: 'templates are checked',
    path: `${group}/namespaces/default/resourceclaimtemplates`,
    body: { spec: { spec: { devices: { requests: [{ name: 'r' }] } } } },
    causes: ['Required spec.spec.devices.requests[0]'],
  },
  {
    name: 'a class has a generation',
    ...deviceClass({ selectors: [cel('true')] }),
    patch: { spec: { selectors: [cel('false')] } },
    shows: { 'metadata.generation': 2 },
  },
  {
    name: 'the new selectors of a class compile',
    ...deviceClass({ selectors: [cel('true')] }),
    patch: { spec: { selectors: [cel('device')] } },
    causes: ['Invalid spec.selectors[0].cel.expression'],
  },
  {
    name: 'a class may be an extended resource',
    ...deviceClass({ extendedResourceName: 'cpu' }),
    causes: ['Invalid spec.extendedResourceName'],
  },
  { name: 'a slice has one location', ...slice({ nodeName: undefined }), causes: ['Required spec'] },
  { name: 'all nodes or none', ...slice({ allNodes: false }), causes: ['Invalid spec.allNodes'] },
  {
    name: 'a slice keeps its node',
    ...slice({}),
    patch: { spec: { nodeName: 'm' } },
    causes: ['Invalid spec.nodeName'],
  },
  {
    name: 'attributes have one value',
    ...withDevice({ attributes: { x: { int: 1, string: 'a' } } }),
    causes: ['Invalid spec.devices[0].attributes[x]'],
  },
  {
    name: 'versions are semantic',
    ...withDevice({ attributes: { x: { version: '1.x' } } }),
    causes: ['Invalid spec.devices[0].attributes[x].version'],
  },
  {
    name: 'names of attributes are identifiers',
    ...withDevice({ attributes: { 'a-b': { int: 1 } } }),
    causes: ['Invalid spec.devices[0].attributes'],
  },
  {
    name: 'taints have an effect',
    ...withDevice({ taints: [{ key: 'x' }] }),
    causes: ['Required spec.devices[0].taints[0].effect'],
  },
  {
    name: 'failures need conditions',
    ...withDevice({ bindingFailureConditions: ['x'] }),
    causes: ['Invalid spec.devices[0].bindingConditions'],
  },
  {
    name: 'policies need shared devices',
    ...withDevice({ capacity: { m: { value: '8', requestPolicy: { default: '1', validValues: ['1'] } } } }),
    causes: ['Forbidden spec.devices[0].capacity[m].requestPolicy'],
  },
  {
    name: 'the default is a valid value',
    ...withDevice({
      allowMultipleAllocations: true,
      capacity: { m: { value: '8', requestPolicy: { default: '3', validValues: ['1', '2'] } } },
    }),
    causes: ['Invalid spec.devices[0].capacity[m].requestPolicy.validValues'],
  },
  {
    name: 'the default of a range is reported at the violated bound',
    ...shared({ default: '9', validRange: { min: '1', max: '7', step: '4' } }),
    causes: ['max', 'step'].map((name) => `Invalid ${policy}.validRange.${name}`),
  },
  {
    name: 'a step must not be zero',
    ...shared({ default: '1', validRange: { min: '1', step: '0' } }),
    causes: [`Invalid ${policy}.validRange.step`],
  },
  {
    name: 'valid values ascend and do not repeat',
    ...shared({ default: '1', validValues: ['1', '4', '4', '2', '9'] }),
    causes: [`Duplicate ${policy}.validValues[2]`, ...[3, 4].map((i) => `Invalid ${policy}.validValues[${i}]`)],
  },
  {
    name: 'valid amounts require a default',
    ...shared({ validValues: ['9'] }),
    causes: [`Required ${policy}.default`],
  },
  {
    name: 'a device with too many attributes reports other errors too',
    ...withDevice({
      attributes: {
        ...Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, { int: i }])),
        x: { version: 'v' },
      },
    }),
    causes: ['Invalid spec.devices[0]', 'Invalid spec.devices[0].attributes[x].version'],
  },
  {
    name: 'a long version that is not semantic has two errors',
    ...withDevice({ attributes: { x: { version: 'v'.repeat(65) } } }),
    causes: ['Invalid', 'TooLong'].map((reason) => `${reason} spec.devices[0].attributes[x].version`),
  },
  {
    name: 'the parts of a name are not empty',
    ...withDevice({ attributes: { '/': { int: 1 } } }),
    causes: ['Invalid spec.devices[0].attributes'],
  },
  {
    name: 'a device consumes at most two counter sets',
    ...withDevice({
      consumesCounters: ['a', 'b', 'c'].map((counterSet) => ({ counterSet, counters: { m: { value: '1' } } })),
    }),
    causes: ['TooMany spec.devices[0].consumesCounters'],
  },
  {
    name: 'a counter set has at most 32 counters',
    ...slice({ sharedCounters: [{ name: 'c', counters: manyCounters }] }),
    causes: ['TooMany spec.sharedCounters[0].counters'],
  },
  {
    name: 'a slice selects nodes by one term',
    ...slice({ nodeName: undefined, nodeSelector: { nodeSelectorTerms: [] } }),
    causes: ['Invalid', 'Required'].map((reason) => `${reason} spec.nodeSelector.nodeSelectorTerms`),
  },
  {
    name: 'a device selects nodes by several terms',
    ...slice({
      nodeName: undefined,
      perDeviceNodeSelection: true,
      devices: [{ name: 'a', nodeSelector: { nodeSelectorTerms: [term, term] } }],
    }),
  },
  {
    name: 'counters exclude devices',
    ...slice({ devices: [{ name: 'a' }], sharedCounters: [{ name: 'c', counters: { m: { value: '1' } } }] }),
    causes: ['Invalid spec'],
  },
]

const twice = { ...claim({ requests: [request, request] }) }
const tolerant = exactly({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }] })
const taints = exactly({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'None' }] })
const distinct = claim({ requests: [request], constraints: [{ distinctAttribute: 'd.example/a' }] })

await testRows('1.36', [
  ...rows,
  { name: 'a repeated request is reported as a whole', ...twice, causes: ['Duplicate spec.devices.requests[1]'] },
  { name: 'taints can have no effect', ...taints },
  { name: 'distinct attributes count as constraints', ...distinct },
])
await testRows('1.34', [
  {
    name: 'an empty part of a name is missing',
    ...claim({ requests: [request], constraints: [{ matchAttribute: '/a' }] }),
    causes: ['Required spec.devices.constraints[0].matchAttribute'],
  },
  {
    name: 'selectors cannot ask for shared devices',
    ...exactly({ selectors: [cel('device.allowMultipleAllocations')] }),
    causes: [`Invalid ${first}.exactly.selectors[0].cel.expression`],
  },
  { name: 'a repeated request is reported by name', ...twice, causes: ['Duplicate spec.devices.requests[1].name'] },
  {
    name: 'tolerations stay although their gate is off',
    ...tolerant,
    shows: { 'spec.devices.requests.0.exactly.tolerations.0.key': 'a' },
  },
  {
    name: 'every taint has an effect',
    ...taints,
    causes: [`NotSupported ${first}.exactly.tolerations[0].effect`],
  },
  {
    name: 'an empty constraint lacks its attribute',
    ...claim({ requests: [request], constraints: [{}] }),
    causes: ['Required spec.devices.constraints[0].matchAttribute'],
  },
])
await testRows(
  '1.36',
  [
    { name: 'attributes can be lists', ...withDevice({ attributes: { x: { ints: [1, 2] } } }) },
    {
      name: 'a list of an attribute is not empty',
      ...withDevice({ attributes: { x: { ints: [] } } }),
      causes: ['Invalid spec.devices[0].attributes[x].ints'],
    },
    {
      name: 'the elements of lists count as values',
      ...withDevice({ attributes: { x: { ints: Array.from({ length: 49 }, () => 1) } } }),
      causes: ['Invalid spec.devices[0]'],
    },
    {
      name: 'selectors iterate over lists',
      ...exactly({ selectors: [cel('device.attributes["d.example"].models.exists(model, model == "x")')] }),
    },
  ],
  ['--feature-gates=DRAListTypeAttributes=true'],
)

test('v1beta1 serves the same ResourceClaims and ResourceSlices in its own format', async () => {
  const flags = [
    '--emulated-version=1.36',
    '--profile=kubernetes',
    `--runtime-config=${domain}/v1beta1,${domain}/v1beta2`,
  ]
  const client = (await serve({ after }, flags)).client()
  const older = `/apis/${domain}/v1beta1`
  const claims = 'namespaces/default/resourceclaims'
  const flat = { name: 'r', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 }
  const alternatives = { name: 's', firstAvailable: [{ name: 'x', deviceClassName: 'gpu', allocationMode: 'All' }] }
  const requests = [flat, alternatives]
  const made = await client.post(`${older}/${claims}`, { metadata: { name: 'c' }, spec: { devices: { requests } } })
  assert.deepEqual([made.status, made.body.spec.devices.requests], [201, requests], JSON.stringify(made.body))
  const { name, ...exactly } = flat
  const { body } = await client.get(`${group}/${claims}/c`)
  assert.deepEqual(body.spec.devices.requests, [{ name, exactly }, alternatives])

  const { path: slices, body: sent } = withDevice({ attributes: { x: { int: 1 } } })
  assert.equal((await client.post(slices, { metadata: { name: 's' }, ...sent })).status, 201)
  const found = (await client.get(`${older}/resourceslices/s`)).body
  assert.deepEqual(found.spec.devices, [{ name: 'a', basic: { attributes: { x: { int: 1 } } } }])
  found.spec.devices[0].basic.attributes.x.int = 2
  assert.equal((await client.put(`${older}/resourceslices/s`, found)).status, 200)
  assert.equal((await client.get(`${group}/resourceslices/s`)).body.spec.devices[0].attributes.x.int, 2)

  const rules = `/apis/${domain}/v1beta2/devicetaintrules`
  const rule = {
    metadata: { name: 't' },
    spec: { deviceSelector: { driver: 'd.example' }, taint: { key: 'a', effect: 'NoExecute' } },
  }
  const { status, body: created } = await client.post(rules, rule)
  assert.deepEqual([status, typeof created.spec.taint.timeAdded], [201, 'string'])
  const wrong = { ...rule, metadata: { name: 'u' }, spec: { deviceSelector: { pool: '' }, taint: { key: 'a' } } }
  assert.equal((await client.post(rules, wrong)).body.details.causes.length, 2)
})

test('only claims in a namespace with the admin-access label may request administrative access', async () => {
  const client = (await serve({ after }, ['--emulated-version=1.34', '--profile=kubernetes'])).client()
  await client.post('/api/v1/namespaces', {
    metadata: { name: 'admins', labels: { 'resource.kubernetes.io/admin-access': 'true' } },
  })
  const claim = (adminAccess: boolean) => ({
    devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', adminAccess } }] },
  })
  const post = async (namespace: string, adminAccess: boolean) => {
    const path = `${group}/namespaces/${namespace}`
    const metadata = { generateName: 'c-' }
    const spec = claim(adminAccess)
    const [made, template] = [
      await client.post(`${path}/resourceclaims`, { metadata, spec }),
      await client.post(`${path}/resourceclaimtemplates`, { metadata, spec: { spec } }),
    ]
    return [made, template].map(({ status, body }) => [status, body.details?.causes?.[0].field])
  }
  const refused = [422, 'spec.devices.requests[0].adminAccess']
  const allowed = [201, undefined]
  assert.deepEqual(await post('default', true), [refused, refused])
  assert.deepEqual(await post('default', false), [allowed, allowed])
  assert.deepEqual(await post('admins', true), [allowed, allowed])
})

test('if the maximum is less than the minimum, the error contains the maximum', () => {
  const requestPolicy = { default: '5', validRange: { min: '5', max: '4' } }
  const errors = checkCapacity({ value: '8', requestPolicy }, { isShared: true, path: 'm' })
  assert.deepEqual(errors.slice(0, 1), [
    {
      fault: 'FieldValueInvalid',
      path: 'm.requestPolicy.validRange.max',
      text: 'Invalid value: "4": must not be less than the minimum',
    },
  ])
})
