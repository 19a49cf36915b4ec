/** Tests Ingress and IngressClass: validation of hosts, paths and backends, immutable fields, and tables. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { ingress } from '../../../src/api/kinds/networking/ingress.ts'
import { ingressClass } from '../../../src/api/kinds/networking/ingress-class.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const service = { service: { name: 'svc', port: { number: 80 } } }
const least = { defaultBackend: service }

/** Expected errors for a path in a rule. The field paths are relative to that path. */
const paths: readonly (readonly [path: JsonObject, faults: readonly string[]])[] = [
  [{ pathType: 'Prefix', path: '/a/', backend: service }, []],
  [{ pathType: 'ImplementationSpecific', backend: service }, []],
  [{ pathType: 'ImplementationSpecific', path: '/a//b/../%2f', backend: service }, []],
  [{ path: '/a', backend: service }, ['Required pathType']],
  [{ path: 'a', backend: {} }, ['Required pathType']],
  [{ path: '/a', pathType: '', backend: service }, ['NotSupported pathType']],
  [{ pathType: 'Exact', backend: service }, ['Invalid path']],
  [{ pathType: 'ImplementationSpecific', path: 'foo', backend: service }, ['Invalid path']],
  ...['/a//b', '/a/./b', '/a/../b', '/a/..', '/a/.', '/a%2fb', '/a%2Fb'].map(
    (path) => [{ pathType: 'Exact', path, backend: service }, ['Invalid path']] as const,
  ),
  [{ pathType: 'Exact', path: '/' }, ['Invalid backend']],
]

test('the validation of an Ingress path depends on the path type', () => {
  for (const [sent, faults] of paths) {
    const { faults: reportedFaults } = create({ rules: [{ http: { paths: [sent] } }] })
    assert.deepEqual(
      reportedFaults,
      faults.map((fault) => fault.replace(' ', ' spec.rules[0].http.paths[0].')),
      JSON.stringify(sent),
    )
  }
  assert.deepEqual(create({ rules: [{ http: {} }] }).faults, ['Required spec.rules[0].http.paths'])
})

const backends: readonly (readonly [backend: JsonObject, faults: readonly string[]])[] = [
  [{ service: { name: 'svc', port: { name: 'http' } } }, []],
  [{ service: { name: 'svc', port: { name: 'HTTP' } } }, ['Invalid .service.port.name']],
  [{ service: { name: 'svc', port: { number: 65536 } } }, ['Invalid .service.port.number']],
  [{ service: { name: 'svc', port: { number: -1 } } }, ['Invalid .service.port.number']],
  [{ service: { name: 'svc', port: { name: 'a', number: 1 } } }, ['Invalid ']],
  [{ service: { name: 'svc' } }, ['Required ']],
  [{ service: {} }, ['Required ', 'Required .service.name']],
  [{ service: { name: '1a', port: { number: 1 } } }, ['Invalid .service.name']],
  [{ service: { name: 'a.b', port: { number: 1 } } }, ['Invalid .service.name']],
  [{ resource: { kind: 'Bucket', name: 'b', apiGroup: 'g.example.com' } }, []],
  [{ resource: { kind: 'ConfigMap', name: 'b' } }, []],
  [{ resource: { kind: 'Bucket', name: 'b', apiGroup: '' } }, ['Invalid .resource.apiGroup']],
  [{ resource: {} }, ['Required .resource.kind', 'Required .resource.name']],
  [{ resource: { kind: 'a/b', name: '..' } }, ['Invalid .resource.kind', 'Invalid .resource.name']],
  [{ resource: { kind: 'a', name: 'b' }, ...service }, ['Invalid ']],
  [{}, ['Invalid ']],
]

test('the backend of an Ingress is either a Service port or a resource', () => {
  for (const [defaultBackend, faults] of backends) {
    const expected = faults.map((fault) => fault.replace(' ', ' spec.defaultBackend'))
    assert.deepEqual(create({ defaultBackend }).faults, expected, JSON.stringify(defaultBackend))
  }
})

