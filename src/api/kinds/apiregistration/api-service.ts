/**
 * An APIService defines the backend of one version of an API group. Without a Service, this server serves the version
 * itself and maintains the APIService (`apiserver/upkeep/api-services.ts`). With a Service, this server proxies
 * requests to the Service (`apiserver/aggregation/`).
 */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { checkDns1035Label, checkDnsSubdomain, checkPathSegment } from '../../model/names.ts'
import { timestamp } from '../../model/object.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionsOf } from '../conditions.ts'
import { specAndStatus, statusAlone } from '../spec-and-status.ts'

const highestGroupPriority = 20_000
const highestVersionPriority = 1000

const serviceFields = {
  namespace: field(1, s.string(), { doc: 'Namespace of the Service.' }),
  name: field(2, s.string(), { doc: 'Name of the Service.' }),
  port: field(3, s.int32(), {
    zeroValue: 'keep',
    default: 443,
    doc: 'Port of the Service, from 1 to 65535. Defaults to 443.',
  }),
}

const service = s.object(serviceFields, { name: 'ServiceReference', doc: 'Reference to a Service and its port.' })

const specFields = {
  service: field(1, service, {
    doc: 'Service that serves the API version. If unset, this server serves the API version itself.',
  }),
  group: field(2, s.string(), { doc: 'Name of the API group. Empty for the core group.' }),
  version: field(3, s.string(), { doc: 'API version, such as v1.' }),
  insecureSkipTLSVerify: field(4, s.boolean(), {
    doc: "Whether to skip verification of the Service's certificate, which is insecure. Must be false if `caBundle` is set.",
  }),
  caBundle: field(5, s.bytes({ atomic: true }), {
    doc: "PEM bundle of CA certificates for verifying the Service's certificate. Defaults to the system's trusted CAs.",
  }),
  groupPriorityMinimum: field(7, s.int32(), {
    zeroValue: 'write',
    doc: 'Priority of the API group, from 1 to 20000. Clients prefer groups with higher values.',
  }),
  versionPriority: field(8, s.int32(), {
    zeroValue: 'write',
    doc: 'Priority of the version within its API group, from 1 to 1000. Clients prefer versions with higher values.',
  }),
}

const spec = s.object(specFields, {
  name: 'APIServiceSpec',
  doc: 'Specification of an APIService: the API group and version, the backend that serves them, and their priorities.',
  check: checkSpec,
})

const status = s.object(
  {
    conditions: field(1, conditionsOf('APIServiceCondition', 'APIService'), {
      doc: 'Current conditions of the APIService. The Available condition reports whether the backend is reachable.',
    }),
  },
  { name: 'APIServiceStatus', doc: 'Observed status of an APIService.' },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    doc: 'API group and version, the backend that serves them, and their priorities.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the APIService, set by the server.' }),
}

export type APIService = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>

export const apiService = defineKind({
  names: {
    group: 'apiregistration',
    version: 'v1',
    kind: 'APIService',
    plural: 'apiservices',
    categories: ['api-extensions'],
    scope: 'Cluster',
    nameFormat: checkPathSegment,
  },
  doc: 'Registers the server that handles requests for one version of an API group.',
  fields,
  rules: specAndStatus<APIService>({
    newStatus: ({ spec }, { now }) => (spec?.service === undefined ? { conditions: [local(now)] } : {}),
    validate: checkName,
    validateUpdate: ({ status: { conditions = [] } = {} }) =>
      conditions.flatMap(({ status: value = '' }, i) =>
        states.includes(value) ? [] : [notSupported(`status.conditions[${i}].status`, value, states)],
      ),
  }),
  lifecycle: { needsVersion: true, plainFinalizers: true },
  views: {
    columns: [
      nameColumn,
      column(
        'Service',
        'Service that serves the API version, or `Local` if this server serves it.',
        ({ spec }: APIService) => servedBy(spec),
      ),
      column('Available', 'Whether the backend is available, and the reason if it is not.', availability),
      ageColumn,
    ],
    subresources: { status: statusAlone },
  },
})

const states = ['True', 'False', 'Unknown']

function local(now: number) {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime: timestamp(now),
    reason: 'Local',
    message: 'this server serves the version itself, so it is always available',
  }
}

function servedBy({ service }: Spec = {}): string {
  return service === undefined ? 'Local' : `${service.namespace}/${service.name}`
}

function availability({ status }: APIService): string {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  if (available === undefined) return 'Unknown'
  return available.status === 'True' ? 'True' : `${available.status} (${available.reason ?? ''})`
}

/** Validates `metadata.name` and, if set, `metadata.generateName`. Both must have the form `<version>.<group>`. */
function checkName({ metadata, spec: { group = '', version = '' } = {} }: APIService): FieldError[] {
  const expectedName = `${version}.${group}`
  return (['name', 'generateName'] as const).flatMap((member) => {
    const text = metadata[member] ?? (member === 'name' ? '' : expectedName)
    if (text === expectedName || checkPathSegment(text).length > 0) return []
    const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expectedName)}`
    return [invalid(child('metadata', member), text, why)]
  })
}

function checkSpec(value: Spec, path: FieldPath): FieldError[] {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = value
  const at = (name: keyof typeof specFields) => child(path, name)
  return [
    ...(group === '' && version !== 'v1' ? [required(at('group'), 'only v1 is a version of the core group')] : []),
    ...(group === '' ? [] : checkDnsSubdomain(group).map((fault) => invalid(at('group'), group, fault))),
    ...checkDns1035Label(version).map((fault) => invalid(at('version'), version, fault)),
    ...checkPriority(groupPriorityMinimum, highestGroupPriority, at('groupPriorityMinimum')),
    ...checkPriority(versionPriority, highestVersionPriority, at('versionPriority')),
    ...(value.service === undefined ? checkLocal(value, path) : checkRemote(value, path)),
  ]
}

function checkPriority(value: number, highest: number, path: FieldPath): FieldError[] {
  return value > 0 && value <= highest ? [] : [invalid(path, value, `must be positive and at most ${highest}`)]
}

/** Rejects TLS settings in an APIService without a Service, because such an APIService has no TLS connection. */
function checkLocal({ caBundle = '', insecureSkipTLSVerify = false }: Spec, path: FieldPath): FieldError[] {
  const bytes = Buffer.byteLength(caBundle, 'base64')
  return [
    ...(caBundle === '' ? [] : [invalid(child(path, 'caBundle'), `${bytes} bytes`, 'requires a service')]),
    ...(insecureSkipTLSVerify ? [invalid(child(path, 'insecureSkipTLSVerify'), true, 'requires a service')] : []),
  ]
}

function checkRemote({ service = {}, caBundle = '', insecureSkipTLSVerify }: Spec, path: FieldPath): FieldError[] {
  const place = child(path, 'service')
  const { namespace = '', name = '', port = 443 } = service
  return [
    ...(namespace === '' ? [required(child(place, 'namespace'))] : []),
    ...(name === '' ? [required(child(place, 'name'))] : []),
    ...(port >= 1 && port <= 65535
      ? []
      : [invalid(child(place, 'port'), port, 'port is not valid: must be between 1 and 65535, inclusive')]),
    ...(insecureSkipTLSVerify && caBundle !== ''
      ? [invalid(child(path, 'insecureSkipTLSVerify'), true, 'may not be true if caBundle is present')]
      : []),
  ]
}
