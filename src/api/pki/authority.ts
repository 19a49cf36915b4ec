/**
 * The certificate authority that a server creates in its data directory. Its certificate and key pairs are `ca`,
 * `serving`, `admin`, `proxy` and `node-client`, each with a `.crt` and a `.key` file. Each pair is created on first
 * use and read later. A certificate that the CA signed is renewed when renewal is due, or when its names or the CA
 * change. Multiple processes can open the same directory at the same time. After a crash, the next start completes the
 * files. Two rules make this possible: a key is written before its certificate, and a key is never replaced. Any other
 * inconsistency is an error that names the file and the remedy.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../base/time/clock.ts'
import { nodeClientName } from '../model/user.ts'
import { issueCertificate } from './certificate.ts'
import type { CertificateSubject, Usage } from './certificate-template.ts'
import {
  createFile,
  DamagedFile,
  makePrivateDirectory,
  PkiFileError,
  readCertificateFile,
  readKeyFile,
  replaceFile,
} from './files.ts'
import { readSubject } from './identity.ts'
import { generateKey, keyToPem, publicKeyOf } from './keys.ts'
import { type AlternativeNames, canonicalNames, readNames, sameNames } from './names.ts'

/** A certificate with its private key, as PEM. */
export interface CertifiedKey {
  readonly certificate: string
  readonly key: string
}

/** The server's own CA and the certificates that it signs, which are created on request and renewed when due. */
export interface Authority extends CertifiedKey {
  /** Returns the serving certificate of the TLS listener, which is valid for exactly the given names. */
  servingCertificate(names: AlternativeNames): Promise<CertifiedKey>
  /** Returns the certificate of a client with all permissions (`orch-admin` in `system:masters`). */
  adminCertificate(): Promise<CertifiedKey>
  /**
   * Returns the certificate of the front proxy (`front-proxy-client`). Other servers accept the user name that a client
   * with this certificate asserts.
   */
  proxyCertificate(): Promise<CertifiedKey>
  /**
   * Returns the certificate that the API server presents to node agents (`system:apiserver-node-client`, in no group).
   */
  nodeClientCertificate(): Promise<CertifiedKey>
}

/** Where a CA is stored, and how it is created. */
export interface AuthorityOptions {
  readonly directory: string
  readonly clock: Clock
  /** The common name of the CA. Defaults to `orch-ca`. */
  readonly commonName?: string
  /** Returns random bytes, for serial numbers. Tests provide predictable bytes. */
  readonly random?: (size: number) => Buffer
}

const day = 24 * 60 * 60 * 1000
// The validity of a certificate starts this long before its creation, so that machines whose clocks are behind accept
// it.
const backdate = day
const lifetimes = { authority: 3650 * day, leaf: 365 * day } as const
/** The files that the directory may contain. `front-proxy` is the directory of another CA. */
export const authorityFiles: readonly string[] = [
  ...['ca', 'serving', 'admin', 'proxy', 'node-client'].flatMap((name) => [`${name}.crt`, `${name}.key`]),
  'front-proxy',
]
const noNames: AlternativeNames = { dns: [], ips: [] }

interface PairFiles {
  readonly certificate: string
  readonly key: string
  /** What the user should do if one of the two files cannot be used. */
  readonly remedy: string
}

interface Pair {
  readonly certificate: X509Certificate
  readonly key: KeyObject
}

interface Leaf {
  readonly file: 'serving' | 'admin' | 'proxy' | 'node-client'
  readonly subject: CertificateSubject
  readonly usages: readonly Usage[]
  readonly names: AlternativeNames
}

/** Reads the CA from its directory and creates missing files. */
export async function openAuthority(options: AuthorityOptions): Promise<Authority> {
  const ca = await openCa(options)
  return {
    ...pemOf(ca),
    servingCertificate: (names) => openLeaf(options, ca, servingLeaf(names)),
    adminCertificate: () => openLeaf(options, ca, adminLeaf),
    proxyCertificate: () => openLeaf(options, ca, proxyLeaf),
    nodeClientCertificate: () => openLeaf(options, ca, nodeClientLeaf),
  }
}

/**
 * Installs a pair as the CA of a directory, and replaces the existing CA, if any. Certificates that the former CA
 * signed are renewed on their next use.
 */
