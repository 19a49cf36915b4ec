/**
 * Connects to node agents as configured by flags, using the client certificate of this server and the CAs that verify
 * the agents.
 */
import { X509Certificate } from 'node:crypto'
import type { Lookup } from '../../api/model/lookup.ts'
import { nodeClientName, superusers } from '../../api/model/user.ts'
import { readSubject } from '../../api/pki/identity.ts'
import { HttpsRelay } from '../../apiserver/outbound/https-relay.ts'
import type { Address } from '../../apiserver/outbound/service-address.ts'
import { AddressPolicy } from '../../apiserver/resources/allowed-address.ts'
import { NodeConnector } from '../../apiserver/resources/node-connector.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import { type CertificateFiles, followCertificateFiles } from '../certificates/certificate-files.ts'
import type { Certificates } from '../certificates/certificates.ts'
import { readAuthorities } from '../certificates/client-authorities.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'

export interface NodeConnectionDependencies {
  readonly certificates: Certificates
  /** The files with the certificate and key that the server uses to authenticate to node agents. */
  readonly nodeClient: CertificateFiles
  readonly localNodes: LocalNodes
  readonly reloading: Reloading
  readonly addresses: AddressPolicy
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

/**
 * Reads the client certificate for node agents from the files specified by flags. Throws UsageError if a file is
 * invalid.
 */
export function followNodeClient(options: ServerOptions, reloading: Reloading, log: Log): CertificateFiles {
  const nodeClientFiles = followCertificateFiles(
    {
      certificate: { flag: 'kubelet-client-certificate', file: options.kubeletClientCertificate },
      key: { flag: 'kubelet-client-key', file: options.kubeletClientKey },
    },
    reloading,
  )
  if (nodeClientFiles.pair !== undefined) warnOfSuperuser(nodeClientFiles.pair.certificate, log)
  return nodeClientFiles
}

/**
 * Warns if the certificate belongs to a superuser. API servers reject it as a client certificate, but any other service
 * that trusts the CA would grant all permissions to the holder of the certificate.
 */
function warnOfSuperuser(pem: string, log: Log): void {
  const { organizations } = readSubject(new X509Certificate(pem).raw)
  if (organizations.includes(superusers))
    log.warn(
      `the certificate in --kubelet-client-certificate grants membership in the group ${superusers}: use a certificate with CN=${nodeClientName} instead`,
    )
}

/**
 * Returns the policy for connections to addresses that users specify. `ownAddress` is the server's own listening
 * address, if any.
 */
export function addressPolicy(options: ServerOptions, ownAddress: () => Address | undefined): AddressPolicy {
  return new AddressPolicy({ allowed: options.allowedProxyCidrs, advertised: options.advertiseAddress, ownAddress })
}

/** Returns a function that opens the connections once objects can be looked up. Throws UsageError for invalid flags. */
export function openWays(
  options: ServerOptions,
  dependencies: NodeConnectionDependencies,
): (lookup: Lookup) => NodeConnector {
  const { certificates, nodeClient, localNodes, reloading, addresses, opened } = dependencies
  const authority = followAuthority(options.kubeletCertificateAuthority, reloading)
  const relay = new HttpsRelay()
  opened.defer(() => relay.close())
  const own = async () => ({
    authority: certificates.ownAuthority.certificate,
    credentials: await certificates.nodeClient(),
  })
  return (lookup) =>
    new NodeConnector({
      lookup,
      relay,
      localNodes,
      addresses,
      localTrust: own,
      trust: async () => ({
        authority: authority() ?? certificates.ownAuthority.certificate,
        credentials: nodeClient.pair ?? (await certificates.nodeClient()),
      }),
      requiresNodeSubject: options.kubeletRequireNodeSubject,
      addressTypes: options.kubeletPreferredAddressTypes,
      timeoutMs: options.kubeletTimeout,
    })
}

const flag = 'kubelet-certificate-authority'

/**
 * Returns a function that returns the CA certificates in the file, or undefined if no file is configured. The
 * certificates are reloaded when the file changes.
 */
function followAuthority(file: string, reloading: Reloading): () => string | undefined {
  if (file === '') return () => undefined
  const read = () => readAuthorities(flag, file).join('')
  let authority = read()
  reloading.follow(flag, [file], () => {
    authority = read()
  })
  return () => authority
}
