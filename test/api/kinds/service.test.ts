/**
 * Tests Service: defaults and validation by type, addresses on single-stack and dual-stack clusters, node ports,
 * updates and table columns. test/apiserver/http/service-allocation.long.test.ts tests that two Services never get the
 * same value.
 */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { service } from '../../../src/api/kinds/core/service.ts'
import { type ApiObject, asJson, type ObjectMeta } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { Allocator } from '../../../src/api/schema/reservations.ts'
import { serve } from '../../support/in-process.ts'
import { createBy, type Outcome, updateBy } from './rules.ts'

const v4 = 'cluster-ips-v4'
const v6 = 'cluster-ips-v6'

/**
 * An allocator that returns values in order, starting at 10.0.0.1, fd00::1 and 30001. The values in `taken` are
 * reserved by other Services.
 */
function pools(families: readonly string[], taken: readonly string[] = []): Allocator {
  const drawn = new Map<string, number>()
  const asked = new Set<string>()
  const text = (pool: string, i: number) => (pool === v4 ? `10.0.0.${i}` : pool === v6 ? `fd00::${i}` : `${30000 + i}`)
  return {
    pools: [...families, 'node-ports'],
    maxValues: 20,
    draw: (pool) => {
      const i = (drawn.get(pool) ?? 0) + 1
      drawn.set(pool, i)
      return i > 9 ? undefined : text(pool, i)
    },
    refuse: (_, value) => {
      if (taken.includes(value) || asked.has(value)) return 'is taken'
      asked.add(value)
      return undefined
    },
  }
}

const single = () => pools([v4])
const dual = () => pools([v4, v6])
const ports = [{ port: 80 }]
const balancer = { type: 'LoadBalancer', ports }
const nodePort = { type: 'NodePort', ports }
const external = { type: 'ExternalName', externalName: 'db.example.com' }
const twoProtocols = {
  ports: [
    { port: 53, name: 'a' },
    { port: 53, name: 'b', protocol: 'UDP' },
  ],
}
const headless = { clusterIP: 'None', ports }

interface Sent {
  readonly metadata?: JsonObject
  readonly [field: string]: unknown
}

function create({ metadata = {}, ...spec }: Sent, allocator = single()): Outcome {
  return createBy(service, { metadata: { name: 'a', ...metadata }, spec: spec as JsonObject }, { allocator })
}

function created(spec: Sent, allocator = single()): ApiObject {
  const { object, faults } = create(spec, allocator)
  assert.deepEqual(faults, [], JSON.stringify(spec))
  return object
}

/** Updates some fields of the spec. Null removes a field. */
function update(previous: ApiObject, change: JsonObject, allocator = single()): Outcome {
  const { spec } = asJson(previous) as { spec: JsonObject }
  const next = { ...spec, ...change }
  for (const name of Object.keys(next)) if (next[name] === null) delete next[name]
  const sent = { metadata: { ...(previous.metadata as JsonObject) }, spec: structuredClone(next) }
  return updateBy(service, previous, sent, { allocator })
}

function specOf(object: ApiObject): JsonObject {
  return (asJson(object) as { spec: JsonObject }).spec
}

