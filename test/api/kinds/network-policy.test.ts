/** Tests NetworkPolicy: validation of ports, peers and IP blocks, defaults, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { networkPolicy } from '../../../src/api/kinds/networking/network-policy.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const ports: readonly (readonly [port: JsonObject, faults: readonly string[]])[] = [
  [{}, []],
  [{ port: 'http', protocol: 'UDP' }, []],
  [{ port: 80, endPort: 80 }, []],
  [{ protocol: 'ICMP' }, ['NotSupported protocol']],
  [{ protocol: '' }, ['NotSupported protocol']],
  [{ port: 0 }, ['Invalid port']],
  [{ port: 65536 }, ['Invalid port']],
  [{ port: '' }, ['Invalid port']],
  [{ port: 'HTTP_' }, ['Invalid port']],
  [{ port: 80, endPort: 79 }, ['Invalid endPort']],
  [{ port: 80, endPort: 70000 }, ['Invalid endPort']],
  [{ port: 'http', endPort: 80 }, ['Invalid endPort']],
  [{ endPort: 80 }, ['Invalid endPort']],
]

test('a port in a NetworkPolicy must be a number, a name or a range of numbers', () => {
  for (const [port, faults] of ports) {
    const reportedFaults = create({ ingress: [{ ports: [port] }], egress: [{ ports: [port] }] }).faults
    const expected = ['egress', 'ingress'].flatMap((way) =>
      faults.map((fault) => fault.replace(' ', ` spec.${way}[0].ports[0].`)),
    )
    assert.deepEqual(reportedFaults, expected, JSON.stringify(port))
  }
})

const block = (cidr: string, ...except: string[]) => ({ ipBlock: { cidr, except } })

const peers: readonly (readonly [peer: JsonObject, faults: readonly string[]])[] = [
  [{ podSelector: {} }, []],
  [{ podSelector: { matchLabels: { a: 'b' } }, namespaceSelector: {} }, []],
  [{}, ['Required ']],
  [{ ...block('10.0.0.0/8'), podSelector: {} }, ['Forbidden ']],
  [{ podSelector: { matchLabels: { a: 'b c' } } }, ['Invalid .podSelector.matchLabels']],
  [
    { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    ['Required .namespaceSelector.matchExpressions[0].values'],
  ],
  [{ ipBlock: {} }, ['Required .ipBlock.cidr']],
  [block('10.1.2.3/8', '10.1.0.0/16', '10.2.3.4/32'), []],
  [block('010.0.0.0/8', '10.0.0.0/9'), []],
  [block('2001:db8::/32', '2001:db8:1::/48', '2001:db8::1.2.3.4/128'), []],
  [block('0.0.0.0/0', '1.0.0.0/8'), []],
  ...[
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '256.0.0.0/8',
    '::/129',
    'fe80::%1/64',
    'x/8',
    '1/2/3',
    `${'1'.repeat(1e5)}/8`,
  ].map((cidr) => [block(cidr), ['Invalid .ipBlock.cidr']] as const),
  ...['11.0.0.0/16', '10.0.0.0/8', '0.0.0.0/0', '2001:db8::/32', '10.0.0.1'].map(
    (except) => [block('10.0.0.0/8', except), ['Invalid .ipBlock.except[0]']] as const,
  ),
  [block('10.0.0.0/8', '10.0.0.0/8', 'x', 'y'), ['Invalid .ipBlock.except[0]', 'Invalid .ipBlock.except[1]']],
]

test('a peer in a NetworkPolicy is either a label selector or an IP block', () => {
  for (const [peer, faults] of peers) {
    const { faults: reportedFaults } = create({ egress: [{ to: [peer] }] })
    assert.deepEqual(
      reportedFaults,
      faults.map((fault) => fault.replace(' ', ' spec.egress[0].to[0]')),
      JSON.stringify(peer).slice(0, 200),
    )
    assert.equal(create({ ingress: [{ from: [peer] }] }).faults.length, faults.length)
  }
})

test('the policyTypes of a NetworkPolicy default to the directions that have rules', () => {
  const types = (spec: JsonObject) => (asJson(create(spec).object).spec as JsonObject).policyTypes
  assert.deepEqual(types({}), ['Ingress'])
  assert.deepEqual(types({ egress: [], policyTypes: [] }), ['Ingress'])
  assert.deepEqual(types({ egress: [{}] }), ['Ingress', 'Egress'])
  assert.deepEqual(types({ egress: [{}], policyTypes: ['Egress'] }), ['Egress'])
  assert.deepEqual(create({ policyTypes: ['Ingress', 'Other'] }).faults, ['NotSupported spec.policyTypes[1]'])
  assert.deepEqual(create({ policyTypes: ['Ingress', 'Egress', 'X'] }).faults, ['Invalid spec.policyTypes'])
})

test('spec changes of a NetworkPolicy increment the generation, and the table shows the pod selector', () => {
  const { object } = create({})
  assert.equal(object.metadata.generation, 1)
  const matchExpressions = [{ key: 'e', operator: 'NotIn', values: ['g', 'f'] }]
  const podSelector = { matchLabels: { c: 'd', a: 'b' }, matchExpressions }
  const changed = updateBy(networkPolicy, object, policy({ podSelector })).object
  assert.equal(changed.metadata.generation, 2)
  assert.equal(updateBy(networkPolicy, object, policy({})).object.metadata.generation, 1)
  assert.deepEqual(
    [object, changed].map((each) => cellsOf(networkPolicy, each)[1]),
    ['<none>', 'a=b,c=d,e notin (f,g)'],
  )
})

function create(spec: JsonObject) {
  return createBy(networkPolicy, policy(spec))
}

function policy(spec: JsonObject): JsonObject {
  return { apiVersion: 'networking.orch.io/v1', kind: 'NetworkPolicy', metadata: { name: 'p' }, spec }
}
