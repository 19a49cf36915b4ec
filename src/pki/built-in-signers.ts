/**
 * The rules of the four built-in signers: which requests each signs. Each rule that a request breaks is one sentence, so
 * that people learn all of them at once. The signer applies them before it signs, the approver before it approves node
 * agents, and `describe` and the console to tell in advance: so nothing here needs Node.
 */
import type { Signers } from '../model/vendor.ts'
import type { JudgedRequest } from './requested-names.ts'

/** The built-in signers, whatever the vendor calls them. */
export type SignerId = keyof Signers

const nodeGroup = 'system:nodes'
const nodePrefix = 'system:node:'
const withKey = ['digital signature', 'key encipherment']

type Rule = (request: JudgedRequest, usages: readonly string[]) => string[]

const rules: { readonly [signer in SignerId]: Rule } = {
  client: (_request, usages) => clientUsages(usages),
  nodeClient: (request, usages) => [
    ...nodeSubject(request),
    ...exactUsages(usages, [...withKey, 'client auth']),
    ...noNames(request, ['dns', 'ips', 'emails', 'uris']),
  ],
  nodeServing: (request, usages) => [
    ...nodeSubject(request),
    ...exactUsages(usages, [...withKey, 'server auth']),
    ...noNames(request, ['emails', 'uris']),
    ...someName(request),
  ],
  legacyUnknown: () => [],
}

/** What is wrong with a request in the eyes of this signer, a sentence each; none where it is signed. */
export function signerFaults(signer: SignerId, request: JudgedRequest, usages: readonly string[]): string[] {
  const several = request.subject.commonNames.length > 1 ? ['the subject has several common names'] : []
  return [...several, ...rules[signer](request, usages)]
}

function clientUsages(usages: readonly string[]): string[] {
  const allowed = [...withKey, 'client auth']
  const others = usages.filter((usage) => !allowed.includes(usage))
  return [
    ...(others.length > 0 ? [`usages other than ${listed(allowed)} are not allowed: ${listed(others)}`] : []),
    ...(usages.includes('client auth') ? [] : ['the usage "client auth" is missing']),
  ]
}

function exactUsages(usages: readonly string[], wanted: readonly string[]): string[] {
  const isEqual = wanted.every((usage) => usages.includes(usage)) && usages.every((usage) => wanted.includes(usage))
  return isEqual ? [] : [`usages must be exactly ${listed(wanted)}, not ${listed(usages)}`]
}

function nodeSubject({ subject: { commonNames, organizations } }: JudgedRequest): string[] {
  const isOfNodes = organizations.length === 1 && organizations[0] === nodeGroup
  const isNode = commonNames.length > 0 && commonNames.every((name) => name.startsWith(nodePrefix))
  return [
    ...(isOfNodes ? [] : [`the organization of the subject must be "${nodeGroup}" alone`]),
    ...(isNode ? [] : [`the common name of the subject must begin with "${nodePrefix}"`]),
  ]
}

const namesOf = {
  dns: 'DNS names',
  ips: 'IP addresses',
  emails: 'email addresses',
  uris: 'URIs',
} as const

function noNames({ names }: JudgedRequest, kinds: readonly (keyof typeof namesOf)[]): string[] {
  return [
    ...kinds.filter((kind) => names[kind].length > 0).map((kind) => namesOf[kind]),
    ...(names.others > 0 ? ['names of other kinds'] : []),
  ].map((what) => `${what} are not allowed as subject alternative names`)
}

function someName({ names: { dns, ips } }: JudgedRequest): string[] {
  return dns.length + ips.length > 0 ? [] : ['a DNS name or an IP address is required as a subject alternative name']
}

function listed(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ')
}
