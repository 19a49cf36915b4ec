/** Tests the selection of credentials by host. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentialsFor, headersOf } from '../../../src/apiserver/outbound/credentials.ts'

const names = ['s.n.svc', 's.n.svc:8443', '*.n.svc', '*.svc:9443', 'h.example.com:9443', '*']
const configured = { byName: new Map(names.map((name) => [name, { token: name }])) }

for (const [host, port, expected] of [
  ['s.n.svc', 443, 's.n.svc'],
  ['s.n.svc', 8443, 's.n.svc:8443'],
  ['t.n.svc', 443, '*.n.svc'],
  ['t.m.svc', 9443, '*.svc:9443'],
  ['h.example.com', 9443, 'h.example.com:9443'],
  ['h.example.com', 443, '*'],
] as const)
  test(`outbound calls to ${host}:${port} use the credentials for ${expected}`, () => {
    assert.equal(credentialsFor(configured, host, port).token, expected)
  })

test('outbound calls send no credentials unless the kubeconfig contains credentials', () => {
  assert.deepEqual(headersOf(credentialsFor({ byName: new Map() }, 'a', 443)), {})
  const byDefault = { username: 'u', password: 'p' }
  assert.deepEqual(headersOf(credentialsFor({ byName: new Map(), byDefault }, 'a', 443)), {
    authorization: 'Basic dTpw',
  })
})
