/** The ways to nodes, as the flags want them: as whom this server comes to agents of nodes, and by what it knows them. */
import type { Lookup } from '../model/lookup.ts'
import type { LocalNodes } from '../node-port/local-nodes.ts'
import { HttpsRelay } from '../outbound/https-relay.ts'
import type { Address } from '../outbound/service-address.ts'
import { WaysToNodes } from '../resources/ways-to-nodes.ts'
import type { Certificates } from './certificates.ts'
import { readAuthorities } from './client-authorities.ts'
import type { ServerOptions } from './flags/options.ts'
import { followGivenPair } from './given-pair.ts'
import type { Reloading } from './reloading.ts'

export interface WayMeans {
  readonly certificates: Certificates
  readonly localNodes: LocalNodes
  readonly reloading: Reloading
  /** Where this server listens; undefined before it does. */
  readonly ownAddress: () => Address | undefined
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

/** Makes the ways once it is known how nodes are looked up. Throws UsageError for what flags say wrongly. */
export function openWays(options: ServerOptions, means: WayMeans): (lookup: Lookup) => WaysToNodes {
  const { certificates, localNodes, reloading, ownAddress, opened } = means
  const given = followGivenPair(
    {
      certificate: { flag: 'kubelet-client-certificate', file: options.kubeletClientCertificate },
      key: { flag: 'kubelet-client-key', file: options.kubeletClientKey },
    },
    reloading,
  )
  const authority = followAuthority(options.kubeletCertificateAuthority, reloading)
  const relay = new HttpsRelay()
  opened.defer(() => relay.close())
  return (lookup) =>
    new WaysToNodes({
      ...{ lookup, relay, localNodes, ownAddress },
      identity: async () => given.pair ?? (await certificates.nodeClient()),
      authority: () => authority() ?? certificates.ownAuthority.certificate,
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
