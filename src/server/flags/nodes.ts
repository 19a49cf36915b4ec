/** Flags of the ways to nodes. */
import { flag, text, UsageError } from '../../base/flags.ts'
import { list, readTime } from './values.ts'

const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

export const nodeFlags = {
  kubeletClientCertificate: flag(
    'kubelet-client-certificate',
    'FILE',
    '',
    text,
    'PEM client certificate that this server shows to agents of nodes; self-made by default',
  ),
  kubeletClientKey: flag('kubelet-client-key', 'FILE', '', text, 'PEM private key of --kubelet-client-certificate'),
  kubeletCertificateAuthority: flag(
    'kubelet-certificate-authority',
    'FILE',
    '',
    text,
    'PEM certificates of the CAs of the serving certificates of nodes; the self-made CA by default',
  ),
  kubeletPreferredAddressTypes: flag(
    'kubelet-preferred-address-types',
    'TYPES',
    addressTypes.join(','),
    readTypes,
    'types of addresses to reach nodes by, the preferred first, separated by commas',
  ),
  kubeletTimeout: flag('kubelet-timeout', 'TIME', '5s', readTime, 'maximum time until a node begins its answer'),
}

function readTypes(value: string): readonly string[] {
  const types = list(value)
  const unknown = types.find((type) => !addressTypes.includes(type))
  if (unknown !== undefined)
    throw new UsageError(`${JSON.stringify(unknown)} is no type of address: use ${addressTypes.join(', ')}`)
  if (types.length === 0) throw new UsageError(`name at least one type of address: ${addressTypes.join(', ')}`)
  return types
}
