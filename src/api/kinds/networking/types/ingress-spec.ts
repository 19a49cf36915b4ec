/** IngressSpec: which requests from outside go where, by host and path. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { parseIp } from '../../../model/ip-range.ts'
import { checkDnsSubdomain, checkWildcardSubdomain } from '../../../model/names.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'
import { ingressBackend } from './backend.ts'

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
/** What a path may not have that is compared step by step: it would mean another path to some. */
const ambiguous = ['//', '/./', '/../', '%2f', '%2F']
const ambiguousEnds = ['/..', '/.']

const pathFields = {
  path: field(1, s.string(), { doc: 'The path, from the root.' }),
  pathType: field(3, s.string(), {
    zero: 'keep',
    published: 'required',
    doc: 'How it is compared: Exact, Prefix (step by step), or ImplementationSpecific, as the class has it.',
  }),
  backend: field(2, ingressBackend, { zero: 'write', published: 'required', doc: 'Where the requests go.' }),
}

const httpPath = s.object(pathFields, {
  name: 'HTTPIngressPath',
  doc: 'Requests for a path, and where they go.',
  leavesUnjudged: ({ pathType }) => (pathType === undefined ? ['backend'] : []),
  check: checkPath,
})

const http = s.object(
  {
    paths: field(1, s.list(httpPath), {
      zero: 'write',
      published: 'required',
      doc: 'The paths, and where requests for them go.',
    }),
  },
  {
    name: 'HTTPIngressRuleValue',
    doc: 'Where requests go by their path.',
    check: ({ paths = [] }, path) => (paths.length === 0 ? [required(child(path, 'paths'))] : []),
  },
)

const rule = s.object(
  {
    host: field(1, s.string(), {
      doc: 'The requested host; every host if unset. `*.example.com` matches one more label.',
    }),
    ...inlined(2, { http: field(1, http, { doc: 'Where requests for it go.' }) }),
  },
  {
    name: 'IngressRule',
    doc: 'Requests for a host, and where they go.',
    check: ({ host = '' }, path) => (host === '' ? [] : checkRuleHost(host, child(path, 'host'))),
  },
)

const tls = s.object(
  {
    hosts: field(1, s.list(s.string()), { doc: 'The hosts that the certificate is for.' }),
    secretName: field(2, s.string(), { doc: 'The Secret with the certificate and its key.' }),
  },
  {
    name: 'IngressTLS',
    doc: 'A certificate for hosts.',
    check: ({ hosts = [], secretName: name = '' }, path) => [
      ...hosts.flatMap((host, i) => checkHost(host, at(child(path, 'hosts'), i))),
      ...(name === '' ? [] : checkDnsSubdomain(name)).map((fault) => invalid(child(path, 'secretName'), name, fault)),
    ],
  },
)

const specFields = {
  ingressClassName: field(4, s.string(), { zero: 'keep', doc: 'The IngressClass of the controller in charge.' }),
  defaultBackend: field(1, ingressBackend, { doc: 'Where requests go that no rule is for.' }),
  tls: field(2, s.list(tls), { doc: 'The certificates to use, by host.' }),
  rules: field(3, s.list(rule), { doc: 'Which requests go where.' }),
}

export const ingressSpec = s.object(specFields, {
  name: 'IngressSpec',
  doc: 'Which requests go where.',
  check: checkSpec,
})

function checkSpec(spec: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const { defaultBackend, rules = [], ingressClassName: name } = spec
  const nothing = defaultBackend === undefined && rules.length === 0
  const nameFaults = name === undefined ? [] : checkDnsSubdomain(name)
  return [
    ...(nothing ? [invalid(path, [], 'either `defaultBackend` or `rules` must be specified')] : []),
    ...nameFaults.map((fault) => invalid(child(path, 'ingressClassName'), name, fault)),
  ]
}

function checkRuleHost(host: string, path: FieldPath): FieldError[] {
  const isAddress = parseIp(host) !== undefined
  return [
    ...(isAddress ? [invalid(path, host, 'must be a DNS name, not an IP address')] : []),
    ...checkHost(host, path),
  ]
}

function checkHost(host: string, path: FieldPath): FieldError[] {
  const check = host.includes('*') ? checkWildcardSubdomain : checkDnsSubdomain
  return check(host).map((fault) => invalid(path, host, fault))
}

function checkPath({ path = '', pathType }: InferFields<typeof pathFields>, place: FieldPath): FieldError[] {
  const typePlace = child(place, 'pathType')
  if (pathType === undefined) return [required(typePlace, 'pathType must be specified')]
  if (!pathTypes.includes(pathType)) return [notSupported(typePlace, pathType, pathTypes)]
  const pathPlace = child(place, 'path')
  const isLoose = pathType === 'ImplementationSpecific'
  const isAbsolute = path.startsWith('/') || (isLoose && path === '')
  return [
    ...(isAbsolute ? [] : [invalid(pathPlace, path, 'must be an absolute path')]),
    ...(isLoose ? [] : checkUnambiguous(path, pathPlace)),
  ]
}

function checkUnambiguous(path: string, place: FieldPath): FieldError[] {
  return [
    ...ambiguous
      .filter((part) => path.includes(part))
      .map((part) => invalid(place, path, `must not contain '${part}'`)),
    ...ambiguousEnds.filter((end) => path.endsWith(end)).map((end) => invalid(place, path, `cannot end with '${end}'`)),
  ]
}