export async function adoptCa(directory: string, { certificate, key }: CertifiedKey): Promise<void> {
  const files = caFiles(directory)
  const existingPair = await readPair(files).catch((error: unknown) => {
    // Ignore a damaged CA in the directory, because the new pair replaces it.
    if (!(error instanceof DamagedFile)) throw error
    return {} as Partial<Pair>
  })
  const isHeld =
    existingPair.certificate?.toString() === certificate &&
    existingPair.key !== undefined &&
    keyToPem(existingPair.key) === key
  if (isHeld) return
  await makePrivateDirectory(directory, authorityFiles)
  await replaceFile(files.key, key, 'key')
  await replaceFile(files.certificate, certificate, 'certificate')
}

/**
 * Whether a certificate is due for renewal: two thirds of its lifetime have passed, or it is not valid yet because the
 * clock was set back.
 */
export function needsRenewal(certificate: string | X509Certificate, now: number): boolean {
  const { from, to } = validityOf(typeof certificate === 'string' ? new X509Certificate(certificate) : certificate)
  return now < from || now >= from + ((to - from) * 2) / 3
}

const adminLeaf: Leaf = {
  file: 'admin',
  subject: { commonName: 'orch-admin', organizations: ['system:masters'] },
  usages: ['digital signature', 'client auth'],
  names: noNames,
}

/** Common name in the client certificate that this server uses when it proxies requests. */
export const proxyName = 'front-proxy-client'

const proxyLeaf: Leaf = {
  file: 'proxy',
  subject: { commonName: proxyName, organizations: [] },
  usages: ['digital signature', 'client auth'],
  names: noNames,
}

const nodeClientLeaf: Leaf = {
  file: 'node-client',
  subject: { commonName: nodeClientName, organizations: [] },
  usages: ['digital signature', 'client auth'],
  names: noNames,
}

function servingLeaf(names: AlternativeNames): Leaf {
  return {
    file: 'serving',
    subject: { commonName: 'orch', organizations: [] },
    usages: ['digital signature', 'server auth'],
    names: canonicalNames(names),
  }
}

async function openCa(options: AuthorityOptions): Promise<Pair> {
  const files = caFiles(options.directory)
  const storedPair = await readPair(files)
  const ca = storedPair.certificate === undefined ? await makeCa(options, files, storedPair.key) : (storedPair as Pair)
  return checkedCa(ca, files, options.clock.now())
}

// Creates the CA. If multiple processes create the files at once, one of them writes the key, one of them writes the
// certificate, and all of them use these files.
async function makeCa(options: AuthorityOptions, files: PairFiles, existingKey: KeyObject | undefined): Promise<Pair> {
  await makePrivateDirectory(options.directory, authorityFiles)
  const key = existingKey ?? (await makeKey(files))
  const certificate = issueCertificate({
    subject: { commonName: options.commonName ?? 'orch-ca', organizations: [] },
    publicKey: publicKeyOf(key),
    issuer: { certificate: 'self', key },
    usages: ['digital signature', 'cert sign', 'crl sign'],
    authority: true,
    ...validFor(lifetimes.authority, options.clock.now()),
    ...randomOf(options),
  })
  await createFile(files.certificate, certificate, 'certificate')
  return (await readPair(files)) as Pair
}

function checkedCa(ca: Pair, { certificate: file, remedy }: PairFiles, now: number): Pair {
  const { from, to } = validityOf(ca.certificate)
  if (!ca.certificate.ca) throw withRemedy(new DamagedFile(file, 'is not a CA certificate'), remedy)
  if (now >= to) throw withRemedy(new DamagedFile(file, `expired at ${isoTime(to)}`), remedy)
  if (now < from) {
    throw new PkiFileError(
      file,
      `is valid from ${isoTime(from)}, but the current time is ${isoTime(now)}: set the clock`,
    )
  }
  return ca
}