const plain = { sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' }
const port = { protocol: 'TCP', port: 80, targetPort: 80 }
const inCluster = {
  ...plain,
  clusterIP: '10.0.0.1',
  clusterIPs: ['10.0.0.1'],
  ipFamilies: ['IPv4'],
  ipFamilyPolicy: 'SingleStack',
}

test('the defaults of a Service depend on its type', () => {
  const rows: readonly (readonly [Sent, JsonObject])[] = [
    [{ ports }, { ...inCluster, type: 'ClusterIP', ports: [port] }],
    [
      nodePort,
      { ...inCluster, type: 'NodePort', externalTrafficPolicy: 'Cluster', ports: [{ ...port, nodePort: 30001 }] },
    ],
    [
      balancer,
      {
        ...inCluster,
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Cluster',
        allocateLoadBalancerNodePorts: true,
        ports: [{ ...port, nodePort: 30001 }],
      },
    ],
    [
      { ...balancer, allocateLoadBalancerNodePorts: false },
      {
        ...inCluster,
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Cluster',
        allocateLoadBalancerNodePorts: false,
        ports: [port],
      },
    ],
    [external, { ...plain, ...external }],
    [
      { clusterIP: 'None' },
      {
        ...plain,
        type: 'ClusterIP',
        clusterIP: 'None',
        clusterIPs: ['None'],
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
      },
    ],
    [
      { ...headless, selector: { a: 'b' } },
      {
        ...inCluster,
        type: 'ClusterIP',
        clusterIP: 'None',
        clusterIPs: ['None'],
        selector: { a: 'b' },
        ports: [port],
      },
    ],
  ]
  for (const [sent, stored] of rows) assert.deepEqual(specOf(created(sent)), stored)
})

test('unset fields of a Service are set to their defaults', () => {
  const withTimeout = (timeoutSeconds: number) => ({ clientIP: { timeoutSeconds } })
  const rows: readonly (readonly [Sent, JsonObject])[] = [
    [{ sessionAffinity: 'ClientIP' }, { sessionAffinityConfig: withTimeout(10800) }],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: {} }, { sessionAffinityConfig: withTimeout(10800) }],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: withTimeout(1) }, { sessionAffinityConfig: withTimeout(1) }],
    [{ ports: [{ port: 80, targetPort: 0 }] }, { ports: [port] }],
    [{ ports: [{ port: 80, targetPort: '' }] }, { ports: [port] }],
    [
      { ports: [{ port: 80, targetPort: 'web', protocol: 'UDP' }] },
      { ports: [{ ...port, targetPort: 'web', protocol: 'UDP' }] },
    ],
    [{ internalTrafficPolicy: 'Local' }, { internalTrafficPolicy: 'Local' }],
  ]
  for (const [sent, stored] of rows) {
    const spec = specOf(created({ ports, ...sent }))
    for (const [name, value] of Object.entries(stored)) assert.deepEqual(spec[name], value, JSON.stringify(sent))
  }
  assert.equal(specOf(created({ ports, sessionAffinityConfig: withTimeout(5) })).sessionAffinityConfig, undefined)
  assert.deepEqual((asJson(created({ ports, status: {} })) as JsonObject).status, { loadBalancer: {} })
})

const annotation = `service.beta.${vendorOf('orch').keyDomain}/load-balancer-source-ranges`
const one = (more: JsonObject) => ({ ports: [{ port: 80, ...more }] })
const two = (first: JsonObject, second: JsonObject) => ({
  ports: [
    { port: 80, name: 'a', ...first },
    { port: 81, name: 'b', ...second },
  ],
})

