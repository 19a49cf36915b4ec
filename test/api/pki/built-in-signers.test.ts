/** Tests the rules of the built-in signers, one by one. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { keyUsages } from '../../../src/api/kinds/certificates/key-usages.ts'
import { type SignerId, signerFaults } from '../../../src/api/pki/built-in-signers.ts'
import { readCertificateRequest } from '../../../src/api/pki/certificate-request.ts'
import { generateKey, keyToPem } from '../../../src/api/pki/keys.ts'
import { signerRelevantPart } from '../../../src/api/pki/requested-names.ts'
import { openssl, temporaryDirectory } from './openssl.ts'

const key = generateKey()
const client = ['client auth', 'digital signature', 'key encipherment']
const serving = ['server auth', 'digital signature', 'key encipherment']
const node = '/O=system:nodes/CN=system:node:n1'

type Row = readonly [signer: SignerId, subject: string, names: string, usages: readonly string[], faults: RegExp[]]

const rows: readonly Row[] = [
  ['client', '/O=any/CN=any', '', client, []],
  ['client', '/CN=any', 'DNS:a.example,IP:10.0.0.1,email:a@b.c,URI:https://x/', ['client auth'], []],
  ['client', '/CN=any', '', ['digital signature'], [/"client auth" is missing/]],
  ['client', '/CN=any', '', ['client auth', 'server auth'], [/not allowed: "server auth"/]],
  ['client', '/CN=a/CN=b', '', client, [/several common names/]],
  ['nodeClient', node, '', client, []],
  ['nodeClient', node, '', [...client].reverse(), []],
  ['nodeClient', '/O=other/CN=system:node:n1', '', client, [/organization must be exactly "system:nodes"/]],
  ['nodeClient', '/O=system:nodes/O=system:masters/CN=system:node:n1', '', client, [/organization/]],
  ['nodeClient', '/CN=system:node:n1', '', client, [/organization/]],
  ['nodeClient', '/O=system:nodes/CN=n1', '', client, [/must begin with "system:node:"/]],
  ['nodeClient', '/O=system:nodes', '', client, [/must begin with "system:node:"/]],
  ['nodeClient', `${node}/CN=system:node:n2`, '', client, [/several common names/]],
  ['nodeClient', node, '', ['client auth'], [/usages must be exactly/]],
  ['nodeClient', node, '', [...client, 'server auth'], [/usages must be exactly/]],
  ['nodeClient', node, 'DNS:a.example', client, [/DNS names are not allowed/]],
  ['nodeClient', node, 'IP:10.0.0.1', client, [/IP addresses are not allowed/]],
  ['nodeClient', node, 'email:a@b.c', client, [/email addresses are not allowed/]],
  ['nodeClient', node, 'URI:https://x/', client, [/URIs are not allowed/]],
  ['nodeClient', node, 'RID:1.2.3', client, [/other names are not allowed/]],
  ['nodeClient', '/CN=n1', 'DNS:a.example', serving, [/organization/, /common name/, /usages/, /DNS names/]],
  ['nodeServing', node, 'IP:10.0.0.1', serving, []],
  ['nodeServing', node, 'DNS:a.example', serving, []],
  ['nodeServing', node, '', serving, [/a DNS name or an IP address is required/]],
  ['nodeServing', node, 'email:a@b.c,DNS:a.example', serving, [/email addresses are not allowed/]],
  ['nodeServing', node, 'URI:https://x/', serving, [/URIs are not allowed/, /a DNS name or an IP address is required/]],
  ['nodeServing', node, 'IP:10.0.0.1', [...serving, 'client auth'], [/usages must be exactly/]],
  ['nodeServing', node, 'IP:10.0.0.1', ['server auth'], [/usages must be exactly/]],
  ['nodeServing', '/O=other/CN=n1', 'IP:10.0.0.1', serving, [/organization/, /common name/]],
  ['legacyUnknown', '/O=any/CN=any', 'DNS:a.example,URI:https://x/', keyUsages, []],
]

test('each built-in signer reports every rule that a CertificateSigningRequest violates', (t) => {
  const file = join(temporaryDirectory(t), 'key')
  writeFileSync(file, keyToPem(key))
  for (const [signer, subject, names, usages, faults] of rows) {
    const extension = names === '' ? [] : ['-addext', `subjectAltName=${names}`]
    const pem = openssl(['req', '-new', '-config', '/dev/null', '-key', file, '-subj', subject, ...extension])
    const told = signerFaults(signer, signerRelevantPart(readCertificateRequest(Buffer.from(pem))), usages)
    const what = `${signer} ${subject} ${names} ${usages.join()}`
    assert.equal(told.length, faults.length, `${what}: ${told.join('; ')}`)
    for (const [i, fault] of faults.entries()) assert.match(told[i]!, fault, what)
  }
})
