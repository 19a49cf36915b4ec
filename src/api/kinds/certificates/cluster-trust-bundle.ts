/**
 * A ClusterTrustBundle contains root certificates that workloads trust, either for certificates from a certain signer
 * or for another purpose. The name of a bundle for a signer starts with the name of the signer. Other files check the
 * permission to write bundles for a signer.
 */
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { child, type FieldError, type FieldPath, invalid, tooLong } from '../../model/field-error.ts'
import { checkDnsSubdomain, checkPathSegment } from '../../model/names.ts'
import { MalformedInput } from '../../pki/malformed-input.ts'
import { checkTrustAnchors } from '../../pki/trust-anchors.ts'
import { column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { checkSignerName } from './signer-name.ts'

const spec = s.object(
  {
    signerName: field(1, s.string(), {
      doc: 'Name of the signer that issues the certificates. Empty if the bundle does not belong to a signer. Immutable.',
    }),
    trustBundle: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'Root certificates as PEM-encoded `CERTIFICATE` blocks. At most 1 MiB in total.',
    }),
  },
  {
    name: 'ClusterTrustBundleSpec',
    doc: 'Specification of a ClusterTrustBundle.',
    check: ({ signerName = '' }, path) =>
      signerName === '' ? [] : checkSignerName(child(path, 'signerName'), signerName),
  },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Root certificates, and the signer to which they belong.',
  }),
}

export type ClusterTrustBundle = ObjectOf<typeof fields>

export const clusterTrustBundle = defineKind({
  names: {
    group: 'certificates',
    version: 'v1beta1',
    kind: 'ClusterTrustBundle',
    plural: 'clustertrustbundles',
    scope: 'Cluster',
    nameFormat: checkPathSegment,
  },
  since: '1.33',
  gate: 'ClusterTrustBundle',
  optIn: true,
  deprecated: { since: '1.37', removal: '1.40', warnsSince: '1.36' },
  doc: 'Root certificates that workloads trust.',
  fields,
  rules: {
    validate: checkName,
    validateCreate: ({ spec }) => checkBundle(spec?.trustBundle ?? ''),
    validateUpdate: function* ({ spec: next }, { spec: previous }) {
      const isSame = next?.trustBundle === previous?.trustBundle
      const faults = isSame ? [] : yield* checkBundle(next?.trustBundle ?? '')
      return [...faults, ...immutableField('spec.signerName', next?.signerName ?? '', previous?.signerName ?? '')]
    },
  },
  views: {
    columns: [nameColumn, column('SignerName', 'Name of the signer.', signerOf)],
    selectable: ({ spec }) => ({ 'spec.signerName': spec?.signerName ?? '' }),
  },
})

function signerOf({ spec }: ClusterTrustBundle): string {
  return spec?.signerName || '<none>'
}

/** Requires the name of a signer's bundle to start with the signer's name, with colons instead of slashes. */
function checkName({ metadata: { name = '' }, spec }: ClusterTrustBundle): FieldError[] {
  const path = 'metadata.name'
  const { signerName = '' } = spec ?? {}
  if (signerName === '' && name.includes(':'))
    return [invalid(path, name, 'must not contain a colon if the bundle has no signer name')]
  const prefix = signerName === '' ? '' : `${signerName.replaceAll('/', ':')}:`
  if (!name.startsWith(prefix)) return [invalid(path, name, `must start with ${prefix} for signer ${signerName}`)]
  return checkDnsSubdomain(name.slice(prefix.length)).map((fault) => invalid(path, name, fault))
}

const bundlePath: FieldPath = 'spec.trustBundle'
const maxBundleBytes = 1024 * 1024

/** Validates the certificates of a bundle. The errors do not contain the bundle, which may be long. */
function* checkBundle(bundle: string): Sliced<FieldError[]> {
  const bytes = Buffer.from(bundle)
  if (bytes.length > maxBundleBytes) return [tooLong(bundlePath, maxBundleBytes)]
  try {
    yield* checkTrustAnchors(bytes)
    return []
  } catch (error) {
    if (error instanceof MalformedInput) return [invalid(bundlePath, '<value omitted>', error.message)]
    throw error
  }
}
