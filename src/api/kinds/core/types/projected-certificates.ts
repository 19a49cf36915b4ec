/** Sources of a projected volume whose files contain certificates: trust bundles, and a certificate for the pod. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain } from '../../../model/names.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkAnnotations } from '../../../selectors/label-rules.ts'
import { checkSignerName } from '../../certificates/signer-name.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { checkFilePath } from './file-paths.ts'

const trustBundleFields = {
  name: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of a single ClusterTrustBundle. Mutually exclusive with `signerName`.',
  }),
  signerName: field(2, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the signer whose ClusterTrustBundles are combined.',
  }),
  labelSelector: field(3, labelSelector, {
    doc: "Label selector for the signer's ClusterTrustBundles. If unset, no bundles are selected. If empty, all bundles are selected.",
  }),
  path: field(4, s.string(), { zeroValue: 'write', doc: 'Path of the file, relative to the root of the volume.' }),
  optional: field(5, s.boolean(), { zeroValue: 'keep', doc: 'Whether the bundles may be missing.' }),
}

type TrustBundles = InferFields<typeof trustBundleFields>

export const trustBundleProjection = s.object(trustBundleFields, {
  name: 'ClusterTrustBundleProjection',
  doc: 'Certificates from ClusterTrustBundles, written to a file in a projected volume.',
  check: checkTrustBundles,
})

function checkTrustBundles(bundles: TrustBundles, path: FieldPath, context: RuleContext): FieldError[] {
  // Before 1.34, the error path ends in `PEM`, as clients expect.
  const place = isSince('1.34', context) ? path : `${path}PEM`
  const { path: file = '' } = bundles
  const filePath = child(place, 'path')
  return [...checkBundleChoice(bundles, place), ...(file === '' ? [required(filePath)] : checkFilePath(file, filePath))]
}

function checkBundleChoice({ name, signerName, labelSelector: labels }: TrustBundles, path: FieldPath): FieldError[] {
  if (name !== undefined && signerName !== undefined)
    return [invalid(path, { name, signerName }, 'name and signerName are mutually exclusive')]
  if (signerName !== undefined) return checkSignerName(child(path, 'signerName'), signerName)
  if (name === undefined) return [required(path, 'one of name and signerName is required')]
  return [
    ...checkBundleName(name, child(path, 'name')),
    ...(labels === undefined
      ? []
      : [invalid(child(path, 'labelSelector'), labels, 'labelSelector must be unset if name is set')]),
  ]
}

/**
 * Validates the name of a ClusterTrustBundle. The name of a signer's bundle starts with the signer's name and a colon.
 */
function checkBundleName(name: string, path: FieldPath): FieldError[] {
  return [
    ...(name === '' ? [required(path, 'must be the name of a ClusterTrustBundle')] : []),
    ...checkDnsSubdomain(name.slice(name.lastIndexOf(':') + 1)).map((fault) => invalid(path, name, fault)),
  ]
}

const podCertificateFields = {
  signerName: field(1, s.string(), { doc: 'Name of the signer that issues the certificate.', published: 'required' }),
  keyType: field(2, s.string(), {
    published: 'required',
    doc: 'Type of the private key: `RSA3072`, `RSA4096`, `ECDSAP256`, `ECDSAP384`, `ECDSAP521` or `ED25519`.',
  }),
  maxExpirationSeconds: field(3, s.int32(), {
    zeroValue: 'keep',
    doc: 'Maximum lifetime of the certificate in seconds. Must be at least 3600. Defaults to 86400.',
  }),
  credentialBundlePath: field(4, s.string(), {
    doc: 'Path of a file that contains both the private key and the certificate chain.',
  }),
  keyPath: field(5, s.string(), { doc: 'Path of a file that contains the private key.' }),
  certificateChainPath: field(6, s.string(), { doc: 'Path of a file that contains the certificate chain.' }),
  userAnnotations: field(7, s.map(s.string()), {
    since: '1.35',
    gate: 'PodCertificateRequest',
    doc: 'Annotations to pass to the signer. The server does not validate their values.',
  }),
}

type PodCertificate = InferFields<typeof podCertificateFields>

export const podCertificateProjection = s.object(podCertificateFields, {
  name: 'PodCertificateProjection',
  doc: 'A certificate for the pod in a projected volume. The node agent renews the certificate before it expires.',
  check: checkPodCertificate,
})

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
const hour = 60 * 60
const maxSeconds = 91 * 24 * hour
const files = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const

function checkPodCertificate(certificate: PodCertificate, path: FieldPath): FieldError[] {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds, userAnnotations } = certificate
  return [
    ...checkSignerName(child(path, 'signerName'), signerName),
    ...(keyTypes.includes(keyType) ? [] : [notSupported(child(path, 'keyType'), keyType, keyTypes)]),
    ...(seconds === undefined || (seconds >= hour && seconds <= maxSeconds)
      ? []
      : [invalid(child(path, 'maxExpirationSeconds'), seconds, `must be in the range [${hour}, ${maxSeconds}]`)]),
    ...files.flatMap((name) => checkFilePath(certificate[name] ?? '', child(path, name))),
    ...(certificateFiles(certificate).length === 0 ? [required(path, `one of ${files.join(', ')} is required`)] : []),
    ...checkAnnotations(userAnnotations, child(path, 'userAnnotations')),
  ]
}

/** Returns the file paths that a certificate source writes. */
export function certificateFiles(certificate: PodCertificate): string[] {
  return files.map((name) => certificate[name] ?? '').filter((path) => path !== '')
}
