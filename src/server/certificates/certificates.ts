/**
 * The certificates of the server. Self-signed certificates are renewed, and certificates from files are reloaded when
 * the files change.
 */
import { existsSync } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import type { SecureContextOptions } from 'node:tls'
import { vendorOf } from '../../api/model/vendor.ts'
import { type Authority, type CertifiedKey, needsRenewal, openAuthority } from '../../api/pki/authority.ts'
import { type AlternativeNames, canonicalNames } from '../../api/pki/names.ts'
import { type Renewed, renewWhenDue } from '../../api/pki/renewal.ts'
import { makeDirectory, replaceFile } from '../../base/files/files.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import { adminKubeconfig } from '../../client/node/kubeconfig-write.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'
import { ownAddress } from '../flags/service-pools.ts'
import { renewalPeriod, type WorkerContext } from '../threads/worker-context.ts'
import { followCertificateFiles } from './certificate-files.ts'
import type { ClientAuthorities } from './client-authorities.ts'

/** The certificates that a server uses and issues. */
export interface Certificates {
  readonly tls: SecureContextOptions
  /** The current CA certificates in PEM format, which clients use to verify the server. */
  readonly authority: string
  /** The self-signed CA with its key, which issues certificates. */
  readonly ownAuthority: CertifiedKey
  /**
   * Returns the self-signed client certificate for node agents. The certificate is created on first use and renewed
   * when due.
   */
  nodeClient(): Promise<CertifiedKey>
  /** Writes the administrator's kubeconfig for a server at this address. */
  writeAdminConfig(server: string): Promise<void>
  /**
   * Renews self-signed certificates before they expire, and reloads changed files. `onRenewed` applies the new
   * certificates. Returns a function that stops the renewal. That function returns a promise, and no files are written
   * after the promise has resolved.
   */
  keepFresh(
    server: string,
    watch: { onRenewed: (tls: SecureContextOptions) => void; onError: (error: unknown) => void },
  ): () => Promise<void>
}

export interface CertificateParts {
  readonly clock: Clock
  readonly authorities: ClientAuthorities
  readonly reloading: Reloading
  readonly worker?: WorkerContext | undefined
  readonly log: Log
}

/** Opens the certificates of this server: those in the files specified by flags, or otherwise self-signed ones. */
export async function openCertificates(options: ServerOptions, parts: CertificateParts): Promise<Certificates> {
  const { clock, authorities, reloading, log } = parts
  const authority = await openAuthority({ directory: join(options.dataDir, 'pki'), clock })
  authorities.addOwn(authority.certificate)
  const configuredFiles = followCertificateFiles(servingFiles(options), reloading)
  if (configuredFiles.pair === undefined) noteSelfMade(options, log)
  const names = servingNames(options)
  const serving = configuredFiles.pair ?? (await authority.servingCertificate(names))
  const inUse = { serving, admin: await authority.adminCertificate() }
  const context = (): SecureContextOptions => {
    const { certificate: cert, key } = configuredFiles.pair ?? inUse.serving
    return { cert, key, ca: authorities.pem }
  }
  let nodeClient: CertifiedKey | undefined
  const trusted = () => configuredFiles.pair?.certificate ?? authority.certificate
  const writeAdmin = (server: string) => {
    const config = { cluster: clusterName(options), server, authority: trusted(), ...inUse.admin }
    return writeConfig(options.adminKubeconfig, adminKubeconfig(config))
  }
  return {
    get tls() {
      return context()
    },
    get authority() {
      return trusted()
    },
    ownAuthority: { certificate: authority.certificate, key: authority.key },
    nodeClient: async () => {
      if (nodeClient === undefined || needsRenewal(nodeClient.certificate, clock.now()))
        nodeClient = await authority.nodeClientCertificate()
      return nodeClient
    },
    writeAdminConfig: writeAdmin,
    keepFresh: (server, { onRenewed, onError }) => {
      const rewriteAdmin = serialized(() => writeAdmin(server))
      authorities.onChange(() => onRenewed(context()))
      configuredFiles.onChange(() => {
        onRenewed(context())
        rewriteAdmin.run().catch(onError)
      })
      const useServing = () => onRenewed(context())
      const pairs = renewedPairs(authority, names, { inUse, useServing, useAdmin: rewriteAdmin.run })
      if (configuredFiles.pair !== undefined) pairs.shift()
      const ending = new AbortController()
      const { signal } = ending
      const lookedAt = renewWhenDue({ pairs, onError, signal, everyMilliseconds: renewalPeriod(parts.worker) })
      return async () => {
        ending.abort()
        configuredFiles.onChange(() => {})
        await lookedAt()
        await rewriteAdmin.ended()
      }
    },
  }
}

/** Returns the certificates to renew: the serving certificate, followed by the administrator's certificate. */
function renewedPairs(
  authority: Authority,
  names: AlternativeNames,
  { inUse, useServing, useAdmin }: { inUse: PairsInUse; useServing: () => void; useAdmin: () => Promise<void> },
): Renewed[] {
  const serving = {
    current: inUse.serving,
    read: () => authority.servingCertificate(names),
    use: (pair: CertifiedKey) => {
      inUse.serving = pair
      useServing()
    },
  }
  const admin = {
    current: inUse.admin,
    read: () => authority.adminCertificate(),
    use: async (pair: CertifiedKey) => {
      inUse.admin = pair
      await useAdmin()
    },
  }
  return [serving, admin]
}

