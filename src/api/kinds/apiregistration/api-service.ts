/**
 * APIService: who serves a version of a group. Without a Service it is this server itself, which registers whatever it
 * serves (`apiserver/upkeep/api-services.ts`); with one, requests are passed on to it (`aggregation/`).
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
  namespace: field(1, s.string(), { doc: 'The namespace of the Service.' }),
  name: field(2, s.string(), { doc: 'The name of the Service.' }),
  port: field(3, s.int32(), { zero: 'keep', default: 443, doc: 'The port of the Service; 443 by default.' }),
}

const service = s.object(serviceFields, { name: 'ServiceReference', doc: 'A Service, and its port.' })

const specFields = {
  service: field(1, service, { doc: 'The Service that serves the version; this server itself if unset.' }),
  group: field(2, s.string(), { doc: 'The name of the group.' }),
  version: field(3, s.string(), { doc: 'The version of the group.' }),
  insecureSkipTLSVerify: field(4, s.boolean(), { doc: 'Whether any certificate of the Service is believed.' }),
  caBundle: field(5, s.bytes({ atomic: true }), {
    doc: "The CA bundle that verifies the Service's certificate, as PEM.",
  }),
  groupPriorityMinimum: field(7, s.int32(), {
    zero: 'write',
    doc: 'Groups with more come first, where clients look for a name in all of them; from 1 to 20000.',
  }),
  versionPriority: field(8, s.int32(), {
    zero: 'write',
    doc: 'Versions with more come first in their group; from 1 to 1000.',
  }),
}

const spec = s.object(specFields, {
  name: 'APIServiceSpec',
  doc: 'The group and version, the Service that serves it, and its place in the order.',
  check: checkSpec,
})

const status = s.object(
  { conditions: field(1, conditionsOf('APIServiceCondition', 'APIService'), { doc: 'Whether it can be reached.' }) },
  { name: 'APIServiceStatus', doc: 'What is known of its state.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The group and version, and the Service that serves it.' }),
  status: field(3, status, { zero: 'write', doc: 'What is known of its state. Set by the server.' }),
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
    form: checkPathSegment,
  },
  doc: 'The server of one version of an API group.',
  fields,
  rules: specAndStatus<APIService>({
    newStatus: ({ spec }, { now }) => (spec?.service === undefined ? { conditions: [local(now)] } : {}),
    validate: checkName,
    validateUpdate: ({ status: { conditions = [] } = {} }) =>
      conditions.flatMap(({ status: value = '' }, i) =>
        states.includes(value) ? [] : [notSupported(`status.conditions[${i}].status`, value, states)],
      ),
  }),
  life: { needsVersion: true, plainFinalizers: true },
  views: {
    columns: [
      nameColumn,
      column('Service', 'Who serves the version.', ({ spec }: APIService) => servedBy(spec)),
      column('Available', 'Whether it can be reached, and if not, why.', availability),
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
    message: 'this server serves it itself, so it is there whenever the server is',
  }
}

function servedBy({ service }: Spec = {}): string {
  return service === undefined ? 'Local' : `${service.namespace}/${service.name}`
}

function availability({ status }: APIService): string {
  const known = status?.conditions?.find(({ type }) => type === 'Available')
  if (known === undefined) return 'Unknown'
  return known.status === 'True' ? 'True' : `${known.status} (${known.reason ?? ''})`
}

/** Both are held to it, the name and the start of one. */
function checkName({ metadata, spec: { group = '', version = '' } = {} }: APIService): FieldError[] {
  const wanted = `${version}.${group}`
  return (['name', 'generateName'] as const).flatMap((member) => {
    const text = metadata[member] ?? (member === 'name' ? '' : wanted)
    if (text === wanted || checkPathSegment(text).length > 0) return []
    const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`
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

/** Nobody else is asked, so there is nobody to believe. */
function checkLocal({ caBundle = '', insecureSkipTLSVerify = false }: Spec, path: FieldPath): FieldError[] {
  const bytes = Buffer.byteLength(caBundle, 'base64')
  return [
    ...(caBundle === ''
      ? []
      : [invalid(child(path, 'caBundle'), `${bytes} bytes`, 'there is no Service that it could be for')]),
    ...(insecureSkipTLSVerify
      ? [invalid(child(path, 'insecureSkipTLSVerify'), true, 'there is no Service that it could be for')]
      : []),
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
