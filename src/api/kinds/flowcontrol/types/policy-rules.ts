/** PolicyRulesWithSubjects selects requests by subject and target. A single `*` matches everything. */
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
  field(tag, s.list(s.string(), { list: 'set' }), { zeroValue: 'write', published: 'required', doc })

const resourceFields = {
  verbs: set(1, 'Verbs that the rule matches, such as `get`. `*` matches all verbs and must be the only entry.'),
  apiGroups: set(
    2,
    'API groups that the rule matches. An empty string stands for the core group. `*` matches all groups and must be the only entry.',
  ),
  resources: set(
    3,
    'Resources that the rule matches, such as `pods` or `pods/log`. `*` matches all resources and must be the only entry.',
  ),
  clusterScope: field(4, s.boolean(), {
    doc: 'Whether the rule matches requests without a namespace. Defaults to false.',
  }),
  namespaces: field(5, s.list(s.string(), { list: 'set' }), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Namespaces that the rule matches. `*` matches all namespaces. Required unless `clusterScope` is true.',
  }),
}

const resourceRule = s.object(resourceFields, {
  name: 'ResourcePolicyRule',
  doc: 'A rule that selects requests for resources.',
  check: checkResourceRule,
})

const nonResourceFields = {
  verbs: set(1, 'Verbs that the rule matches, such as `get`. `*` matches all verbs and must be the only entry.'),
  nonResourceURLs: set(
    6,
    'URL paths that the rule matches, such as `/healthz`. A trailing `/*` matches all subpaths, and `*` matches all paths.',
  ),
}

const nonResourceRule = s.object(nonResourceFields, {
  name: 'NonResourcePolicyRule',
  doc: 'A rule that selects requests for non-resource URLs.',
  check: ({ verbs = [], nonResourceURLs: urls = [] }, path) => [
    ...checkVerbs(verbs, child(path, 'verbs')),
    ...checkUrls(urls, child(path, 'nonResourceURLs')),
  ],
})

const rulesFields = {
  subjects: field(1, s.list(subject), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Users, groups and service accounts whose requests the rule matches. At least one is required.',
  }),
  resourceRules: field(2, s.list(resourceRule), {
    doc: 'Rules for resource requests. Required if `nonResourceRules` is empty.',
  }),
  nonResourceRules: field(3, s.list(nonResourceRule), {
    doc: 'Rules for non-resource requests. Required if `resourceRules` is empty.',
  }),
}

export const policyRulesWithSubjects = s.object(rulesFields, {
  name: 'PolicyRulesWithSubjects',
  doc: 'A rule that selects requests by their sender and by the resource or URL that they access.',
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
