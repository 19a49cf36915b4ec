/**
 * Files that the manager uses for signing: the CAs of the built-in signers, the service account key and the published
 * CA. The manager reads the files at startup and again whenever one of them changes. Startup fails if a file is
 * invalid.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Issuer } from '../../api/pki/certificate-template.ts'
import { schemeOfKey } from '../../api/pki/signature-scheme.ts'
import { TokenIssuer } from '../../apiserver/authn/service-account/issuer.ts'
import { isSigning, readKeys, tokenKeys } from '../../apiserver/authn/service-account/keys.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { LoopOptions } from '../../cluster/controllers/control-loop.ts'
import type { SigningAuthorities } from '../../cluster/controllers/csr-signing.ts'
import type { ManagerOptions } from '../flags/controller-manager.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { Reloading } from '../flags/reloading.ts'

export type FileOptions = Pick<LoopOptions, 'signing' | 'rootAuthority'> & {
  /** Creates a token issuer. The vendor is an argument because it is unknown until the API server responds. */
  readonly issueTokenOf?: (vendor: Vendor) => NonNullable<LoopOptions['issueToken']>
}

/** Reads the files. Throws UsageError if a file is invalid. */
export function readSigningFiles(options: ManagerOptions, reloading: Reloading): FileOptions {
  const authorities = readAuthorities(options, reloading)
  const { rootCaFile, serviceAccountPrivateKeyFile, clusterSigningDuration: maxLifetimeMs } = options
  return {
    ...(Object.keys(authorities).length === 0 ? {} : { signing: { authorities, maxLifetimeMs } }),
    ...(rootCaFile === ''
      ? {}
      : { rootAuthority: followed(reloading, { flag: 'root-ca-file', file: rootCaFile }, readBundle) }),
    ...(serviceAccountPrivateKeyFile === ''
      ? {}
      : { issueTokenOf: tokenIssuer(serviceAccountPrivateKeyFile, reloading) }),
  }
}

type PairName = '' | 'kube-apiserver-client-' | 'kubelet-client-' | 'kubelet-serving-' | 'legacy-unknown-'

interface PairFiles {
  readonly name: PairName
  readonly certificate: string
  readonly key: string
}

function readAuthorities(options: ManagerOptions, reloading: Reloading): SigningAuthorities {
  const all = { name: '', certificate: options.clusterSigningCertFile, key: options.clusterSigningKeyFile } as const
  const own = {
    client: pair('kube-apiserver-client-', options.clientSigningCertFile, options.clientSigningKeyFile),
    nodeClient: pair('kubelet-client-', options.nodeClientSigningCertFile, options.nodeClientSigningKeyFile),
    nodeServing: pair('kubelet-serving-', options.nodeServingSigningCertFile, options.nodeServingSigningKeyFile),
    legacyUnknown: pair('legacy-unknown-', options.legacyUnknownSigningCertFile, options.legacyUnknownSigningKeyFile),
  }
  const configuredFiles = Object.values(own).filter((files) => isGiven(files))
  if (isGiven(all) && configuredFiles.length > 0)
    throw new UsageError(
      `--cluster-signing-cert-file applies to all signers and cannot be combined with --cluster-signing-${configuredFiles[0]!.name}cert-file`,
    )
  if (isGiven(all)) {
    const authority = readPair(all, reloading)
    return { client: authority, nodeClient: authority, nodeServing: authority, legacyUnknown: authority }
  }
  const entries = Object.entries(own).filter(([, files]) => isGiven(files))
  return Object.fromEntries(entries.map(([id, files]) => [id, readPair(files, reloading)]))
}

function pair(name: PairName, certificate: string, key: string): PairFiles {
  return { name, certificate, key }
}

function isGiven({ certificate, key }: PairFiles): boolean {
  return certificate !== '' || key !== ''
}

function readPair({ name, certificate, key }: PairFiles, reloading: Reloading): () => Issuer {
  const certificateFlag = `cluster-signing-${name}cert-file`
  const keyFlag = `cluster-signing-${name}key-file`
  if (certificate === '' || key === '')
    throw new UsageError(`--${certificateFlag} and --${keyFlag} must be specified together`)
  const read = () => issuerIn(readFlagFile(certificateFlag, certificate), readFlagFile(keyFlag, key), certificateFlag)
  let issuer: Issuer
  reloading.follow(certificateFlag, [certificate, key], () => {
    issuer = read()
  })
  issuer = read()
  return () => issuer
}

function issuerIn(certificate: string, key: string, flag: string): Issuer {
  const fault = (what: string) => new UsageError(`--${flag}: ${what}`)
  const x509 = parsed(() => new X509Certificate(certificate), fault('the file contains no PEM certificate'))
  const privateKey: KeyObject = parsed(() => createPrivateKey(key), fault('the key file contains no PEM key'))
  if (!x509.ca) throw fault('it is not a CA certificate')
  if (!x509.checkPrivateKey(privateKey)) throw fault('the key does not match the certificate')
  parsed(() => schemeOfKey(privateKey), fault('this type of key cannot sign certificates'))
  return { certificate, key: privateKey }
}

function parsed<T>(read: () => T, fault: UsageError): T {
  try {
    return read()
  } catch {
    // Throw a new error without a cause, because the original message might quote the key.
    throw fault
  }
}

interface FlagFile {
  readonly flag: string
  readonly file: string
}

/** Returns a function that returns the current value of a file. */
function followed<T>(reloading: Reloading, { flag, file }: FlagFile, read: (flag: string, file: string) => T): () => T {
  let currentValue: T
  reloading.follow(flag, [file], () => {
    currentValue = read(flag, file)
  })
  currentValue = read(flag, file)
  return () => currentValue
}

function readBundle(flag: string, file: string): string {
  const text = readFlagFile(flag, file)
  parsed(() => new X509Certificate(text), new UsageError(`--${flag}: ${file} contains no PEM certificate`))
  return text
}

function tokenIssuer(file: string, reloading: Reloading): NonNullable<FileOptions['issueTokenOf']> {
  const key = followed(reloading, { flag: 'service-account-private-key-file', file }, readSigningKey)
  return (vendor) => async (token) => await new TokenIssuer('', vendor, tokenKeys(key(), [])).issueLegacy(token)
}

function readSigningKey(flag: string, file: string) {
  const key = parsed(
    () => readKeys(readFlagFile(flag, file)).find(isSigning),
    new UsageError(`--${flag}: ${file} contains no key that can sign tokens`),
  )
  if (key === undefined) throw new UsageError(`--${flag}: ${file} contains no private key`)
  return key
}