interface PairsInUse {
  serving: CertifiedKey
  admin: CertifiedKey
}

/**
 * Returns a function that runs writes one after another. If writes were concurrent, the file could end up with the
 * older text.
 */
function serialized(write: () => Promise<void>) {
  let last = Promise.resolve()
  const run = () => {
    const writing = last.then(write)
    last = writing.catch(() => {})
    return writing
  }
  return { run, ended: () => last }
}

/** Returns the flags that name the serving certificate, with their values. */
export function servingFiles(options: ServerOptions) {
  const { certificate, key } = servingPaths(options)
  return {
    certificate: { flag: 'tls-cert-file', file: certificate },
    key: { flag: 'tls-private-key-file', file: key },
  }
}

/**
 * Returns the paths of the serving certificate and key: the files specified by flags or, without such flags, the files
 * in --cert-dir. The paths are empty if there are no such files.
 */
function servingPaths({ tlsCertFile, tlsPrivateKeyFile, certDir }: ServerOptions) {
  const lying = { certificate: join(certDir, 'apiserver.crt'), key: join(certDir, 'apiserver.key') }
  const isGiven = tlsCertFile !== '' || tlsPrivateKeyFile !== '' || certDir === ''
  if (isGiven || !existsSync(lying.certificate) || !existsSync(lying.key))
    return { certificate: tlsCertFile, key: tlsPrivateKeyFile }
  return lying
}

/**
 * Logs that the certificate is self-signed even though --cert-dir is set, because the administrator expects a
 * certificate in that directory.
 */
function noteSelfMade({ certDir: directory }: ServerOptions, log: Log): void {
  if (directory === '') return
  log.warn('--cert-dir does not contain apiserver.crt and apiserver.key; serving a self-signed certificate', {
    directory,
  })
}

/**
 * Returns the names in the self-signed certificate: this host, the Service of the API servers, and the names specified
 * by flags.
 */
function servingNames(options: ServerOptions): AlternativeNames {
  const { tlsSan, bindAddress, advertiseAddress } = options
  checkNames(tlsSan)
  const host = hostname().toLowerCase()
  const hosts = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) ? [host] : []
  const { apiService } = vendorOf(options.profile)
  const services = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map((rest) => `${apiService}${rest}`)
  const addresses = ['127.0.0.1', '::1', ownAddress(options), advertiseAddress, ...boundAddresses(bindAddress)].filter(
    (address) => address !== '',
  )
  const configuredNames = sorted(tlsSan)
  return {
    dns: unique(['localhost', ...hosts, ...services, ...configuredNames.dns]),
    ips: unique([...configuredNames.ips, ...addresses]),
  }
}

/** Maximum number of addresses in one certificate. */
const maxAddresses = 64

/**
 * Returns the addresses that clients can use to reach the bind address. If the server listens on all addresses, these
 * are all addresses of the machine. Link-local addresses are excluded, because clients can use them only with a zone.
 */
function boundAddresses(bindAddress: string): string[] {
  if (bindAddress !== '0.0.0.0' && bindAddress !== '::') return [bindAddress]
  return Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ family, scopeid }) => family === 'IPv4' || (bindAddress === '::' && scopeid === 0))
    .map(({ address }) => address)
    .sort()
    .slice(0, maxAddresses)
}

/**
 * Validates the names in `--tls-san` before they are combined with other names, so that the error can name the flag.
 */
function checkNames(tlsSan: readonly string[]): void {
  try {
    canonicalNames(sorted(tlsSan))
  } catch (error) {
    throw new UsageError(`--tls-san: ${messageOf(error)}`)
  }
}

function sorted(names: readonly string[]): AlternativeNames {
  return { dns: names.filter((name) => isIP(name) === 0), ips: names.filter((name) => isIP(name) !== 0) }
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)]
}

/**
 * Returns the name of the cluster in the kubeconfig. Each profile has its own name, because servers of both profiles
 * may run on one host.
 */
function clusterName({ profile }: ServerOptions): string {
  return profile === 'orch' ? 'orch' : `orch-${profile}`
}

/** Writes a kubeconfig file. Skips the write if nothing has changed, so that it cannot fail on a full disk. */
async function writeConfig(file: string, text: string): Promise<void> {
  if (file === '' || (await isHeldBy(file, text))) return
  try {
    await makeDirectory(dirname(file))
    await replaceFile(file, text, 0o600)
  } catch (error) {
    throw new UsageError(
      `--admin-kubeconfig: cannot write ${file}: ${messageOf(error)}; specify another file, or set --admin-kubeconfig= to write no file`,
      { cause: error },
    )
  }
}

async function isHeldBy(file: string, text: string): Promise<boolean> {
  const linkStat = await lstat(file).catch(() => undefined)
  if (!linkStat?.isFile() || (linkStat.mode & 0o777) !== 0o600 || linkStat.size !== Buffer.byteLength(text))
    return false
  return (await readFile(file, 'utf8')) === text
}