const bad: readonly (readonly [sent: Sent, ...faults: string[]])[] = [
  [{}, 'Required spec.ports'],
  [one({ port: 0 }), 'Invalid spec.ports[0].port', 'Invalid spec.ports[0].targetPort'],
  [one({ port: 65536, targetPort: 1 }), 'Invalid spec.ports[0].port'],
  [one({ targetPort: 65536 }), 'Invalid spec.ports[0].targetPort'],
  [one({ targetPort: 'a-very-long-name' }), 'Invalid spec.ports[0].targetPort'],
  [one({ protocol: 'tcp' }), 'NotSupported spec.ports[0].protocol'],
  [one({ appProtocol: 'Bad Protocol' }), 'Invalid spec.ports[0].appProtocol'],
  [one({ appProtocol: '' }), 'Invalid spec.ports[0].appProtocol'],
  [one({ name: 'Bad' }), 'Invalid spec.ports[0].name'],
  [one({ name: 'a'.repeat(64) }), 'Invalid spec.ports[0].name'],
  [{ ports: [{ port: 80 }, { port: 81 }] }, 'Required spec.ports[0].name', 'Required spec.ports[1].name'],
  [two({}, { name: 'a' }), 'Duplicate spec.ports[1].name'],
  [two({}, { port: 80 }), 'Duplicate spec.ports[1]'],
  [one({ nodePort: 30080 }), 'Forbidden spec.ports[0].nodePort'],
  [
    { type: 'ExternalName', externalName: 'a', ...two({ nodePort: 5 }, { nodePort: 5 }) },
    'Duplicate spec.ports[1].nodePort',
  ],
  [{ ports, type: 'Magic' }, 'NotSupported spec.type'],
  [{ ports, sessionAffinity: 'Cookie' }, 'NotSupported spec.sessionAffinity'],
  ...[0, -1, 86401].map(
    (timeoutSeconds) =>
      [
        { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds } } },
        'Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      ] as const,
  ),
  [{ ports, selector: { 'a b': 'c', d: 'e f' } }, 'Invalid spec.selector'],
  [{ ports, externalIPs: ['1.2.3.4', 'x'] }, 'Invalid spec.externalIPs[1]'],
  ...['0.0.0.0', '127.0.0.1', '169.254.1.1', '224.0.0.1', '::', '::1', 'fe80::1', 'ff02::1'].map(
    (ip) => [{ ports, externalIPs: [ip] }, 'Invalid spec.externalIPs[0]'] as const,
  ),
  [{ ...headless, type: 'NodePort' }, 'Invalid spec.clusterIPs[0]'],
  [{ ...headless, type: 'LoadBalancer' }, 'Invalid spec.clusterIPs[0]'],
  [{ ...balancer, ports: [{ port: 10250 }] }, 'Invalid spec.ports[0]'],
  [{ ...balancer, loadBalancerSourceRanges: ['10.0.0.0/8', '10.0.0.1'] }, 'Invalid spec.LoadBalancerSourceRanges'],
  [{ ports, loadBalancerSourceRanges: ['10.0.0.0/8'] }, 'Forbidden spec.LoadBalancerSourceRanges'],
  [{ ...balancer, metadata: { annotations: { [annotation]: 'foo' } } }, `Invalid metadata.annotations[${annotation}]`],
  [
    { ports, metadata: { annotations: { [annotation]: '10.0.0.0/8' } } },
    `Forbidden metadata.annotations[${annotation}]`,
  ],
  [{ ...nodePort, loadBalancerClass: 'a.example/lb' }, 'Forbidden spec.loadBalancerClass'],
  [{ ...balancer, loadBalancerClass: 'Bad Class' }, 'Invalid spec.loadBalancerClass'],
  [{ ports, allocateLoadBalancerNodePorts: false }, 'Forbidden spec.allocateLoadBalancerNodePorts'],
  [{ ...balancer, externalTrafficPolicy: 'Near' }, 'NotSupported spec.externalTrafficPolicy'],
  [{ ports, externalTrafficPolicy: 'Local' }, 'Invalid spec.externalTrafficPolicy'],
  [{ ports, internalTrafficPolicy: 'Near' }, 'NotSupported spec.internalTrafficPolicy'],
  [{ ...balancer, healthCheckNodePort: 31000 }, 'Invalid spec.healthCheckNodePort'],
  [{ ...nodePort, externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 }, 'Invalid spec.healthCheckNodePort'],
  [{ type: 'ExternalName' }, 'Required spec.externalName'],
  [{ type: 'ExternalName', externalName: 'a_b' }, 'Invalid spec.externalName'],
  [{ type: 'ExternalName', externalName: 'C.example' }, 'Invalid spec.externalName'],
  [{ ports, externalTrafficPolicy: 'Anything' }, 'Invalid spec.externalTrafficPolicy'],
  [{ ...nodePort, externalTrafficPolicy: 'Anything' }, 'NotSupported spec.externalTrafficPolicy'],
  [{ ...external, clusterIP: '10.0.0.7' }, 'Forbidden spec.clusterIPs'],
  [{ ...balancer, ...twoProtocols }, 'Invalid spec.ports'],
  [
    { ...external, ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    'Forbidden spec.ipFamilies',
    'Forbidden spec.ipFamilyPolicy',
  ],
  [
    { type: 'ExternalName', sessionAffinity: 'Cookie', loadBalancerClass: 'x', ...two({ name: 'b' }, { port: 0 }) },
    'Duplicate spec.ports[1].name',
    'Forbidden spec.loadBalancerClass',
    'Invalid spec.ports[1].port',
    'Invalid spec.ports[1].targetPort',
    'NotSupported spec.sessionAffinity',
    'Required spec.externalName',
  ],
]

test('all errors in an invalid Service are reported at once', () => {
  for (const [sent, ...faults] of bad) assert.deepEqual(create(sent).faults, faults, JSON.stringify(sent))
})

test('unusual but valid Services are accepted', () => {
  for (const sent of [
    { ports, externalName: 'c.example' },
    { type: 'ExternalName', externalName: 'c.example.' },
    { ...external, ports: [{ port: 80, nodePort: 31996 }] },
    { ...balancer, loadBalancerSourceRanges: [' 10.0.0.0/8 ', 'fd00::/8'] },
    { ...balancer, metadata: { annotations: { [annotation]: ' ' } } },
    {
      ...nodePort,
      ports: [
        { port: 53, name: 'a' },
        { port: 53, name: 'b', protocol: 'UDP' },
      ],
    },
    { ports: [{ port: 80, name: '1' }] },
    { ports: [{ port: 10250 }] },
  ])
    assert.deepEqual(create(sent).faults, [], JSON.stringify(sent))
})

