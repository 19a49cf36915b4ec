/**
 * Tests CertificateSubjectRestriction, which rejects every request for a client certificate that names the superuser
 * group.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { oid, rdn, requestPem, utf8 } from '../../api/pki/encode.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

const superusers = 'system:masters'
const organizations = (...names: readonly string[]) =>
  encoded([...names.map((name) => rdn(utf8(oid.o, name))), rdn(utf8(oid.cn, 'jane'))])
const cases: readonly (readonly [what: string, request: string, refused: boolean])[] = [
  ['the superusers', organizations(superusers), true],
  ['the superuser group next to other groups', organizations('dev', superusers), true],
  ['two organizations in one RDN', encoded([rdn(utf8(oid.o, 'dev'), utf8(oid.o, superusers))]), true],
  ['others', organizations('dev'), false],
  ['a user with the name of the group', encoded([rdn(utf8(oid.cn, superusers)), rdn(utf8(oid.ou, superusers))]), false],
]

function encoded(subject: Buffer[]): string {
  return Buffer.from(requestPem({ subject })).toString('base64')
}

const own = (await serve({ after })).client()

for (const [profile, domain, signer] of [
  ['orch', 'orch.io', 'orch.io/apiserver-client'],
  ['kubernetes', 'k8s.io', 'kubernetes.io/kube-apiserver-client'],
] as const) {
  test(`under the profile ${profile}, a CertificateSigningRequest for the superuser group is rejected`, async (t) => {
    const client = profile === 'orch' ? own : (await serve(t, [`--profile=${profile}`])).client()
    const group = `certificates.${domain}`
    const path = `/apis/${group}/v1/certificatesigningrequests`
    for (const [i, [what, request, refused]] of cases.entries()) {
      const object = { metadata: { name: `c${i}` }, spec: { request, signerName: signer, usages: ['client auth'] } }
      for (const answer of [
        await client.post(`${path}?dryRun=All`, object),
        await apply(client, `${path}/c${i}?dryRun=All`, { ...object, apiVersion: `${group}/v1` }),
        await client.post(path, object),
      ]) {
        assert.equal(answer.status, refused ? 403 : 201, `${what}: ${answer.text}`)
        if (!refused) continue
        const { reason, details } = answer.body
        assert.deepEqual([reason, details], ['Forbidden', { name: `c${i}`, group, kind: 'certificatesigningrequests' }])
      }
      assert.equal((await client.get(`${path}/c${i}`)).status, refused ? 404 : 200, what)
    }
  })
}

test('CertificateSubjectRestriction ignores requests for other signers, and validation errors take precedence', async () => {
  const path = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  const request = organizations(superusers)
  const codeOf = async (spec: object) => (await own.post(path, { metadata: { generateName: 'c-' }, spec })).status
  const usages = ['client auth']
  assert.equal(await codeOf({ request, usages, signerName: 'example.com/signer' }), 201)
  assert.equal(await codeOf({ request, usages, signerName: 'orch.io/apiserver-client-nodeagent' }), 201)
  assert.equal(await codeOf({ request, usages: ['x'], signerName: 'orch.io/apiserver-client' }), 422)
  assert.equal(await codeOf({ request: 'eA==', usages, signerName: 'orch.io/apiserver-client' }), 422)
})

function apply(client: HttpClient, path: string, object: object) {
  const raw = JSON.stringify({ kind: 'CertificateSigningRequest', ...object })
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  return client.send(`${path}&fieldManager=m`, { method: 'PATCH', raw, headers })
}
