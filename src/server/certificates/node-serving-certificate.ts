/**
 * Issues serving certificates for the simulated nodes of this process. They are the same as the certificates that the
 * signer would issue for a node's request.
 */
import { createPrivateKey } from 'node:crypto'
import { nodesGroup, nodeUserPrefix } from '../../api/model/user.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import { issueCertificate } from '../../api/pki/certificate.ts'
import { generateKey, keyToPem, publicKeyOf } from '../../api/pki/keys.ts'
import type { ServingCertificate } from '../../cluster/node-port/serving-contexts.ts'

/** Loopback address for the shared port of simulated nodes. */
export const localNodeHost = '127.0.0.1'

const hour = 60 * 60 * 1000
const lifeMs = 365 * 24 * hour

/** Issues a serving certificate for a node. It must be replaced after half of its lifetime. */
export function servingCertificate({ certificate, key }: CertifiedKey, node: string, now: number): ServingCertificate {
  const own = generateKey()
  const serving = issueCertificate({
    subject: { commonName: `${nodeUserPrefix}${node}`, organizations: [nodesGroup] },
    publicKey: publicKeyOf(own),
    names: { dns: [node], ips: [localNodeHost] },
    issuer: { certificate, key: createPrivateKey(key) },
    usages: ['digital signature', 'server auth'],
    notBefore: now - hour,
    notAfter: now + lifeMs,
  })
  return { certificate: serving, key: keyToPem(own), until: now + lifeMs / 2 }
}