interface AddressRow {
  readonly on: () => Allocator
  readonly sent: Sent
  /** The stored addresses, families and policy, or the expected error. */
  readonly gives:
    | readonly [ips: readonly string[], families: readonly string[], policy: string]
    | readonly [fault: string]
}

const mapped = '::ffff:10.0.0.9'
const primary6 = () => pools([v6, v4])

const addressRows: readonly AddressRow[] = [
  { on: single, sent: {}, gives: [['10.0.0.1'], ['IPv4'], 'SingleStack'] },
  { on: () => pools([v6]), sent: {}, gives: [['fd00::1'], ['IPv6'], 'SingleStack'] },
  { on: dual, sent: {}, gives: [['10.0.0.1'], ['IPv4'], 'SingleStack'] },
  { on: dual, sent: { ipFamilies: ['IPv6'] }, gives: [['fd00::1'], ['IPv6'], 'SingleStack'] },
  {
    on: dual,
    sent: { ipFamilyPolicy: 'PreferDualStack' },
    gives: [['10.0.0.1', 'fd00::1'], ['IPv4', 'IPv6'], 'PreferDualStack'],
  },
  {
    on: primary6,
    sent: { ipFamilyPolicy: 'PreferDualStack' },
    gives: [['fd00::1', '10.0.0.1'], ['IPv6', 'IPv4'], 'PreferDualStack'],
  },
  { on: single, sent: { ipFamilyPolicy: 'PreferDualStack' }, gives: [['10.0.0.1'], ['IPv4'], 'PreferDualStack'] },
  {
    on: dual,
    sent: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
    gives: [['fd00::1', '10.0.0.1'], ['IPv6', 'IPv4'], 'RequireDualStack'],
  },
  {
    on: dual,
    sent: { ipFamilyPolicy: 'RequireDualStack', clusterIP: 'fd00::7' },
    gives: [['fd00::7', '10.0.0.1'], ['IPv6', 'IPv4'], 'RequireDualStack'],
  },
  {
    on: dual,
    sent: { ipFamilyPolicy: 'RequireDualStack', clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9', 'fd00::9'] },
    gives: [['10.0.0.9', 'fd00::9'], ['IPv4', 'IPv6'], 'RequireDualStack'],
  },
  { on: single, sent: { clusterIP: mapped }, gives: [[mapped], ['IPv4'], 'SingleStack'] },
  {
    on: single,
    sent: { clusterIP: 'None', ipFamilyPolicy: 'PreferDualStack' },
    gives: [['None'], ['IPv4', 'IPv6'], 'PreferDualStack'],
  },
  {
    on: single,
    sent: { clusterIP: 'None', ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
    gives: [['None'], ['IPv6'], 'SingleStack'],
  },
  {
    on: single,
    sent: { clusterIP: 'None', selector: { a: 'b' }, ipFamilyPolicy: 'PreferDualStack' },
    gives: [['None'], ['IPv4'], 'PreferDualStack'],
  },
  {
    on: dual,
    sent: { clusterIP: 'None', selector: { a: 'b' }, ipFamilyPolicy: 'RequireDualStack' },
    gives: [['None'], ['IPv4', 'IPv6'], 'RequireDualStack'],
  },
  { on: single, sent: { ipFamilyPolicy: 'RequireDualStack' }, gives: ['Invalid spec.ipFamilyPolicy'] },
  {
    on: single,
    sent: { clusterIP: 'None', selector: { a: 'b' }, ipFamilyPolicy: 'RequireDualStack' },
    gives: ['Invalid spec.ipFamilyPolicy'],
  },
  { on: single, sent: { ipFamilies: ['IPv6'] }, gives: ['Invalid spec.ipFamilies[0]'] },
  { on: single, sent: { clusterIP: 'fd00::1' }, gives: ['Invalid spec.clusterIPs[0]'] },
  { on: dual, sent: { ipFamilies: ['IPv4', 'IPv6'] }, gives: ['Invalid spec.ipFamilyPolicy'] },
  {
    on: dual,
    sent: { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9', 'fd00::9'] },
    gives: ['Invalid spec.ipFamilyPolicy'],
  },
  { on: single, sent: { ipFamilies: ['IPv4', 'IPv4'] }, gives: ['Duplicate spec.ipFamilies[1]'] },
  { on: single, sent: { ipFamilies: ['IPv5'] }, gives: ['NotSupported spec.ipFamilies[0]'] },
  { on: single, sent: { ipFamilyPolicy: 'Both' }, gives: ['NotSupported spec.ipFamilyPolicy'] },
  { on: single, sent: { clusterIP: 'ten' }, gives: ['Invalid spec.clusterIPs[0]'] },
  { on: single, sent: { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.3'] }, gives: ['Invalid spec.clusterIPs'] },
  { on: single, sent: { clusterIPs: ['10.0.0.2'] }, gives: ['Invalid spec.clusterIPs'] },
  {
    on: single,
    sent: { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2', '10.0.0.3'] },
    gives: ['Invalid spec.clusterIPs'],
  },
  {
    on: single,
    sent: { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2', '10.0.0.3', '10.0.0.4'] },
    gives: ['Invalid spec.clusterIPs'],
  },
  { on: single, sent: { clusterIP: 'None', clusterIPs: ['None', '10.0.0.3'] }, gives: ['Invalid spec.clusterIPs'] },
  { on: single, sent: { clusterIP: '10.0.0.2', ipFamilies: ['IPv6'] }, gives: ['Invalid spec.clusterIPs[0]'] },
  { on: () => pools([v4], ['10.0.0.9']), sent: { clusterIP: mapped }, gives: ['Invalid spec.clusterIPs'] },
]

test('missing cluster IPs and IP families of a Service are derived from the other fields and the Service CIDRs', () => {
  for (const { on, sent, gives } of addressRows) {
    const { object, faults } = create({ ports, ...sent }, on())
    const told = JSON.stringify(sent)
    if (gives.length === 1) {
      assert.deepEqual(faults, gives, told)
      continue
    }
    assert.deepEqual(faults, [], told)
    const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = specOf(object)
    assert.deepEqual([clusterIPs, ipFamilies, ipFamilyPolicy], gives, told)
    assert.equal(clusterIP, gives[0][0])
  }
})

test('the server allocates node ports for ports and health checks, and ports with the same number share a node port', () => {
  const given = (spec: JsonObject) => (spec.ports as JsonObject[]).map(({ nodePort }) => nodePort)
  const dns = (tcp: JsonObject, udp: JsonObject) => ({
    ports: [
      { port: 53, name: 'tcp', ...tcp },
      { port: 53, name: 'udp', protocol: 'UDP', ...udp },
    ],
  })
  const rows: readonly (readonly [JsonObject, readonly unknown[]])[] = [
    [dns({}, {}), [30001, 30001]],
    [dns({}, { nodePort: 31000 }), [31000, 31000]],
    [dns({ nodePort: 31000 }, {}), [31000, 31000]],
    [dns({ nodePort: 31000 }, { nodePort: 31000 }), [31000, 31000]],
    [dns({ nodePort: 31000 }, { nodePort: 31001 }), [31000, 31001]],
    [two({}, {}), [30001, 30002]],
  ]
  for (const [sent, numbers] of rows) assert.deepEqual(given(specOf(created({ type: 'NodePort', ...sent }))), numbers)
  const quiet = { ...balancer, allocateLoadBalancerNodePorts: false }
  assert.deepEqual(given(specOf(created({ ...quiet, ...two({}, { nodePort: 31000 }) }))), [undefined, 31000])
  assert.equal(specOf(created({ ...balancer, externalTrafficPolicy: 'Local' })).healthCheckNodePort, 30002)

  const taken = () => pools([v4], ['31000'])
  const refused = (sent: Sent) => create({ ...nodePort, ...sent }, taken()).faults
  assert.deepEqual(refused(one({ nodePort: 31000 })), ['Invalid spec.ports[0].nodePort'])
  assert.deepEqual(refused(two({ nodePort: 31001 }, { nodePort: 31001 })), ['Invalid spec.ports[1].nodePort'])
  const many = Array.from({ length: 21 }, (_, i) => ({ port: i + 1, name: `p${i}` }))
  assert.deepEqual(refused({ ports: many }), ['TooMany spec.ports'])
  assert.deepEqual(create({ ports: many }).faults, [])
  const health = { ...balancer, externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 }
  assert.deepEqual(create(health, taken()).faults, ['Invalid spec.healthCheckNodePort'])
})

describe('updating a Service', () => {
  it('an update keeps allocated values that the client omits', () => {
    const before = created({ ...balancer, externalTrafficPolicy: 'Local', ...two({}, {}) })
    const bare = {
      clusterIP: null,
      clusterIPs: null,
      ipFamilies: null,
      ipFamilyPolicy: null,
      healthCheckNodePort: null,
    }
    const { object, faults } = update(before, {
      ...bare,
      ports: [
        { port: 90, name: 'b' },
        { port: 80, name: 'a' },
      ],
    })
    assert.deepEqual(faults, [])
    const { ports: kept, ...rest } = specOf(object)
    const { ports: _, ...stored } = specOf(before)
    assert.deepEqual(rest, stored)
    assert.deepEqual(
      (kept as JsonObject[]).map(({ name, nodePort }) => [name, nodePort]),
      [
        ['b', 30002],
        ['a', 30001],
      ],
    )
  })

  it('updating only clusterIP replaces clusterIPs, and other errors are reported too', () => {
    const { faults } = update(created({ ports }), { clusterIP: '10.0.0.77', clusterIPs: null, ports: [{ port: 0 }] })
    assert.deepEqual(faults, [
      'Invalid spec.clusterIPs[0]',
      'Invalid spec.ports[0].port',
      'Invalid spec.ports[0].targetPort',
    ])
  })

  it('an update allocates node ports for new ports and drops them if the new type has no node ports', () => {
    const before = created({ ...nodePort, ...two({}, {}) })
    const numbers = (spec: JsonObject) => (spec.ports as JsonObject[]).map((each) => each.nodePort)
    const dns = [
      { port: 80, name: 'a' },
      { port: 80, name: 'c', protocol: 'UDP' },
    ]
    const later = single()
    for (const _ of [1, 2]) later.draw('node-ports')
    assert.deepEqual(numbers(specOf(update(before, { ports: dns }, later).object)), [30001, 30003])
    const fewer = update(before, { type: 'ClusterIP', ports: [{ port: 80, name: 'a', nodePort: 30001 }] })
    assert.deepEqual([fewer.faults, numbers(specOf(fewer.object))], [[], [undefined]])
  })

  it('an update can move a node port to another port', () => {
    const before = created({ ...nodePort, ...two({}, {}) })
    const { object } = update(before, {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', nodePort: 30001 },
      ],
    })
    const numbers = (specOf(object).ports as JsonObject[]).map(({ nodePort }) => nodePort)
    assert.equal(numbers[1], 30001)
  })

  it('an update drops values that the new type does not use, unless the client changed them', () => {
    const before = created({ ...balancer, externalTrafficPolicy: 'Local', loadBalancerClass: 'a.example/b' })
    assert.deepEqual(specOf(update(before, { type: 'ClusterIP' }).object), specOf(created({ ports })))
    const toExternal = update(before, { type: 'ExternalName', externalName: 'a.example' })
    assert.deepEqual(toExternal.faults, [])
    assert.deepEqual(specOf(toExternal.object), {
      ...plain,
      type: 'ExternalName',
      externalName: 'a.example',
      ports: [port],
    })
    assert.deepEqual(update(before, { type: 'ClusterIP', loadBalancerClass: 'a.example/c' }).faults, [
      'Forbidden spec.loadBalancerClass',
    ])
    assert.deepEqual(update(before, { type: 'ClusterIP', ports: [{ ...port, nodePort: 31000 }] }).faults, [
      'Forbidden spec.ports[0].nodePort',
    ])
  })

  it('switching to SingleStack releases the second address, and switching to dual-stack allocates it', () => {
    const both = created({ ports, ipFamilyPolicy: 'PreferDualStack' }, dual())
    const down = update(both, { ipFamilyPolicy: 'SingleStack' }, dual())
    assert.deepEqual(
      [down.faults, specOf(down.object).clusterIPs, specOf(down.object).ipFamilies],
      [[], ['10.0.0.1'], ['IPv4']],
    )
    const up = update(down.object, { ipFamilyPolicy: 'RequireDualStack' }, dual())
    assert.deepEqual([up.faults, specOf(up.object).clusterIPs], [[], ['10.0.0.1', 'fd00::1']])
    // A PreferDualStack Service keeps its addresses if the cluster loses or gains a family.
    assert.deepEqual(specOf(update(both, { sessionAffinity: 'None' }, single()).object), specOf(both))
    const alone = created({ ports, ipFamilyPolicy: 'PreferDualStack' })
    assert.deepEqual(specOf(update(alone, {}, dual()).object), specOf(alone))
  })

  const before = created({ ports, ipFamilyPolicy: 'PreferDualStack' }, dual())
  const rows: readonly (readonly [ApiObject, JsonObject, ...string[]])[] = [
    [before, { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5', 'fd00::1'] }, 'Invalid spec.clusterIPs[0]'],
    [before, { clusterIPs: ['10.0.0.1', 'fd00::2'] }, 'Invalid spec.clusterIPs[1]'],
    [before, { clusterIPs: ['10.0.0.1'] }, 'Invalid spec.ipFamilyPolicy'],
    [before, { ipFamilies: ['IPv4'] }, 'Invalid spec.ipFamilyPolicy'],
    [created({ ports }), { clusterIP: 'None' }, 'Invalid spec.clusterIPs[0]'],
    [created({ ports }), { clusterIP: 'None', clusterIPs: ['None'] }, 'Invalid spec.clusterIPs[0]'],
    [created({ ports }), { ipFamilies: ['IPv6'] }, 'Invalid spec.clusterIPs[0]'],
    [
      created({ ...headless, selector: { a: 'b' } }),
      { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] },
      'Invalid spec.clusterIPs[0]',
    ],
    [
      created({ ...balancer, loadBalancerClass: 'a/b' }),
      { loadBalancerClass: 'a/c' },
      'Invalid spec.loadBalancerClass',
    ],
    [created({ ...balancer, loadBalancerClass: 'a/b' }), { loadBalancerClass: null }, 'Invalid spec.loadBalancerClass'],
    [created(balancer), { loadBalancerClass: 'a/b' }, 'Invalid spec.loadBalancerClass'],
    [
      created({ ...balancer, externalTrafficPolicy: 'Local' }),
      { healthCheckNodePort: 31000 },
      'Forbidden spec.healthCheckNodePort',
    ],
    [
      created({ ...balancer, externalTrafficPolicy: 'Local' }),
      { healthCheckNodePort: -1, sessionAffinity: 'x' },
      'Forbidden spec.healthCheckNodePort',
      'Invalid spec.healthCheckNodePort',
      'NotSupported spec.sessionAffinity',
    ],
    [created({ ports }), { type: 'ExternalName' }, 'Required spec.externalName'],
    [created(balancer), twoProtocols, 'Invalid spec.ports'],
    [created({ type: 'NodePort', ...twoProtocols }), { sessionAffinity: 'ClientIP' }],
    [created({ type: 'NodePort', ...twoProtocols }), { type: 'LoadBalancer' }],
    [created(external), { type: 'ClusterIP' }, 'Required spec.ports'],
    [created({ ports }), { clusterIP: '' }],
    [created(headless), { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }],
  ]
  it('changing an immutable field of a Service is rejected', () => {
    for (const [stored, change, ...faults] of rows)
      assert.deepEqual(update(stored, change, dual()).faults, faults, JSON.stringify(change))
  })
})

test('the status of a Service is mutable only through its subresource and is cleared unless the type is LoadBalancer', () => {
  const before = created(balancer)
  const ingress = [{ ip: '1.2.3.4', ports: [{ port: 80, protocol: 'TCP' }] }, { hostname: 'lb.example.com' }]
  const status = (list: JsonObject[], spec: JsonObject = {}) =>
    updateBy(
      service,
      before,
      { metadata: before.metadata as ObjectMeta as JsonObject, spec, status: { loadBalancer: { ingress: list } } },
      { subresource: 'status' },
    )
  const written = status(ingress, { selector: { a: 'b' } })
  assert.deepEqual(written.faults, [])
  assert.deepEqual(specOf(written.object), specOf(before))
  const shown = (object: ApiObject) => (asJson(object) as { status: JsonObject }).status
  assert.deepEqual(shown(written.object), { loadBalancer: { ingress } })
  const at = 'status.loadBalancer.ingress[0]'
  assert.deepEqual(status([{ ip: 'nope' }]).faults, [`Invalid ${at}.ip`])
  assert.deepEqual(status([{ hostname: 'a_b' }]).faults, [`Invalid ${at}.hostname`])
  assert.deepEqual(status([{ hostname: '1.2.3.4' }]).faults, [`Invalid ${at}.hostname`])
  assert.deepEqual(shown(update(written.object, { selector: { a: 'b' } }).object), { loadBalancer: { ingress } })
  assert.deepEqual(shown(update(written.object, { type: 'NodePort' }).object), { loadBalancer: {} })
  const unbalanced = { ...created({ ports }), status: { loadBalancer: { ingress } } }
  assert.deepEqual(shown(update(unbalanced, { selector: { a: 'b' } }).object), { loadBalancer: {} })
})

test('the Service table shows the type, addresses, ports and selector', () => {
  const cells = (spec: Sent, status?: JsonObject) => {
    const object = Object.assign(created(spec), status && { status })
    return service.views.columns!.slice(1).map(({ cell }) => cell(object, 0, vendorOf('orch')))
  }
  const age = '<unknown>'
  const ingress = (...list: JsonObject[]) => ({ loadBalancer: { ingress: list } })
  const rows: readonly (readonly [readonly unknown[], readonly unknown[]])[] = [
    [cells({ ports }), ['ClusterIP', '10.0.0.1', '<none>', '80/TCP', age, '<none>']],
    [
      cells({
        ...nodePort,
        externalIPs: ['1.2.3.4', '5.6.7.8'],
        selector: { b: '2', a: '1' },
        ...two({}, { protocol: 'UDP' }),
      }),
      ['NodePort', '10.0.0.1', '1.2.3.4,5.6.7.8', '80:30001/TCP,81:30002/UDP', age, 'a=1,b=2'],
    ],
    [cells(balancer), ['LoadBalancer', '10.0.0.1', '<pending>', '80:30001/TCP', age, '<none>']],
    [
      cells({ ...balancer, externalIPs: ['9.9.9.9'] }, ingress({ hostname: 'lb' }, { ip: '1.2.3.4', hostname: 'x' })),
      ['LoadBalancer', '10.0.0.1', '1.2.3.4,lb,9.9.9.9', '80:30001/TCP', age, '<none>'],
    ],
    [cells(external), ['ExternalName', '<none>', 'db.example.com', '<none>', age, '<none>']],
    [cells({ clusterIP: 'None' }), ['ClusterIP', 'None', '<none>', '<none>', age, '<none>']],
  ]
  for (const [found, expected] of rows) assert.deepEqual(found, expected)
})

test('a Service can be created with PUT and patched by port, and invalid names are rejected', async (t) => {
  const client = (await serve(t)).client()
  const path = '/api/v1/namespaces/default/services'
  const post = (name: string) => client.post(path, { metadata: { name }, spec: { ports } })
  for (const name of ['1x', 'a.b', 'a'.repeat(64)]) {
    const answer = await post(name)
    assert.deepEqual([answer.status, answer.body.details.causes[0].field], [422, 'metadata.name'], name)
  }
  const put = await client.put(`${path}/web`, { metadata: { name: 'web' }, spec: nodePort })
  assert.equal(put.status, 201)
  const [{ nodePort: number }] = put.body.spec.ports
  const headers = { 'content-type': 'application/strategic-merge-patch+json' }
  const body = {
    spec: {
      ports: [
        { port: 443, name: 'tls' },
        { port: 80, name: 'http' },
      ],
    },
  }
  const patched = await client.send(`${path}/web`, { method: 'PATCH', body, headers })
  const kept = patched.body.spec.ports.find((each: { port: number }) => each.port === 80)
  assert.deepEqual(kept, { name: 'http', port: 80, protocol: 'TCP', targetPort: 80, nodePort: number })
  const local = { ...balancer, externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30111 }] }
  const again = (spec: object) => client.put(`${path}/lb`, { metadata: { name: 'lb' }, spec })
  await again({ ...local, externalTrafficPolicy: 'Cluster' })
  const twice = await again({ ...local, healthCheckNodePort: 30111 })
  assert.deepEqual([twice.status, twice.body.details.causes[0].field], [422, 'spec.healthCheckNodePort'])
  assert.equal((await again({ ...local, healthCheckNodePort: 30112 })).status, 200)
  const onHealth = await again({ ...local, ports: [{ port: 80, nodePort: 30112 }] })
  assert.deepEqual([onHealth.status, onHealth.body.details.causes[0].field], [422, 'spec.ports[0].nodePort'])
  const selected = await client.get(`${path}?fieldSelector=spec.type=NodePort`)
  assert.equal(selected.status, 400)
  const deleted = await client.delete(`${path}/web`)
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'Service'])
})