test('the hosts of an Ingress must be DNS names, and only the first label may be a wildcard', () => {
  const good = ['*.example.com', '*.com', 'a.b-c', `${'a'.repeat(63)}.b`, '']
  const bad = [
    '*',
    'a.*.com',
    'a*.com',
    '*.*.com',
    'Foo.com',
    'a_b',
    'a.',
    '.a',
    'a:80',
    '10.0.0.1',
    '::1',
    'a.'.repeat(127),
  ]
  for (const host of good) assert.deepEqual(create({ rules: [{ host }] }).faults, [], host)
  for (const host of bad) assert.deepEqual(create({ rules: [{ host }] }).faults, ['Invalid spec.rules[0].host'], host)
  const tls = (one: JsonObject) => create({ ...least, tls: [one] }).faults
  assert.deepEqual(tls({ hosts: ['10.0.0.1', '*.a', 'b', 'b'], secretName: 'a.b' }), [])
  assert.deepEqual(
    tls({ hosts: ['', 'A', '*'] }),
    [0, 1, 2].map((i) => `Invalid spec.tls[0].hosts[${i}]`),
  )
  assert.deepEqual(tls({ secretName: 'a/b' }), ['Invalid spec.tls[0].secretName'])
})

test('an Ingress requires a default backend or rules, and its class may be set by a field or an annotation but not by both', () => {
  assert.deepEqual(create({}).faults, ['Invalid spec'])
  assert.deepEqual(createBy(ingress, { metadata: { name: 'i' } }).faults, ['Invalid spec'])
  assert.deepEqual(create({ ...least, ingressClassName: '' }).faults, ['Invalid spec.ingressClassName'])
  const both = (metadata: JsonObject) => ({
    metadata: { name: 'i', ...metadata },
    spec: { ...least, ingressClassName: 'c' },
  })
  const annotations = { 'orch.io/ingress.class': '' }
  assert.deepEqual(createBy(ingress, both({ annotations })).faults, ['Invalid annotations.orch.io/ingress.class'])
  const { object } = create(least)
  assert.deepEqual(updateBy(ingress, object, both({ annotations })).faults, [])
})

test('spec changes of an Ingress increment the generation, and the status is mutable only through its subresource', () => {
  const { object } = createBy(ingress, {
    ...ingressOf(least),
    status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
  })
  assert.deepEqual([object.metadata.generation, asJson(object).status], [1, { loadBalancer: {} }])
  const changed = updateBy(ingress, object, ingressOf({ rules: [{ host: 'a.b' }] })).object
  assert.equal(changed.metadata.generation, 2)
  const status = (points: JsonObject[]) =>
    updateBy(
      ingress,
      object,
      { ...ingressOf({}), status: { loadBalancer: { ingress: points } } },
      { subresource: 'status' },
    )
  const written = status([{ ip: '10.0.0.2' }, { hostname: 'lb.example.com' }, { ip: '10.0.0.1' }])
  assert.deepEqual([written.faults, asJson(written.object).spec], [[], least])
  assert.deepEqual(status([{ ip: '1.2.3' }, { hostname: 'A' }, { hostname: '10.0.0.1' }]).faults, [
    'Invalid status.loadBalancer.ingress[0].ip',
    'Invalid status.loadBalancer.ingress[1].hostname',
    'Invalid status.loadBalancer.ingress[2].hostname',
  ])
  assert.equal(cellsOf(ingress, written.object)[3], '10.0.0.1,10.0.0.2,lb.example.com')
})

test('the Ingress table shows the class, hosts and ports', () => {
  const shown = (spec: JsonObject) => cellsOf(ingress, create(spec).object).slice(1, 5)
  const hosts = (...names: string[]) => ({ rules: names.map((host) => ({ host })) })
  assert.deepEqual(shown(least), ['<none>', '*', '', '80'])
  assert.deepEqual(shown({ ...hosts('a', '', 'b'), ingressClassName: 'c', tls: [{}] }), ['c', 'a,b', '', '80, 443'])
  assert.equal(shown(hosts('a', 'b', 'c'))[1], 'a,b,c')
  assert.equal(shown(hosts('a', 'b', 'c', 'd', 'e'))[1], 'a,b,c + 2 more...')
})

