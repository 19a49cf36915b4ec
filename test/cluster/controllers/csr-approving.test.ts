/**
 * Tests that requests from node agents are approved if the requester has permission, and that no other requests are
 * approved.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { generateKey } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { Client } from '../../../src/client/requests/client.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import type { CertificateSigningRequest } from '../../../src/cluster/controllers/certificate-requests.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { eventOf } from '../../support/resource-types.ts'

const vendor = vendorOf('orch')
const requests = inDomainOf(vendor, kinds.CertificateSigningRequest)
const key = generateKey()
const bindings = {
  group: 'rbac.authorization.orch.io',
  version: 'v1',
  plural: 'clusterrolebindings',
  namespaced: false,
}
const usages = ['client auth', 'digital signature', 'key encipherment']

interface Wanted {
  readonly name: string
  readonly node?: string
  readonly signerName?: string
  readonly usages?: string[]
  readonly organization?: string
}

function requestOf({ name, node = 'n1', organization = 'system:nodes', ...rest }: Wanted) {
  const pem = makeRequest({ commonName: `system:node:${node}`, organizations: [organization] }, key)
  const spec = {
    request: Buffer.from(pem).toString('base64'),
    signerName: rest.signerName ?? vendor.signers.nodeClient,
    usages: rest.usages ?? usages,
  }
  const type = { apiVersion: 'certificates.orch.io/v1', kind: 'CertificateSigningRequest' }
  return { ...type, metadata: { name }, spec } as CertificateSigningRequest
}

test('the manager approves node client certificates', async (t) => {
  const { client, start, as } = await openLoopServer(t)
  const bind = (name: string, role: string, subject: { kind: string; name: string }) =>
    client.create(bindings, {
      apiVersion: 'rbac.authorization.orch.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.orch.io', ...subject }],
    })
  const prefix = 'system:certificates.orch.io:certificatesigningrequests'
  await bind('may-ask', 'system:node-bootstrapper', { kind: 'Group', name: 'system:authenticated' })
  await bind('may-join', `${prefix}:nodeclient`, { kind: 'Group', name: 'joiners' })
  await bind('may-renew', `${prefix}:selfnodeclient`, { kind: 'Group', name: 'system:nodes' })
  const joiner = as('system:bootstrap:aaaaaa', ['joiners'])
  const stranger = as('stranger')
  const node = as('system:node:n1', ['system:nodes'])
  const approved = async (name: string) => {
    const fits = (each: CertificateSigningRequest) => (each.status?.conditions ?? []).length > 0
    const event = await eventOf(client, requests, {
      name: { name },
      fits: (e) => e.type !== 'BOOKMARK' && fits(e.object),
    })
    assert.ok(event.type !== 'BOOKMARK')
    const [condition] = event.object.status?.conditions ?? []
    assert.deepEqual([condition?.type, condition?.reason], ['Approved', 'AutoApproved'])
    return condition?.message ?? ''
  }

  const verdictOn = async (name: string) => {
    const decided = await eventOf(client, requests, {
      name: { name },
      fits: (e) => e.type !== 'BOOKMARK' && (e.object.status?.conditions ?? []).length > 0,
    })
    assert.ok(decided.type !== 'BOOKMARK')
    const [condition] = decided.object.status?.conditions ?? []
    return [condition?.type, condition?.reason].join(' ')
  }

  const manager = start(['csrapproving'])

  await t.test(
    'a CertificateSigningRequest is approved if its user has permission for any node or for its own node',
    async () => {
      await joiner.create(requests, requestOf({ name: 'joins' }))
      assert.match(await approved('joins'), /for node agents/)
      await node.create(requests, requestOf({ name: 'renews' }))
      assert.match(await approved('renews'), /its own/)
    },
  )

  await t.test(
    'a CertificateSigningRequest from a user without permission stays pending and does not block later requests',
    async () => {
      const pending: [string, () => Promise<unknown>][] = [
        ['by a stranger', () => stranger.create(requests, requestOf({ name: 'by-stranger' }))],
        [
          'a node that requests a certificate for another node',
          () => node.create(requests, requestOf({ name: 'other-node', node: 'n2' })),
        ],
        ['other usages', () => joiner.create(requests, requestOf({ name: 'usages', usages: ['client auth'] }))],
        ['other group', () => joiner.create(requests, requestOf({ name: 'group', organization: 'dev' }))],
        [
          'the client signer',
          () => joiner.create(requests, requestOf({ name: 'client', signerName: vendor.signers.client })),
        ],
        [
          'the serving signer',
          () => joiner.create(requests, requestOf({ name: 'serving', signerName: vendor.signers.nodeServing })),
        ],
      ]
      for (const [, make] of pending) await make()
      await joiner.create(requests, requestOf({ name: 'after-them' }))
      await approved('after-them')
      for (const name of ['by-stranger', 'other-node', 'usages', 'group', 'client', 'serving'])
        assert.deepEqual((await client.get(requests, { name })).status ?? {}, {}, name)
    },
  )

  await t.test(
    'a certificate for an existing node is denied to all users except the node agent of that node',
    async () => {
      const nodes = { group: '', version: 'v1', plural: 'nodes', namespaced: false }
      const leases = { group: 'coordination.orch.io', version: 'v1', plural: 'leases', namespaced: true }
      const verdict = async (name: string, who: Client) => {
        const wanted = requestOf({ name, node: name.slice(0, 2) })
        await who.create(requests, wanted)
        return await verdictOn(name)
      }
      const add = async (name: string, ready: string | undefined, renewTime?: string) => {
        const made = await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
        const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }]
        await client.update(nodes, { ...made, status: { conditions } } as ApiObject, { subresource: 'status' })
        if (renewTime === undefined) return
        const metadata = { namespace: 'kube-node-lease', name }
        const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime }
        await client.create(leases, {
          apiVersion: 'coordination.orch.io/v1',
          kind: 'Lease',
          metadata,
          spec,
        } as ApiObject)
      }
      const now = new Date().toISOString()
      const longAgo = '2020-01-01T00:00:00.000000Z'
      for (const [name, ready, renewTime, outcome] of [
        ['a1', 'True', undefined, 'Denied NodeIsAlive'],
        ['a2', 'False', longAgo, 'Denied NodeIsAlive'],
        ['a3', 'Unknown', now.replace('Z', '000Z'), 'Denied NodeIsAlive'],
        ['a4', undefined, now.replace('Z', '000Z'), 'Denied NodeIsAlive'],
        ['b1', 'Unknown', longAgo, 'Approved AutoApproved'],
        ['b2', undefined, undefined, 'Approved AutoApproved'],
      ] as const) {
        await add(name, ready, renewTime)
        assert.equal(await verdict(`${name}-joins`, joiner), outcome, name)
      }
      assert.equal(await verdict('a1-renews', as('system:node:a1', ['system:nodes'])), 'Approved AutoApproved')
    },
  )

  await t.test('the bootstrap token of one node gets no certificate for another node', async () => {
    const bound = as('system:bootstrap:bbbbbb', ['joiners'], new Map([['bootstrap.orch.io/node-name', ['c1']]]))
    await bound.create(requests, requestOf({ name: 'own-name', node: 'c1' }))
    assert.match(await approved('own-name'), /for node agents/)
    await bound.create(requests, requestOf({ name: 'other-name', node: 'c2' }))
    assert.deepEqual(await verdictOn('other-name'), 'Denied TokenIsForAnotherNode')
  })

  await t.test('a pending CertificateSigningRequest is approved after permission is granted', async () => {
    await bind('late', `${prefix}:nodeclient`, { kind: 'User', name: 'stranger' })
    await approved('by-stranger')
  })
  await manager.stop()
})
