/** Flags of the ways to nodes. */

import { type IpRange, parsePlainRange } from '../../api/model/ip-range.ts'
import { flag, readBoolean, text, UsageError } from '../../base/flags/flags.ts'
import { list, readTime } from './values.ts'

const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

export const nodeFlags = {
  kubeletClientCertificate: flag({
    name: 'kubelet-client-certificate',
    value: 'FILE',
    read: text,
    help: 'PEM client certificate that this server shows to node agents; self-made by default. No server accepts it as a client of the API',
  }),
  kubeletClientKey: flag({
    name: 'kubelet-client-key',
    value: 'FILE',
    read: text,
    help: 'PEM private key of --kubelet-client-certificate',
  }),
  kubeletCertificateAuthority: flag({
    name: 'kubelet-certificate-authority',
    value: 'FILE',
    read: text,
    help: 'PEM certificates of the CAs of the serving certificates of nodes; the self-made CA by default',
  }),
  kubeletRequireNodeSubject: flag({
    name: 'kubelet-require-node-subject',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: "require the common name system:node:NAME in the serving certificate of a node agent; with false any certificate of the CA for the node's address is accepted",
  }),
  kubeletPreferredAddressTypes: flag({
    name: 'kubelet-preferred-address-types',
    value: 'TYPES',
    default: addressTypes.join(','),
    read: readTypes,
    help: 'types of addresses to reach nodes by, the preferred first, separated by commas',
  }),
  allowedProxyCidrs: flag({
    name: 'allowed-proxy-cidrs',
    value: 'CIDRS',
    read: readRanges,
    help: "ranges of addresses to connect to for nodes and pods although they are refused by default, separated by commas: this machine's own addresses, link-local addresses, metadata services and IPv6 addresses that embed IPv4; the server's own port stays refused",
  }),
  kubeletTimeout: flag({
    name: 'kubelet-timeout',
    value: 'TIME',
    default: '5s',
    read: readTime,
    help: 'maximum time until a node begins its answer',
  }),
}

function readTypes(value: string): readonly string[] {
  const types = list(value)
  const unknown = types.find((type) => !addressTypes.includes(type))
  if (unknown !== undefined)
    throw new UsageError(`${JSON.stringify(unknown)} is no type of address: use ${addressTypes.join(', ')}`)
  if (types.length === 0) throw new UsageError(`name at least one type of address: ${addressTypes.join(', ')}`)
  return types
}

function readRanges(value: string): readonly IpRange[] {
  return list(value).map((text) => {
    const range = parsePlainRange(text)
    if (range === undefined)
      throw new UsageError(
        `${JSON.stringify(text)} is not a range of addresses: use one such as 10.0.0.5/32 or fd00::/8`,
      )
    return range
  })
}
