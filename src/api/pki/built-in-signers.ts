/**
 * The rules of the four built-in signers. The rules define which requests each signer signs. A check returns one
 * sentence for each violation, so that users see all of them at once. The signer applies the rules before it signs a
 * request. The approver applies them before it approves requests of node agents. `describe` and the console apply them
 * to warn users in advance. This code must not depend on Node.js, because the console runs in a browser.
 */
import type { Signers } from '../model/vendor.ts'
import type { JudgedRequest } from './requested-names.ts'

/** The ID of a built-in signer, which does not depend on the vendor's names. */
export type SignerId = keyof Signers

const nodeGroup = 'system:nodes'
const nodePrefix = 'system:node:'
const withKey = ['digital signature', 'key encipherment']

type Judge = (request: JudgedRequest, usages: readonly string[]) => string[]

/** A rule of a signer: its text, and a function that returns a request's violations. */
type Rule = readonly [rule: string, judge: Judge]

const oneCommonName: Rule = [
  'The subject has at most one common name',
  ({ subject }) => (subject.commonNames.length > 1 ? ['the subject has several common names'] : []),
]
const ofNode: Rule = ['The subject identifies a node', nodeSubject]

const rules: { readonly [signer in SignerId]: readonly Rule[] } = {
  client: [oneCommonName, ['The usages are allowed for clients', (_request, usages) => clientUsages(usages)]],
  nodeClient: [
    ...[oneCommonName, ofNode],
    ['The usages are allowed for node clients', (_request, usages) => exactUsages(usages, [...withKey, 'client auth'])],
    ['There are no subject alternative names', (request) => noNames(request, ['dns', 'ips', 'emails', 'uris'])],
  ],
  nodeServing: [
    ...[oneCommonName, ofNode],
    ['The usages are allowed for node servers', (_request, usages) => exactUsages(usages, [...withKey, 'server auth'])],
    [
      'All subject alternative names are hosts',
      (request) => [...noNames(request, ['emails', 'uris']), ...someName(request)],
    ],
  ],
  legacyUnknown: [oneCommonName],
}

/** The result of checking a request against one rule. */
export interface RuleVerdict {
  readonly rule: string
  /** Violations of the rule, one sentence each. Empty if the request complies. */
  readonly faults: readonly string[]
}

/** Returns the result for each of the signer's rules. */
export function signerVerdicts(signer: SignerId, request: JudgedRequest, usages: readonly string[]): RuleVerdict[] {
  return rules[signer].map(([rule, judge]) => ({ rule, faults: judge(request, usages) }))
}

/**
 * Returns a request's violations of the signer's rules, one sentence each. The list is empty if the signer accepts the
 * request.
 */
export function signerFaults(signer: SignerId, request: JudgedRequest, usages: readonly string[]): string[] {
  return signerVerdicts(signer, request, usages).flatMap(({ faults }) => faults)
}

function clientUsages(usages: readonly string[]): string[] {
  const allowed = [...withKey, 'client auth']
  const others = usages.filter((usage) => !allowed.includes(usage))
  return [
    ...(others.length > 0 ? [`usages other than ${listed(allowed)} are not allowed: ${listed(others)}`] : []),
    ...(usages.includes('client auth') ? [] : ['the usage "client auth" is missing']),
  ]
}

function exactUsages(usages: readonly string[], requiredUsages: readonly string[]): string[] {
  const isEqual =
    requiredUsages.every((usage) => usages.includes(usage)) && usages.every((usage) => requiredUsages.includes(usage))
  return isEqual ? [] : [`usages must be exactly ${listed(requiredUsages)}, not ${listed(usages)}`]
}

function nodeSubject({ subject: { commonNames, organizations } }: JudgedRequest): string[] {
  const isOfNodes = organizations.length === 1 && organizations[0] === nodeGroup
  const isNode = commonNames.length > 0 && commonNames.every((name) => name.startsWith(nodePrefix))
  return [
    ...(isOfNodes ? [] : [`the subject organization must be exactly "${nodeGroup}"`]),
    ...(isNode ? [] : [`the subject common name must begin with "${nodePrefix}"`]),
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
    ...(names.others > 0 ? ['other names'] : []),
  ].map((what) => `${what} are not allowed as subject alternative names`)
}

function someName({ names: { dns, ips } }: JudgedRequest): string[] {
  return dns.length + ips.length > 0 ? [] : ['a DNS name or an IP address is required as a subject alternative name']
}

function listed(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ')
}
