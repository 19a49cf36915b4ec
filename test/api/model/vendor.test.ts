/** Tests names with the vendor's domain, in both profiles. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVendorKey, vendorKey, vendorOf } from '../../../src/api/model/vendor.ts'

const orch = vendorOf('orch')
const kubernetes = vendorOf('kubernetes')

test('all well-known keys have the domain of the vendor or a subdomain as their prefix', () => {
  assert.equal(vendorKey(orch, 'pv-protection'), 'orch.io/pv-protection')
  assert.equal(vendorKey(kubernetes, 'mount-options', 'volume.beta'), 'volume.beta.kubernetes.io/mount-options')
})

test("the vendor's domains and subdomains are reserved, but similar domains are not", () => {
  const reserved = ['kubernetes.io/x', 'a.b.kubernetes.io/x', 'K8S.io/x', 'k8s.io', 'sub.k8s.io/a/b']
  const free = ['x', 'orch.io/x', 'kubernetes.io.example/x', 'notkubernetes.io/x', 'example.org/k8s.io', '']
  for (const key of reserved) assert.ok(isVendorKey(kubernetes, key), key)
  for (const key of free) assert.ok(!isVendorKey(kubernetes, key), key)
  assert.ok(isVendorKey(orch, 'node.orch.io/x'))
})
