/** Tests that approving or signing a certificate request requires permission for its signer. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { requestPem } from '../../api/pki/encode.ts'
import { makeAuthority } from '../../api/pki/issue.ts'
import { serve } from '../../support/in-process.ts'

// ClusterTrustBundles require this Kubernetes version.
const server = await serve({ after }, ['--emulated-version=1.36', '--runtime-config=certificates.orch.io/v1beta1'])
const admin = server.client()
const bob = server.client('bob-token')
const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'
const rbac = '/apis/rbac.authorization.orch.io/v1'
const group = 'certificates.orch.io'

async function give(name: string, rules: readonly object[]): Promise<void> {
  await admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules })
  const roleRef = { kind: 'ClusterRole', name }
  await admin.post(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef,
    subjects: [{ kind: 'User', name: 'bob' }],
  })
}

const signers = (verb: string, name: string, apiGroup = group) => ({
  verbs: [verb],
  apiGroups: [apiGroup],
  resources: ['signers'],
  resourceNames: [name],
})

let createdCount = 0

/** Returns the status codes of bob's attempts to approve and to sign a request for this signer. */
async function tryBoth(signerName: string): Promise<number[]> {
  const name = `r${createdCount++}`
  const spec = { request: Buffer.from(requestPem()).toString('base64'), signerName, usages: ['client auth'] }
  assert.equal((await admin.post(requests, { metadata: { name }, spec })).status, 201)
  const condition = (type: string) => ({ type, status: 'True', reason: 'r', message: 'm' })
  const write = async (subresource: string, type: string) => {
    const found = (await admin.get(`${requests}/${name}`)).body
    const conditions = [...(found.status.conditions ?? []), condition(type)]
    return (await bob.put(`${requests}/${name}/${subresource}`, { ...found, status: { conditions } })).status
  }
  return [await write('approval', 'Approved'), await write('status', 'Failed')]
}

test('RBAC rules grant permission for a certificate signer by name or domain, separately for approving and signing', async () => {
  const resources = ['certificatesigningrequests/approval', 'certificatesigningrequests/status']
  await give('writer', [{ verbs: ['update'], apiGroups: [group], resources }])
  assert.deepEqual(await tryBoth('example.com/one'), [403, 403])
  await give('elsewhere', [signers('approve', 'example.com/one', ''), signers('sign', 'example.com/one', 'apps')])
  assert.deepEqual(await tryBoth('example.com/one'), [403, 403])
  await give('approver', [signers('approve', 'example.com/one')])
  assert.deepEqual(await tryBoth('example.com/one'), [200, 403])
  assert.deepEqual(await tryBoth('example.com/two'), [403, 403])
  await give('domain', [signers('sign', 'example.com/*')])
  assert.deepEqual(await tryBoth('example.com/two'), [403, 200])
  assert.deepEqual(await tryBoth('example.com/one'), [200, 200])
  assert.deepEqual(await tryBoth('other.com/one'), [403, 403])
})

test('writing a ClusterTrustBundle for a signer requires permission to attest for that signer', async () => {
  const bundles = '/apis/certificates.orch.io/v1beta1/clustertrustbundles'
  const { certificate: trustBundle } = await makeAuthority()
  await give('bundler', [{ verbs: ['create', 'update'], apiGroups: [group], resources: ['clustertrustbundles'] }])
  const make = async (name: string, signerName?: string) =>
    (await bob.post(bundles, { metadata: { name }, spec: { trustBundle, signerName } })).status
  assert.deepEqual([await make('own'), await make('example.com:three:a', 'example.com/three')], [201, 403])
  await give('attester', [signers('attest', 'example.com/three')])
  assert.equal(await make('example.com:three:a', 'example.com/three'), 201)
})