test('the controller of an IngressClass must be a domain-prefixed path and is immutable', () => {
  const faultsOf = (controller: string) => createClass({ controller }).faults
  const good = ['example.com/a', "example.com/a/B_c~d!$&'()*+,;=:/%20%zz", `example.com/${'p'.repeat(238)}`]
  for (const controller of good) assert.deepEqual(faultsOf(controller), [], controller)
  for (const controller of [
    'example.com',
    'example.com/',
    '/path',
    'Example.com/a',
    'e.com/a b',
    'e.com/a@b',
    'e.com:80/a',
  ])
    assert.deepEqual(faultsOf(controller), ['Invalid spec.controller'], controller)
  assert.deepEqual(faultsOf(''), ['Required spec.controller'])
  assert.deepEqual(faultsOf(`example.com/${'p'.repeat(239)}`), ['TooLong spec.controller'])
  const { object } = createClass({ controller: 'e.com/a' })
  assert.deepEqual(updateBy(ingressClass, object, classOf({ controller: 'e.com/b' })).faults, [
    'Invalid spec.controller',
  ])
  const changed = updateBy(
    ingressClass,
    object,
    classOf({ controller: 'e.com/a', parameters: { kind: 'A', name: 'b' } }),
  )
  assert.deepEqual([changed.faults, changed.object.metadata.generation], [[], 2])
})

test('the scope of IngressClass parameters determines whether they need a namespace', () => {
  const cases: readonly (readonly [parameters: JsonObject, faults: readonly string[]])[] = [
    [{ kind: 'A', name: 'b' }, []],
    [{}, ['Required kind', 'Required name']],
    [{ kind: 'A/b', name: 'c%d', apiGroup: 'B_' }, ['Invalid apiGroup', 'Invalid kind', 'Invalid name']],
    [{ kind: 'A', name: 'b', scope: 'Global' }, ['NotSupported scope']],
    [{ kind: 'A', name: 'b', scope: 'Namespace' }, ['Required namespace']],
    [{ kind: 'A', name: 'b', scope: 'Namespace', namespace: '' }, ['Invalid namespace']],
    [{ kind: 'A', name: 'b', scope: 'Namespace', namespace: 'n' }, []],
    [{ kind: 'A', name: 'b', namespace: 'n' }, ['Forbidden namespace']],
  ]
  for (const [parameters, faults] of cases) {
    const reportedFaults = createClass({ controller: 'e.com/a', parameters }).faults
    assert.deepEqual(
      reportedFaults,
      faults.map((fault) => fault.replace(' ', ' spec.parameters.')),
      JSON.stringify(parameters),
    )
  }
  const shown = (parameters?: JsonObject) =>
    cellsOf(ingressClass, createClass({ controller: 'e.com/a', parameters: parameters ?? null }).object)[2]
  assert.deepEqual(
    [shown(), shown({ kind: 'A', name: 'b' }), shown({ kind: 'A', name: 'b', apiGroup: 'g.h' })],
    ['<none>', 'A/b', 'A.g.h/b'],
  )
})

function create(spec: JsonObject) {
  return createBy(ingress, ingressOf(spec))
}

function ingressOf(spec: JsonObject): JsonObject {
  return { apiVersion: 'networking.orch.io/v1', kind: 'Ingress', metadata: { name: 'i' }, spec }
}

function createClass(spec: JsonObject) {
  return createBy(ingressClass, classOf(spec))
}

function classOf(spec: JsonObject): JsonObject {
  return { apiVersion: 'networking.orch.io/v1', kind: 'IngressClass', metadata: { name: 'c' }, spec }
}
