/**
 * The identity that this server presents to aggregated API servers: a client certificate, and the CAs, header names and
 * common names that backends need to verify it. If no flag specifies a certificate, the server uses a self-signed
 * certificate in `pki/front-proxy` in the data directory. All servers on one store share its CA, and the certificate is
 * renewed before it expires.
 */
import { join } from 'node:path'
import { type CertifiedKey, openAuthority, proxyName } from '../../api/pki/authority.ts'
import { renewWhenDue } from '../../api/pki/renewal.ts'
import type { ProxyTrust } from '../../apiserver/upkeep/authentication-config-map.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../storage/store/store.ts'
import { followCertificateFiles } from '../certificates/certificate-files.ts'
import type { ClientAuthorities } from '../certificates/client-authorities.ts'
import { shareProxyAuthority } from '../certificates/shared-keys.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions, ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'
import { renewalPeriod, type WorkerContext } from '../threads/worker-context.ts'

/** How this server authenticates itself to aggregated API servers. */
export interface FrontProxy {
  /** The client certificate and key currently in use. */
  readonly pair: CertifiedKey
  /**
   * The settings that backends use to verify the certificate. Undefined if the flags name a certificate but not the CA
   * that issued it.
   */
  readonly trust: ProxyTrust | undefined
  /**
   * Lower-case names of all headers that may carry an identity from another proxy. They are removed from proxied
   * requests.
   */
  readonly otherHeaders: readonly string[]
  /** Whether requests to backends include the user's UID. */
  readonly sendsUid: boolean
}

export interface FrontProxyParts {
  readonly clock: Clock
  readonly store: Store
  readonly log: Log
  readonly authorities: ClientAuthorities
  readonly reloading: Reloading
  readonly worker?: WorkerContext | undefined
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

/**
 * Opens the client certificate for aggregated API servers: one from the files specified by flags, or a self-signed one.
 */
export async function openFrontProxy(options: EmulatedOptions, parts: FrontProxyParts): Promise<FrontProxy> {
  const clientCertificate = followCertificateFiles(
    {
      certificate: { flag: 'proxy-client-cert-file', file: options.proxyClientCertFile },
      key: { flag: 'proxy-client-key-file', file: options.proxyClientKeyFile },
    },
    parts.reloading,
  )
  const own = clientCertificate.pair === undefined ? await openOwn(options, parts) : undefined
  return {
    get pair() {
      return clientCertificate.pair ?? own!.pair
    },
    get trust() {
      return trustOf(options, parts.authorities, own?.authority)
    },
    otherHeaders: [
      ...options.requestheaderUsernameHeaders,
      ...options.requestheaderUidHeaders,
      ...options.requestheaderGroupHeaders,
      ...options.requestheaderExtraHeadersPrefix,
    ],
    sendsUid: sendsUid(options),
  }
}

interface OwnProxy {
  pair: CertifiedKey
  readonly authority: string
}

async function openOwn(
  options: ServerOptions,
  { clock, store, log, worker, opened }: FrontProxyParts,
): Promise<OwnProxy> {
  const place = { directory: join(options.dataDir, 'pki/front-proxy'), commonName: 'orch-front-proxy-ca', clock }
  await shareProxyAuthority(options, store, place)
  const authority = await openAuthority(place)
  const own: OwnProxy = { pair: await authority.proxyCertificate(), authority: authority.certificate }
  const renewal = new AbortController()
  opened.defer(() => renewal.abort())
  const read = () => authority.proxyCertificate()
  const use = (pair: CertifiedKey) => {
    own.pair = pair
  }
  renewWhenDue({
    pairs: [{ current: own.pair, read, use }],
    onError: (error) => log.error('cannot renew the front-proxy certificate', errorFields(error)),
    signal: renewal.signal,
    everyMilliseconds: renewalPeriod(worker),
  })
  return own
}

function sendsUid(options: EmulatedOptions): boolean {
  return emulationFrom(options).gates.has('RemoteRequestHeaderUID')
}

/**
 * Returns the CAs in the flags and the CA of the self-signed certificate. An empty list of names allows every
 * certificate from these CAs.
 */
function trustOf(
  options: EmulatedOptions,
  { proxies }: ClientAuthorities,
  ownAuthority: string | undefined,
): ProxyTrust | undefined {
  if (proxies.length === 0 && ownAuthority === undefined) return undefined
  const proxyAuthorities = proxies.map((certificate) => certificate.toString())
  const names = options.requestheaderAllowedNames
  const isAnyAllowed = names.length === 0 && proxies.length > 0
  return {
    authorities: ownAuthority === undefined ? proxyAuthorities : [ownAuthority, ...proxyAuthorities],
    usernameHeaders: ['X-Remote-User', ...options.requestheaderUsernameHeaders],
    uidHeaders: sendsUid(options) ? ['X-Remote-Uid', ...options.requestheaderUidHeaders] : [],
    groupHeaders: ['X-Remote-Group', ...options.requestheaderGroupHeaders],
    extraPrefixes: ['X-Remote-Extra-', ...options.requestheaderExtraHeadersPrefix],
    allowedNames: isAnyAllowed ? [] : [...names, ...(ownAuthority === undefined ? [] : [proxyName])],
  }
}
