/** The certificates that the server shows and trusts: self-made ones, or those that flags name. */
import { X509Certificate } from 'node:crypto'
import { lstat, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import { makeDirectory, replaceFile } from '../base/files.ts'
import { UsageError } from '../base/flags.ts'
import { adminKubeconfig } from '../client/node/kubeconfig-write.ts'
import { vendorOf } from '../model/vendor.ts'
import { type Authority, type CertifiedKey, openAuthority } from '../pki/authority.ts'
import { type AlternativeNames, canonicalNames } from '../pki/names.ts'
import { renewWhenDue } from '../pki/renewal.ts'
import type { ServerOptions } from './options.ts'
import { readFlagFile } from './read-flag-file.ts'
import { ownAddress } from './service-pools.ts'

export interface Certificates {
  readonly tls: SecureContextOptions
  /** Writes the administrator's client config for a server at this address. */
  writeAdminConfig(server: string): Promise<void>
  /** Renews what is self-made before it expires; `onRenewed` takes the new serving certificate into use. */
  keepFresh(
    server: string,
    watch: { onRenewed: (tls: SecureContextOptions) => void; onError: (error: unknown) => void; signal: AbortSignal },
  ): void
}

export async function openCertificates(options: ServerOptions, clock: Clock): Promise<Certificates> {
  const authority = await openAuthority({ directory: join(options.dataDir, 'pki'), clock })
  const given = givenPair(options)
  const names = servingNames(options)
  const serving = given ?? (await authority.servingCertificate(names))
  const admin = await authority.adminCertificate()
  const clientCas = [
    authority.certificate,
    ...(options.clientCaFile === '' ? [] : [readClientCas(options.clientCaFile)]),
  ]
  const contextOf = (pair: CertifiedKey): SecureContextOptions => ({
    cert: pair.certificate,
    key: pair.key,
    ca: clientCas,
  })
  const writeAdmin = (server: string, pair: CertifiedKey) =>
    writeConfig(options.adminKubeconfig, server, given?.certificate ?? authority.certificate, pair)
  return {
    tls: contextOf(serving),
    writeAdminConfig: (server) => writeAdmin(server, admin),
    keepFresh: (server, { onRenewed, onError, signal }) =>
      renewWhenDue({
        authority: given === undefined ? authority : withGivenServing(authority, given),
        names,
        current: { serving, admin },
        onServing: (pair) => onRenewed(contextOf(pair)),
        onAdmin: (pair) => writeAdmin(server, pair),
        onError,
        signal,
      }),
  }
}

function withGivenServing(authority: Authority, given: CertifiedKey): Authority {
  return { ...authority, servingCertificate: async () => given }
}

function givenPair({ tlsCertFile, tlsPrivateKeyFile }: ServerOptions): CertifiedKey | undefined {
  if (tlsCertFile === '' && tlsPrivateKeyFile === '') return undefined
  if (tlsCertFile === '' || tlsPrivateKeyFile === '')
    throw new UsageError('--tls-cert-file and --tls-private-key-file go together')
  const pair = {
    certificate: readFlagFile('tls-cert-file', tlsCertFile),
    key: readFlagFile('tls-private-key-file', tlsPrivateKeyFile),
  }
  checkPair(pair, { tlsCertFile, tlsPrivateKeyFile })
  return pair
}

function checkPair(pair: CertifiedKey, files: { tlsCertFile: string; tlsPrivateKeyFile: string }): void {
  const { tlsCertFile, tlsPrivateKeyFile } = files
  if (!canUse({ cert: pair.certificate }))
    throw new UsageError(`--tls-cert-file: ${tlsCertFile} holds no PEM certificate that can be used`)
  if (!canUse({ key: pair.key }))
    throw new UsageError(`--tls-private-key-file: ${tlsPrivateKeyFile} holds no PEM key that can be used`)
  if (!canUse({ cert: pair.certificate, key: pair.key }))
    throw new UsageError(
      `--tls-private-key-file: the key in ${tlsPrivateKeyFile} is not that of the certificate in ${tlsCertFile}`,
    )
}

function canUse(context: SecureContextOptions): boolean {
  try {
    createSecureContext(context)
    return true
  } catch {
    return false
  }
}

function readClientCas(file: string): string {
  const pem = readFlagFile('client-ca-file', file)
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  if (certificates.length === 0) throw new UsageError(`--client-ca-file: ${file} holds no PEM certificate`)
  for (const [index, certificate] of certificates.entries()) {
    if (!isCertificate(certificate))
      throw new UsageError(`--client-ca-file: certificate ${index + 1} in ${file} is not one`)
  }
  return pem
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

/** Of this host, of the Service that this server is, and what the flags say. */
function servingNames(options: ServerOptions): AlternativeNames {
  const { tlsSan, bindAddress, advertiseAddress } = options
  checkNames(tlsSan)
  const host = hostname().toLowerCase()
  const hosts = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) ? [host] : []
  const { apiService } = vendorOf(options.profile)
  const services = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map((rest) => `${apiService}${rest}`)
  const addresses = ['127.0.0.1', '::1', ownAddress(options), advertiseAddress, bindAddress].filter(
    (address) => address !== '' && address !== '0.0.0.0' && address !== '::',
  )
  const given = sorted(tlsSan)
  return {
    dns: unique(['localhost', ...hosts, ...services, ...given.dns]),
    ips: unique([...given.ips, ...addresses]),
  }
}

/** Reported with the flag, here, where it is still known which name came from which flag. */
function checkNames(tlsSan: readonly string[]): void {
  try {
    canonicalNames(sorted(tlsSan))
  } catch (error) {
    throw new UsageError(`--tls-san: ${(error as Error).message}`)
  }
}

function sorted(names: readonly string[]): AlternativeNames {
  return { dns: names.filter((name) => isIP(name) === 0), ips: names.filter((name) => isIP(name) !== 0) }
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)]
}

/** What is there already is not written again: that takes no room on a full disk. */
async function writeConfig(file: string, server: string, authority: string, pair: CertifiedKey): Promise<void> {
  const text = adminKubeconfig({ server, authority, ...pair })
  if (file === '' || (await isHeldBy(file, text))) return
  try {
    await makeDirectory(dirname(file))
    await replaceFile(file, text, 0o600)
  } catch (error) {
    throw new UsageError(
      `--admin-kubeconfig: cannot write ${file}: ${(error as Error).message}; name a file that can be written, or none with --admin-kubeconfig=`,
      { cause: error },
    )
  }
}

async function isHeldBy(file: string, text: string): Promise<boolean> {
  const held = await lstat(file).catch(() => undefined)
  if (!held?.isFile() || (held.mode & 0o777) !== 0o600 || held.size !== Buffer.byteLength(text)) return false
  return (await readFile(file, 'utf8')) === text
}
