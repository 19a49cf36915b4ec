/**
 * A NetworkPolicy defines the traffic that is allowed to and from the selected pods. Pods that no policy selects may
 * send and receive any traffic.
 */

import { at, child, type FieldError, type FieldPath, invalid, notSupported } from '../../model/field-error.ts'
import { checkPortName } from '../../model/names.ts'
import { rangeWarnings } from '../../model/strict-ip.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { checkPortNumber } from '../core/types/handlers.ts'
import { type Located, strictRangeFaults } from '../core/types/strict-values.ts'
import { countsGeneration } from '../generation.ts'
import { conditions } from '../meta/condition.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { selectorText } from '../meta/selecting.ts'
import { plainStatus } from '../spec-and-status.ts'
import { networkPolicyPeer } from './types/peer.ts'

const policyTypes = ['Egress', 'Ingress']

const portFields = {
  protocol: field(1, s.oneOf('TCP', 'UDP', 'SCTP'), {
    zeroValue: 'keep',
    default: 'TCP',
    doc: 'Transport protocol: `TCP` (the default), `UDP` or `SCTP`.',
  }),
  port: field(2, s.intOrString(), {
    zeroValue: 'keep',
    doc: 'Number or name of the port. If unset, all ports are allowed.',
  }),
  endPort: field(3, s.int32(), {
    zeroValue: 'keep',
    doc: 'Last port of a range that starts at `port`. Requires a numeric `port`, and must not be less than `port`.',
  }),
}

const port = s.object(portFields, {
  name: 'NetworkPolicyPort',
  doc: 'A port or a range of ports that a rule allows.',
  check: (value, path) => [...checkPort(value, child(path, 'port')), ...checkEndPort(value, child(path, 'endPort'))],
})

const ports = field(1, s.list(port), { doc: 'Ports that the rule allows. If empty, all ports are allowed.' })

const ingressRule = s.object(
  {
    ports,
    from: field(2, s.list(networkPolicyPeer), {
      doc: 'Sources from which the rule allows traffic. If empty, traffic is allowed from all sources.',
    }),
  },
  { name: 'NetworkPolicyIngressRule', doc: 'A rule that allows incoming traffic.' },
)

const egressRule = s.object(
  {
    ports,
    to: field(2, s.list(networkPolicyPeer), {
      doc: 'Destinations to which the rule allows traffic. If empty, traffic is allowed to all destinations.',
    }),
  },
  { name: 'NetworkPolicyEgressRule', doc: 'A rule that allows outgoing traffic.' },
)

const specFields = {
  podSelector: field(1, labelSelector, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Label selector for the pods to which the policy applies. An empty selector selects all pods in the namespace.',
  }),
  ingress: field(2, s.list(ingressRule), {
    doc: 'Rules for incoming traffic. Traffic is allowed if at least one rule matches.',
  }),
  egress: field(3, s.list(egressRule), {
    doc: 'Rules for outgoing traffic. Traffic is allowed if at least one rule matches.',
  }),
  policyTypes: field(4, s.list(s.string()), {
    doc: 'Directions of traffic that the policy restricts: `Ingress`, `Egress` or both. Defaults to `Ingress`, or to both if there are egress rules.',
  }),
}

type Spec = InferFields<typeof specFields>

const spec = s.object(specFields, {
  name: 'NetworkPolicySpec',
  doc: 'Specification of a NetworkPolicy: the pods that it selects and the traffic that it allows.',
  fill: (value) => {
    if ((value.policyTypes ?? []).length === 0)
      value.policyTypes = (value.egress ?? []).length === 0 ? ['Ingress'] : ['Ingress', 'Egress']
  },
  check: checkTypes,
})

const status = s.object(
  { conditions: field(1, conditions, { doc: 'Conditions of the NetworkPolicy.' }) },
  { name: 'NetworkPolicyStatus', doc: 'Observed status of a NetworkPolicy.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Pods that the policy selects, and the traffic that it allows.' }),
  status: field(3, status, {
    zeroValue: 'write',
    since: '1.24',
    until: '1.28',
    gate: 'NetworkPolicyStatus',
    doc: 'Observed status, reported by the network provider.',
  }),
}

export type NetworkPolicy = ObjectOf<typeof fields>

export const networkPolicy = defineKind({
  names: {
    group: 'networking',
    version: 'v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    scope: 'Namespaced',
    faultGroup: { name: 'extensions', until: '1.29' },
  },
  doc: 'Restricts the network traffic that the selected pods may send and receive.',
  fields,
  rules: countsGeneration(({ spec }: NetworkPolicy) => spec, {
    validateCreate: (next, context) => strictRangeFaults({ next: rangesOf(next) }, context),
    validateUpdate: (next, previous, context) =>
      strictRangeFaults({ next: rangesOf(next), previous: rangesOf(previous) }, context),
    warnings: (next, _, context) =>
      isAtLeast(emulationOf(context).version, '1.33')
        ? rangesOf(next).flatMap(([path, text]) => rangeWarnings(path, text))
        : [],
  }),
  views: {
    subresources: { status: { ...plainStatus, since: '1.24', until: '1.28', gate: 'NetworkPolicyStatus' } },
    columns: [
      nameColumn,
      column(
        'Pod-Selector',
        'Label selector for the pods to which the policy applies.',
        ({ spec }: NetworkPolicy) => selectorText(spec?.podSelector) || '<none>',
      ),
      ageColumn,
    ],
  },
})

/** Returns the IP ranges of all rules of a policy, with their paths. */
function rangesOf({ spec }: NetworkPolicy): Located[] {
  const rules = [
    ...(spec?.ingress ?? []).map(({ from = [] }, i) => [`spec.ingress[${i}].from`, from] as const),
    ...(spec?.egress ?? []).map(({ to = [] }, i) => [`spec.egress[${i}].to`, to] as const),
  ]
  return rules.flatMap(([path, peers]) =>
    peers.flatMap(({ ipBlock: { cidr = '', except = [] } = {} }, i): Located[] => [
      [`${path}[${i}].ipBlock.cidr`, cidr],
      ...except.map((text, j): Located => [`${path}[${i}].ipBlock.except[${j}]`, text]),
    ]),
  )
}

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
