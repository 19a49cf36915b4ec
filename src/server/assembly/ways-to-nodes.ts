/** The ways to nodes, as the flags want them: as whom this server comes to agents of nodes, and by what it knows them. */
import { X509Certificate } from 'node:crypto'
import type { Lookup } from '../../api/model/lookup.ts'
import { nodeClientName, superusers } from '../../api/model/user.ts'
import { readSubject } from '../../api/pki/identity.ts'
import { HttpsRelay } from '../../apiserver/outbound/https-relay.ts'
import type { Address } from '../../apiserver/outbound/service-address.ts'
import { AddressPolicy } from '../../apiserver/resources/allowed-address.ts'
import { WaysToNodes } from '../../apiserver/resources/ways-to-nodes.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { Certificates } from '../certificates/certificates.ts'
import { readAuthorities } from '../certificates/client-authorities.ts'
import { followGivenPair, type GivenPair } from '../certificates/given-pair.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'

export interface WayMeans {
  readonly certificates: Certificates
  /** The client certificate for node agents that flags name. */
  readonly nodeClient: GivenPair
  readonly localNodes: LocalNodes
  readonly reloading: Reloading
  /** Where this server listens; undefined before it does. */
  readonly ownAddress: () => Address | undefined
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

/** The client certificate for node agents that flags name. Throws UsageError where the files are of no use. */
export function followNodeClient(options: ServerOptions, reloading: Reloading, log: Log): GivenPair {
  const given = followGivenPair(
    {
      certificate: { flag: 'kubelet-client-certificate', file: options.kubeletClientCertificate },
      key: { flag: 'kubelet-client-key', file: options.kubeletClientKey },
    },
    reloading,
  )
  if (given.pair !== undefined) warnOfSuperuser(given.pair.certificate, log)
  return given
}

/** Servers refuse this certificate as a client of their API, but whatever else trusts its CA gives it all rights. */
function warnOfSuperuser(pem: string, log: Log): void {
  const { organizations } = readSubject(new X509Certificate(pem).raw)
  if (organizations.includes(superusers))
    log.warn(`the certificate of --kubelet-client-certificate is in ${superusers}: issue one with CN=${nodeClientName}`)
}

/** Makes the ways once it is known how nodes are looked up. Throws UsageError for what flags say wrongly. */
export function openWays(options: ServerOptions, means: WayMeans): (lookup: Lookup) => WaysToNodes {
  const { certificates, nodeClient, localNodes, reloading, ownAddress, opened } = means
  const authority = followAuthority(options.kubeletCertificateAuthority, reloading)
  const relay = new HttpsRelay()
  opened.defer(() => relay.close())
  const addresses = new AddressPolicy({
    allowed: options.allowedProxyCidrs,
    advertised: options.advertiseAddress,
    ownAddress,
  })
  const own = async () => ({
    authority: certificates.ownAuthority.certificate,
    credentials: await certificates.nodeClient(),
  })
  return (lookup) =>
    new WaysToNodes({
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

/** What the file holds now; undefined where none is named. */
function followAuthority(file: string, reloading: Reloading): () => string | undefined {
  if (file === '') return () => undefined
  const read = () => readAuthorities(flag, file).join('')
  let authority = read()
  reloading.follow(flag, [file], () => {
    authority = read()
  })
  return () => authority
}
