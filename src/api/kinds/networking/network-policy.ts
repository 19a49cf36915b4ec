/** NetworkPolicy: which traffic the pods that it selects may have. Without any for a pod, it may have all. */
import { at, child, type FieldError, type FieldPath, invalid, notSupported } from '../../model/field-error.ts'
import { checkPortName } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkPortNumber } from '../core/types/handlers.ts'
import { countsGeneration } from '../generation.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { selectorText } from '../meta/selecting.ts'
import { networkPolicyPeer } from './types/peer.ts'

const policyTypes = ['Egress', 'Ingress']

const portFields = {
  protocol: field(1, s.oneOf('TCP', 'UDP', 'SCTP'), {
    zero: 'keep',
    default: 'TCP',
    doc: 'TCP, the default, UDP or SCTP.',
  }),
  port: field(2, s.intOrString(), { zero: 'keep', doc: 'The port, by number or by name; all if unset.' }),
  endPort: field(3, s.int32(), { zero: 'keep', doc: 'The last port of a range that begins with port.' }),
}

const port = s.object(portFields, {
  name: 'NetworkPolicyPort',
  doc: 'A port, or a range of ports.',
  check: (value, path) => [...checkPort(value, child(path, 'port')), ...checkEndPort(value, child(path, 'endPort'))],
})

const ports = field(1, s.list(port), { doc: 'The ports; all if there are none.' })

const ingressRule = s.object(
  {
    ports,
    from: field(2, s.list(networkPolicyPeer), { doc: 'Where it may come from; anywhere if nothing is named.' }),
  },
  { name: 'NetworkPolicyIngressRule', doc: 'Traffic that may come in.' },
)

const egressRule = s.object(
  { ports, to: field(2, s.list(networkPolicyPeer), { doc: 'The allowed destinations; everywhere if unset.' }) },
  { name: 'NetworkPolicyEgressRule', doc: 'Outgoing traffic that is allowed.' },
)

const specFields = {
  podSelector: field(1, labelSelector, {
    zero: 'write',
    published: 'required',
    doc: 'The pods that it is for, by labels. An empty one selects all of the namespace.',
  }),
  ingress: field(2, s.list(ingressRule), { doc: 'What may come in.' }),
  egress: field(3, s.list(egressRule), { doc: 'The outgoing traffic that is allowed.' }),
  policyTypes: field(4, s.list(s.string()), {
    doc: 'What it rules: Ingress, Egress or both. By default Ingress, and Egress where there are rules for that.',
  }),
}

type Spec = InferFields<typeof specFields>

const spec = s.object(specFields, {
  name: 'NetworkPolicySpec',
  doc: 'Which pods may have which traffic.',
  fill: (value) => {
    if ((value.policyTypes ?? []).length === 0)
      value.policyTypes = (value.egress ?? []).length === 0 ? ['Ingress'] : ['Ingress', 'Egress']
  },
  check: checkTypes,
})

const fields = { spec: field(2, spec, { zero: 'write', doc: 'Which pods may have which traffic.' }) }

export type NetworkPolicy = ObjectOf<typeof fields>

export const networkPolicy = defineKind({
  names: {
    group: 'networking',
    version: 'v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    scope: 'Namespaced',
    faultGroup: 'extensions',
  },
  doc: 'Which traffic the pods that it selects may have.',
  fields,
  rules: countsGeneration(({ spec }: NetworkPolicy) => spec),
  views: {
    columns: [
      nameColumn,
      column(
        'Pod-Selector',
        'The pods that it is for.',
        ({ spec }: NetworkPolicy) => selectorText(spec?.podSelector) || '<none>',
      ),
      ageColumn,
    ],
  },
})

type Port = InferFields<typeof portFields>

function checkPort({ port }: Port, path: FieldPath): FieldError[] {
  if (port === undefined) return []
  if (typeof port === 'number') return checkPortNumber(port, path)
  return checkPortName(port).map((fault) => invalid(path, port, fault))
}

function checkEndPort({ port, endPort }: Port, path: FieldPath): FieldError[] {
  if (endPort === undefined) return []
  if (port === undefined) return [invalid(path, endPort, 'may not be specified when `port` is not specified')]
  if (typeof port === 'string') return [invalid(path, endPort, 'may not be specified when `port` is non-numeric')]
  return [
    ...(endPort < port ? [invalid(path, endPort, 'must be greater than or equal to `port`')] : []),
    ...checkPortNumber(endPort, path),
  ]
}

function checkTypes({ policyTypes: types = [] }: Spec, path: FieldPath): FieldError[] {
  const place = child(path, 'policyTypes')
  if (types.length > policyTypes.length) return [invalid(place, types, 'may not specify more than two policyTypes')]
  return types.flatMap((type, i) => (policyTypes.includes(type) ? [] : [notSupported(at(place, i), type, policyTypes)]))
}
