/** PolicyRulesWithSubjects: requests, by their senders and what they are for. `*` alone stands for all. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDnsLabel } from '../../../model/names.ts'
import { allVerbs } from '../../../model/verb.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { subject } from './subject.ts'

const verbs = [...allVerbs, 'proxy'].sort()

const set = (tag: number, doc: string) =>
  field(tag, s.list(s.string(), { list: 'set' }), { zero: 'write', published: 'required', doc })

const resourceFields = {
  verbs: set(1, 'What is done, such as `get`.'),
  apiGroups: set(2, 'The groups of the resources; empty is the core group.'),
  resources: set(3, 'The resources, such as `pods` or `pods/log`.'),
  clusterScope: field(4, s.boolean(), { doc: 'Whether requests outside of namespaces match too.' }),
  namespaces: field(5, s.list(s.string(), { list: 'set' }), {
    zero: 'write',
    published: 'optional',
    doc: 'The namespaces of the requests.',
  }),
}

const resourceRule = s.object(resourceFields, {
  name: 'ResourcePolicyRule',
  doc: 'Requests for resources.',
  check: checkResourceRule,
})

const nonResourceFields = {
  verbs: set(1, 'What is done, such as `get`.'),
  nonResourceURLs: set(6, 'The paths, such as `/healthz`; `/*` at the end stands for all below.'),
}

const nonResourceRule = s.object(nonResourceFields, {
  name: 'NonResourcePolicyRule',
  doc: 'Requests for paths that are no resources.',
  check: ({ verbs = [], nonResourceURLs: urls = [] }, path) => [
    ...checkVerbs(verbs, child(path, 'verbs')),
    ...checkUrls(urls, child(path, 'nonResourceURLs')),
  ],
})

const rulesFields = {
  subjects: field(1, s.list(subject), { zero: 'write', published: 'required', doc: 'The senders of the requests.' }),
  resourceRules: field(2, s.list(resourceRule), { doc: 'Their requests for resources.' }),
  nonResourceRules: field(3, s.list(nonResourceRule), { doc: 'Their requests for other paths.' }),
}

export const policyRulesWithSubjects = s.object(rulesFields, {
  name: 'PolicyRulesWithSubjects',
  doc: 'Requests, by their sender and what they are for.',
  check: checkRules,
})

function checkRules(rules: InferFields<typeof rulesFields>, path: FieldPath): FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rules
  const isEmpty = resourceRules.length + nonResourceRules.length === 0
  return [
    ...(subjects.length === 0 ? [required(child(path, 'subjects'), 'subjects must contain at least one value')] : []),
    ...(isEmpty ? [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')] : []),
  ]
}

function checkResourceRule(rule: InferFields<typeof resourceFields>, path: FieldPath): FieldError[] {
  const { verbs: done = [], apiGroups = [], resources = [], clusterScope = false, namespaces = [] } = rule
  const rulesMust = 'resource rules must supply at least one'
  const outside = 'resource rules that are not cluster scoped must supply at least one namespace'
  const place = child(path, 'namespaces')
  return [
    ...checkVerbs(done, child(path, 'verbs')),
    ...checkSome(apiGroups, child(path, 'apiGroups'), `${rulesMust} api group`),
    ...checkAlone(apiGroups, child(path, 'apiGroups'), 'api groups'),
    ...checkSome(resources, child(path, 'resources'), `${rulesMust} resource`),
    ...checkAlone(resources, child(path, 'resources'), 'resources'),
    ...(clusterScope ? [] : checkSome(namespaces, place, outside)),
    ...checkAlone(namespaces, place, 'namespaces'),
    ...(namespaces.includes('*') ? [] : checkNamespaces(namespaces, place)),
  ]
}

function checkSome(items: readonly string[], path: FieldPath, text: string): FieldError[] {
  return items.length === 0 ? [required(path, text)] : []
}

function checkAlone(items: readonly string[], path: FieldPath, noun: string): FieldError[] {
  const isCrowded = items.length > 1 && items.includes('*')
  return isCrowded ? [invalid(path, [...items], `if '*' is present, must not specify other ${noun}`)] : []
}

function checkVerbs(done: readonly string[], path: FieldPath): FieldError[] {
  if (done.length === 0) return [required(path, 'verbs must contain at least one value')]
  if (done.includes('*')) return checkAlone(done, path, 'verbs')
  return done.every((verb) => verbs.includes(verb)) ? [] : [notSupported(path, [...done], verbs)]
}

function checkNamespaces(names: readonly string[], path: FieldPath): FieldError[] {
  return names.flatMap((name, i) =>
    checkDnsLabel(name).map((fault) =>
      invalid(at(path, i), name, `each member of this list must be '*' or a DNS-1123 label; ${fault}`),
    ),
  )
}

function checkUrls(urls: readonly string[], path: FieldPath): FieldError[] {
  if (urls.length === 0) return [required(path, 'nonResourceURLs must contain at least one value')]
  if (urls.includes('*')) return checkAlone(urls, path, 'non-resource URLs')
  return urls.flatMap((url, i) => {
    const fault = faultOfUrl(url)
    return fault === undefined ? [] : [invalid(at(path, i), url, fault)]
  })
}

function faultOfUrl(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const star = url.indexOf('*')
  const isSuffix = star === url.length - 1 && url.endsWith('/*')
  return star < 0 || isSuffix ? undefined : 'wildcard can only do suffix matching'
}
