/** Name resolution in a pod: its DNS settings, and the entries of its hosts file. */
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain, checkIpAddress } from '../../../model/names.ts'
import { isEnabled, isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import type { Located } from './strict-values.ts'

const hostAliasFields = {
  ip: field(1, s.string(), { doc: 'IP address to which the host names resolve.' }),
  hostnames: field(2, s.list(s.string()), { doc: 'Host names that resolve to the IP address.' }),
}

type HostAlias = InferFields<typeof hostAliasFields>

export const hostAlias = s.object(hostAliasFields, { name: 'HostAlias', doc: "An entry for a pod's hosts file." })

const dnsOption = s.object(
  {
    name: field(1, s.string(), { doc: 'Name of the resolver option.' }),
    value: field(2, s.string(), {
      zeroValue: 'keep',
      doc: 'Value of the resolver option. Unset if the option takes no value.',
    }),
  },
  { name: 'PodDNSConfigOption', doc: 'A DNS resolver option.' },
)

const dnsConfigFields = {
  nameservers: field(1, s.list(s.string()), { doc: 'IP addresses of additional DNS servers. At most 3 servers.' }),
  searches: field(2, s.list(s.string()), {
    doc: 'Additional DNS search domains. At most 6 domains, with at most 256 characters in total.',
  }),
  options: field(3, s.list(dnsOption), { doc: 'Additional DNS resolver options.' }),
}

type DnsConfig = InferFields<typeof dnsConfigFields>

export const dnsConfig = s.object(dnsConfigFields, {
  name: 'PodDNSConfig',
  doc: 'DNS settings for a pod. They are merged with the settings from the DNS policy.',
})

/**
 * Validates the DNS settings. If the policy is None and no name server is specified, reports only the missing name
 * server.
 */
export function checkDns(
  { dnsPolicy, dnsConfig: config }: { dnsPolicy?: string; dnsConfig?: DnsConfig },
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  if (dnsPolicy !== 'None') return config === undefined ? [] : checkDnsConfig(config, path, context)
  if (config === undefined) return [required(path, 'must be set when `dnsPolicy` is None')]
  if ((config.nameservers ?? []).length > 0) return checkDnsConfig(config, path, context)
  return [required(child(path, 'nameservers'), 'at least one is required when `dnsPolicy` is None')]
}

const maxServers = 3

function searchLimits(context: RuleContext) {
  return isEnabled('ExpandedDNSConfig', context) ? { domains: 32, characters: 2048 } : { domains: 6, characters: 256 }
}

function checkDnsConfig(
  { nameservers = [], searches = [], options = [] }: DnsConfig,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const limits = searchLimits(context)
  const servers = child(path, 'nameservers')
  const domains = child(path, 'searches')
  return [
    ...(nameservers.length > maxServers
      ? [invalid(servers, nameservers, `must have at most ${maxServers} entries`)]
      : []),
    ...nameservers.flatMap((ip, i) => checkIpAddress(ip).map((text) => invalid(at(servers, i), ip, text))),
    ...(searches.length > limits.domains
      ? [invalid(domains, searches, `must have at most ${limits.domains} entries`)]
      : []),
    ...(searches.join(' ').length > limits.characters
      ? [invalid(domains, searches, `must have at most ${limits.characters} characters in total`)]
      : []),
    ...searches.flatMap((name, i) => checkSearch(name, context).map((text) => invalid(at(domains, i), name, text))),
    ...options.flatMap(({ name = '' }, i) =>
      name === '' ? [required(at(child(path, 'options'), i), 'must not be empty')] : [],
    ),
  ]
}

const relaxedPart = /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/

/** Validates a search domain. The relaxed rules allow underscores, and a single dot as the search domain. */
function checkSearch(name: string, context: RuleContext): string[] {
  const relaxed = isEnabled('RelaxedDNSSearchValidation', context)
  if (relaxed && name === '.') return []
  const domain = name.endsWith('.') ? name.slice(0, -1) : name
  if (!relaxed) return checkDnsSubdomain(domain)
  const sound = domain.length <= 253 && domain.split('.').every((part) => relaxedPart.test(part))
  return sound ? [] : ["must consist of lowercase letters, digits, '-', '_' and '.', at most 253 characters"]
}

/** Validates the entries of the hosts file. Before 1.26, errors are reported for the list, as clients expect. */
export function checkHostAliases(aliases: readonly HostAlias[], path: FieldPath, context: RuleContext): FieldError[] {
  const namesEntries = isSince('1.26', context)
  return aliases.flatMap(({ ip = '', hostnames = [] }, i) => {
    const place = namesEntries ? at(path, i) : path
    return [
      ...checkIpAddress(ip).map((text) => invalid(child(place, 'ip'), ip, text)),
      ...hostnames.flatMap((name, j) => {
        const list = child(place, 'hostnames')
        return checkDnsSubdomain(name).map((text) => invalid(namesEntries ? at(list, j) : list, name, text))
      }),
    ]
  })
}

/** The fields of a pod spec that contain IP addresses. */
interface AddressedPod {
  readonly hostAliases?: readonly HostAlias[]
  readonly dnsConfig?: DnsConfig
}

/** Returns the IP addresses in a pod spec, each with its field path. */
export function podSpecAddresses({ hostAliases = [], dnsConfig = {} }: AddressedPod, path: FieldPath): Located[] {
  const aliases = child(path, 'hostAliases')
  const servers = child(path, 'dnsConfig.nameservers')
  return [
    ...hostAliases.map(({ ip = '' }, i): Located => [child(at(aliases, i), 'ip'), ip]),
    ...(dnsConfig.nameservers ?? []).map((ip, i): Located => [at(servers, i), ip]),
  ]
}
