/** IngressSpec defines the routing of external requests by host and path. */
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
/** Substrings that a path of type Exact or Prefix must not contain, because proxies may normalize them. */
const ambiguous = ['//', '/./', '/../', '%2f', '%2F']
const ambiguousEnds = ['/..', '/.']

const pathFields = {
  path: field(1, s.string(), {
    doc: 'Path to match. Must start with `/`, but may be empty if the path type is `ImplementationSpecific`.',
  }),
  pathType: field(3, s.string(), {
    zeroValue: 'keep',
    published: 'required',
    doc: 'How the path is matched: exactly (`Exact`), as a prefix of whole path segments (`Prefix`), or as the ingress controller decides (`ImplementationSpecific`).',
  }),
  backend: field(2, ingressBackend, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Backend to which matching requests are sent.',
  }),
}

const httpPath = s.object(pathFields, {
  name: 'HTTPIngressPath',
  doc: 'A path, and the backend to which requests for this path are sent.',
  fieldsToSkip: ({ pathType }) => (pathType === undefined ? ['backend'] : []),
  check: checkPath,
})

const http = s.object(
  {
    paths: field(1, s.list(httpPath), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Paths and their backends. At least one is required.',
    }),
  },
  {
    name: 'HTTPIngressRuleValue',
    doc: 'Rules that route HTTP requests by path.',
    check: ({ paths = [] }, path) => (paths.length === 0 ? [required(child(path, 'paths'))] : []),
  },
)

const rule = s.object(
  {
    host: field(1, s.string(), {
      doc: 'Host name that the rule matches. If unset, the rule matches all host names. The `*` in a name such as `*.example.com` matches exactly one DNS label.',
    }),
    ...inlined(2, { http: field(1, http, { doc: 'Rules that route HTTP requests for the host.' }) }),
  },
  {
    name: 'IngressRule',
    doc: 'Routing rules for one host.',
    check: ({ host = '' }, path) => (host === '' ? [] : checkRuleHost(host, child(path, 'host'))),
  },
)

const tls = s.object(
  {
    hosts: field(1, s.list(s.string()), { doc: 'Host names that the certificate covers.' }),
    secretName: field(2, s.string(), { doc: 'Name of the Secret with the TLS certificate and its private key.' }),
  },
  {
    name: 'IngressTLS',
    doc: 'A TLS certificate, and the host names for which it is used.',
    check: ({ hosts = [], secretName: name = '' }, path) => [
      ...hosts.flatMap((host, i) => checkHost(host, at(child(path, 'hosts'), i))),
      ...(name === '' ? [] : checkDnsSubdomain(name)).map((fault) => invalid(child(path, 'secretName'), name, fault)),
    ],
  },
)

const specFields = {
  ingressClassName: field(4, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the IngressClass whose controller implements this Ingress.',
  }),
  defaultBackend: field(1, ingressBackend, { doc: 'Backend for requests that match no rule.' }),
  tls: field(2, s.list(tls), { doc: 'TLS certificates, and the host names for which they are used.' }),
  rules: field(3, s.list(rule), {
    doc: 'Routing rules for hosts. Requests that match no rule are sent to the default backend.',
  }),
}

export const ingressSpec = s.object(specFields, {
  name: 'IngressSpec',
  doc: 'Specification of an Ingress: its rules, default backend and TLS settings.',
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
