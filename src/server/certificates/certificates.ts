/** The certificates that the server shows: self-made ones, which are renewed, or those in files, which are followed. */
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
import { renewalPeriod, type WorkerPlace } from '../threads/worker-place.ts'
import type { ClientAuthorities } from './client-authorities.ts'
import { followGivenPair } from './given-pair.ts'

/** The serving certificate, the CA of this server and the certificates that the CA issues. */
export interface Certificates {
  readonly tls: SecureContextOptions
  /** By what clients verify the server, as it is now: certificates in PEM form. */
  readonly authority: string
  /** The self-made CA, with its key. */
  readonly ownAuthority: CertifiedKey
  /** The self-made client certificate for agents of nodes; made when it is first needed, and renewed when that is due. */
  nodeClient(): Promise<CertifiedKey>
  /** Writes the administrator's client config for a server at this address. */
  writeAdminConfig(server: string): Promise<void>
  /**
   * Renews what is self-made before it expires, and follows files; `onRenewed` takes what is new into use. Gives what
   * ends it, after which no file is written.
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
  readonly worker?: WorkerPlace | undefined
  readonly log: Log
}

/** Reads or creates the certificates of this server, and renews the self-signed ones before they expire. */
export async function openCertificates(options: ServerOptions, parts: CertificateParts): Promise<Certificates> {
  const { clock, authorities, reloading, log } = parts
  const authority = await openAuthority({ directory: join(options.dataDir, 'pki'), clock })
  authorities.addOwn(authority.certificate)
  const given = followGivenPair(servingFiles(options), reloading)
  if (given.pair === undefined) noteSelfMade(options, log)
  const names = servingNames(options)
  const serving = given.pair ?? (await authority.servingCertificate(names))
  const inUse = { serving, admin: await authority.adminCertificate() }
  const context = (): SecureContextOptions => {
    const { certificate: cert, key } = given.pair ?? inUse.serving
    return { cert, key, ca: authorities.pem }
  }
  let nodeClient: CertifiedKey | undefined
  const trusted = () => given.pair?.certificate ?? authority.certificate
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
      const rewriteAdmin = inOrder(() => writeAdmin(server))
      authorities.onChange(() => onRenewed(context()))
      given.onChange(() => {
        onRenewed(context())
        rewriteAdmin.run().catch(onError)
      })
      const useServing = () => onRenewed(context())
      const pairs = renewedPairs(authority, names, { inUse, useServing, useAdmin: rewriteAdmin.run })
      if (given.pair !== undefined) pairs.shift()
      const ending = new AbortController()
      const { signal } = ending
      const lookedAt = renewWhenDue({ pairs, onError, signal, everyMilliseconds: renewalPeriod(parts.worker) })
      return async () => {
        ending.abort()
        given.onChange(() => {})
        await lookedAt()
        await rewriteAdmin.ended()
      }
    },
  }
}

/** What is renewed: the pair to serve with, then the administrator's. */
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

/** Lets writes run one after another: of two at a time, the older text could be the one that stays. */
function inOrder(write: () => Promise<void>) {
  let last = Promise.resolve()
  const run = () => {
    const writing = last.then(write)
    last = writing.catch(() => {})
    return writing
  }
  return { run, ended: () => last }
}

/** The pair to serve with that the flags name, or else the one that lies in --cert-dir; '' for none. */
/** Where the flags say that the pair to serve with lies. */
export function servingFiles(options: ServerOptions) {
  const { certificate, key } = servingPaths(options)
  return {
    certificate: { flag: 'tls-cert-file', file: certificate },
    key: { flag: 'tls-private-key-file', file: key },
  }
}

function servingPaths({ tlsCertFile, tlsPrivateKeyFile, certDir }: ServerOptions) {
  const lying = { certificate: join(certDir, 'apiserver.crt'), key: join(certDir, 'apiserver.key') }
  const isGiven = tlsCertFile !== '' || tlsPrivateKeyFile !== '' || certDir === ''
  if (isGiven || !existsSync(lying.certificate) || !existsSync(lying.key))
    return { certificate: tlsCertFile, key: tlsPrivateKeyFile }
  return lying
}

/** Whoever names a directory means to find a pair there. */
function noteSelfMade({ certDir: directory }: ServerOptions, log: Log): void {
  if (directory === '') return
  log.warn('no apiserver.crt and apiserver.key in --cert-dir; serving with a self-made certificate', { directory })
}

/** Of this host, of the Service that this server is, and what the flags say. */
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
  const given = sorted(tlsSan)
  return {
    dns: unique(['localhost', ...hosts, ...services, ...given.dns]),
    ips: unique([...given.ips, ...addresses]),
  }
}

/** As many as one certificate should carry. */
const maxAddresses = 64

/**
 * The addresses under which clients reach what listens there: all that this machine has, where it listens on all. Those
 * that are good within one network link only need more than an address to be reached.
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

/** Reported with the flag, here, where it is still known which name came from which flag. */
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

/** Servers of both profiles may run beside each other. */
function clusterName({ profile }: ServerOptions): string {
  return profile === 'orch' ? 'orch' : `orch-${profile}`
}

/** What is there already is not written again: that takes no room on a full disk. */
async function writeConfig(file: string, text: string): Promise<void> {
  if (file === '' || (await isHeldBy(file, text))) return
  try {
    await makeDirectory(dirname(file))
    await replaceFile(file, text, 0o600)
  } catch (error) {
    throw new UsageError(
      `--admin-kubeconfig: cannot write ${file}: ${messageOf(error)}; name a file that can be written, or none with --admin-kubeconfig=`,
      { cause: error },
    )
  }
}

async function isHeldBy(file: string, text: string): Promise<boolean> {
  const held = await lstat(file).catch(() => undefined)
  if (!held?.isFile() || (held.mode & 0o777) !== 0o600 || held.size !== Buffer.byteLength(text)) return false
  return (await readFile(file, 'utf8')) === text
}