async function openLeaf(options: AuthorityOptions, ca: Pair, leaf: Leaf): Promise<CertifiedKey> {
  const files = leafFiles(options.directory, leaf.file)
  const storedPair = await readPair(files)
  const { certificate } = storedPair
  if (certificate !== undefined && isFit(certificate, ca, leaf, options.clock.now())) return pemOf(storedPair as Pair)
  await makePrivateDirectory(options.directory, authorityFiles)
  const key = storedPair.key ?? (await makeKey(files))
  const fresh = issueLeaf(options, ca, { ...leaf, key })
  await replaceFile(files.certificate, fresh, 'certificate')
  return { certificate: fresh, key: keyToPem(key) }
}

function isFit(certificate: X509Certificate, ca: Pair, leaf: Leaf, now: number): boolean {
  const ours = certificate.checkIssued(ca.certificate) && certificate.verify(ca.certificate.publicKey)
  return (
    ours &&
    !needsRenewal(certificate, now) &&
    hasSubject(certificate, leaf.subject) &&
    sameNames(readNames(certificate.raw), leaf.names)
  )
}

function hasSubject({ raw }: X509Certificate, { commonName, organizations }: CertificateSubject): boolean {
  const subject = readSubject(raw)
  return isDeepStrictEqual(subject, { commonNames: [commonName], organizations })
}

// A certificate must not outlive the CA that signed it.
function issueLeaf(options: AuthorityOptions, ca: Pair, leaf: Leaf & { key: KeyObject }): string {
  const { notBefore, notAfter } = validFor(lifetimes.leaf, options.clock.now())
  return issueCertificate({
    subject: leaf.subject,
    publicKey: publicKeyOf(leaf.key),
    issuer: { certificate: ca.certificate.toString(), key: ca.key },
    usages: leaf.usages,
    names: leaf.names,
    notBefore,
    notAfter: Math.min(notAfter, validityOf(ca.certificate).to),
    ...randomOf(options),
  })
}

async function makeKey(files: PairFiles): Promise<KeyObject> {
  await createFile(files.key, keyToPem(generateKey()), 'key')
  return (await readKeyFile(files.key)) as KeyObject
}

// The certificate is read before the key. If the certificate exists, its key was written earlier, even if another
// process is writing at the same time.
async function readPair(files: PairFiles): Promise<Partial<Pair>> {
  try {
    const certificate = await readCertificateFile(files.certificate)
    const key = await readKeyFile(files.key)
    assertBelong(files, certificate, key)
    return { ...(certificate && { certificate }), ...(key && { key }) }
  } catch (error) {
    throw error instanceof DamagedFile ? withRemedy(error, files.remedy) : error
  }
}

function assertBelong(files: PairFiles, certificate: X509Certificate | undefined, key: KeyObject | undefined): void {
  const certificateName = basename(files.certificate)
  const keyName = basename(files.key)
  if (certificate === undefined) return
  if (key === undefined) throw new DamagedFile(files.key, `is missing, although ${certificateName} exists`)
  if (!certificate.checkPrivateKey(key)) {
    throw new DamagedFile(files.certificate, `does not belong to the key in ${keyName}`)
  }
}

function withRemedy(error: DamagedFile, remedy: string): DamagedFile {
  return new DamagedFile(error.file, `${error.problem}. ${remedy}`, { cause: error })
}

function caFiles(directory: string): PairFiles {
  const remedy =
    'Restore ca.crt and ca.key from a backup. Or remove both: the next start creates a new CA, ' +
    'and clients then need its ca.crt and new certificates.'
  return { certificate: join(directory, 'ca.crt'), key: join(directory, 'ca.key'), remedy }
}

function leafFiles(directory: string, file: string): PairFiles {
  const remedy = `Remove ${file}.crt and ${file}.key: the next start creates new ones.`
  return { certificate: join(directory, `${file}.crt`), key: join(directory, `${file}.key`), remedy }
}

function validFor(lifetime: number, now: number): { notBefore: number; notAfter: number } {
  return { notBefore: now - backdate, notAfter: now + lifetime }
}

function validityOf(certificate: X509Certificate): { from: number; to: number } {
  return { from: certificate.validFromDate.getTime(), to: certificate.validToDate.getTime() }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

function randomOf({ random }: AuthorityOptions): { random?: (size: number) => Buffer } {
  return random === undefined ? {} : { random }
}

function pemOf({ certificate, key }: Pair): CertifiedKey {
  return { certificate: certificate.toString(), key: keyToPem(key) }
}
