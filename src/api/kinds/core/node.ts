/**
 * A Node is a machine that runs pods. The node agent creates the Node and reports its status, and administrators set
 * labels and taints. The pod address ranges and the provider ID can be set only once.
 */

import { isObject, type Json, sameJson } from '../../json/json.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  maxFaults,
  notJudged,
  required,
} from '../../model/field-error.ts'
import { familyOfRange } from '../../model/ip-address.ts'
import { rangeWarnings } from '../../model/strict-ip.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { keep, plainStatus, specAndStatus } from '../spec-and-status.ts'
import { nodeConfigSource } from './types/node-config.ts'
import { type NodeStatus, nodeStatus } from './types/node-status.ts'
import { repeatedAt } from './types/repeated.ts'
import type { ResourceList } from './types/resource-list.ts'
import { checkResourceAmount } from './types/resource-names.ts'
import { type Located, strictRangeFaults } from './types/strict-values.ts'
import { checkTaints, taint } from './types/taint.ts'

const specFields = {
  podCIDR: field(1, s.string(), {
    doc: 'IP address range for pods on this node, in CIDR notation. Must equal the first entry in `podCIDRs`.',
  }),
  podCIDRs: field(7, s.list(s.string(), { list: 'set', patch: 'merge' }), {
    doc: 'IP address ranges for pods on this node, in CIDR notation. At most one range per IP family. Immutable once set.',
  }),
  providerID: field(3, s.string(), {
    doc: 'ID that the cloud provider assigned to the node, in the form `<provider>://<id>`. Immutable once set.',
  }),
  unschedulable: field(4, s.boolean(), {
    doc: 'Whether the node is unschedulable. The scheduler does not place new pods on an unschedulable node.',
  }),
  taints: field(5, s.list(taint), {
    doc: 'Taints of the node. They repel pods that do not have a matching toleration.',
  }),
  configSource: field(6, nodeConfigSource, {
    gate: 'DynamicKubeletConfig',
    doc: "Source of the node agent's configuration. Requires the DynamicKubeletConfig feature gate, which has been removed.",
  }),
  externalID: field(2, s.string(), { doc: 'External ID of the node. Deprecated and unused.' }),
}

type NodeSpec = InferFields<typeof specFields>

const spec = s.object(specFields, { name: 'NodeSpec', doc: 'Specification of a Node.', fill: agreeOnRanges })

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired configuration of the node.' }),
  status: field(3, nodeStatus, { zeroValue: 'write', doc: 'Observed status, reported by the node agent.' }),
}

export type Node = ObjectOf<typeof fields>

const info = (name: string, doc: string, of: (status: NodeStatus) => string | undefined) =>
  column<Node>(name, doc, ({ status = {} }) => of(status) || '<unknown>', 1)

function kernelOf({ nodeInfo: { kernelVersion, architecture } = {} }: NodeStatus): string | undefined {
  return kernelVersion && architecture ? `${kernelVersion} (${architecture})` : kernelVersion
}

const columns: readonly Column<Node>[] = [
  nameColumn,
  column('Status', 'Whether the node is ready, and whether scheduling is disabled.', stateOf),
  column(
    'Roles',
    'Roles of the node, derived from its labels.',
    (node, _, vendor) => rolesOf(node, vendor) || '<none>',
  ),
  ageColumn,
  column('Version', 'Version of the node agent (kubelet).', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  column('Internal-IP', 'Internal IP address of the node.', (node) => addressOf(node, 'InternalIP'), 1),
  column('External-IP', 'External IP address of the node.', (node) => addressOf(node, 'ExternalIP'), 1),
  info('OS-Image', 'Operating system of the node.', ({ nodeInfo }) => nodeInfo?.osImage),
  {
    ...info('Kernel-Version', 'Kernel version of the node.', ({ nodeInfo }) => nodeInfo?.kernelVersion),
    until: '1.35',
  },
  { ...info('Kernel-Version', 'Kernel version and architecture of the node.', kernelOf), since: '1.35' },
  info(
    'Container-Runtime',
    'Container runtime of the node, and its version.',
    ({ nodeInfo }) => nodeInfo?.containerRuntimeVersion,
  ),
]

export const node = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Node',
    plural: 'nodes',
    shortNames: ['no'],
    scope: 'Cluster',
  },
  doc: 'A machine that runs pods.',
  fields,
  rules: specAndStatus<Node>({
    prepareForCreate: ({ status }) => void delete status?.config,
    warnings: (next, _, context) => warningsFor(next, context),
    validate: (object, context) => [
      ...checkAvoidedPods(object, context.vendor),
      ...checkAmounts(object.status ?? {}, context.vendor),
      ...checkSpec(object, context),
    ],
    validateCreate: (next, context) => [
      ...strictRangeFaults({ next: rangesOf(next) }, context),
      ...checkFeatures(next.status ?? {}),
    ],
    validateUpdate: (next, previous, context) => [
      ...checkFeatures(next.status ?? {}),
      ...strictRangeFaults({ next: rangesOf(next), previous: rangesOf(previous) }, context),
      ...checkAddresses(next.status ?? {}),
      ...checkSetOnce(next.spec ?? {}, previous.spec ?? {}),
    ],
  }),
  views: {
    columns,
    subresources: {
      status: {
        ...plainStatus,
        prepareForUpdate: (next: Node, previous: Node) => {
          keep(next, previous, 'spec')
          delete next.status?.config
        },
      },
    },
    selectable: ({ spec }) => ({ 'spec.unschedulable': String(spec?.unschedulable ?? false) }),
  },
})

/** Sets the older field `podCIDR` to the first entry of `podCIDRs`. Modifies the spec in place. */
function agreeOnRanges(spec: NodeSpec): void {
  const { podCIDR, podCIDRs = [] } = spec
  if (podCIDR !== undefined && podCIDRs[0] !== podCIDR) spec.podCIDRs = [podCIDR]
  else if (podCIDR === undefined && podCIDRs[0]) spec.podCIDR = podCIDRs[0]
}

function stateOf({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return spec?.unschedulable ? `${state},SchedulingDisabled` : state
}

/**
 * Returns the roles of a node: the suffixes of labels such as `node-role.orch.io/worker`, and the value of the label
 * `orch.io/role`.
 */
function rolesOf({ metadata }: Node, vendor: Vendor): string {
  const prefix = vendorKey(vendor, '', 'node-role')
  const { labels = {} } = metadata
  const ends = Object.keys(labels).filter((key) => key.startsWith(prefix))
  const roles = [...ends.map((key) => key.slice(prefix.length)), labels[vendorKey(vendor, 'role')] ?? '']
  return [...new Set(roles.filter((role) => role !== ''))].sort().join(',')
}

function addressOf({ status }: Node, addressType: string): string {
  return status?.addresses?.find(({ type }) => type === addressType)?.address ?? '<none>'
}

/** Validates the spec of a node, except in status updates, which cannot change the spec. */
function checkSpec({ spec = {} }: Node, { subresource }: RuleContext): FieldError[] {
  if (subresource !== '') return []
  return [...checkTaints(spec.taints ?? [], 'metadata.taints'), ...checkRanges(spec.podCIDRs ?? [], 'spec.podCIDRs')]
}

function checkRanges(ranges: readonly string[], path: FieldPath): FieldError[] {
  const families = ranges.map(familyOfRange)
  const unreadable = families.includes(undefined)
  const [one, other] = families
  const surplus = ranges.length > 1 && (unreadable || ranges.length > 2 || one === other)
  return [
    ...ranges
      .slice(0, maxFaults)
      .flatMap((_, i) => (families[i] === undefined ? [invalid(at(path, i), ranges[i], 'must be valid CIDR')] : [])),
    ...(ranges.length > 1 && unreadable ? [notJudged(path, 'the IP families of the ranges are unknown')] : []),
    ...(surplus ? [invalid(path, [...ranges], 'may specify no more than one CIDR for each IP family')] : []),
    ...[...repeatedAt(ranges)].slice(0, maxFaults).map((i) => duplicate(at(path, i), ranges[i])),
  ]
}

function checkAmounts({ capacity, allocatable }: NodeStatus, vendor: Vendor): FieldError[] {
  const errors: FieldError[] = []
  const checkList = (list: ResourceList, path: FieldPath) => {
    for (const name of Object.keys(list)) {
      if (errors.length >= maxFaults) return
      errors.push(...checkResourceAmount([name, list[name]!], child(path, name), vendor))
    }
  }
  checkList(capacity ?? {}, 'status.capacity')
  checkList(allocatable ?? {}, 'status.allocatable')
  return errors
}

function rangesOf({ spec }: Node): Located[] {
  return (spec?.podCIDRs ?? []).map((text, i): Located => [at('spec.podCIDRs', i), text])
}

const featureName = /^[A-Z][A-Za-z0-9]*(?:\/[A-Za-z0-9]+)*$/

/** Requires the declared features of a node to be sorted and to have names such as `MyFeature/part`. */
function checkFeatures({ declaredFeatures: names = [] }: NodeStatus): FieldError[] {
  const path = 'status.declaredFeatures'
  return names.slice(0, maxFaults).flatMap((name, i) => {
    const before = names[i - 1]
    return [
      ...(featureName.test(name) ? [] : [invalid(at(path, i), name, 'must be a feature name, such as MyFeature')]),
      ...(name === before ? [duplicate(at(path, i), name)] : []),
      ...(before !== undefined && name < before ? [invalid(at(path, i), name, 'must be sorted alphabetically')] : []),
    ]
  })
}

/**
 * Returns warnings about a node. Since 1.26, there are warnings about deprecated fields, and since 1.33 about address
 * ranges that are not in canonical form.
 */
function warningsFor(node: Node, context: RuleContext): string[] {
  const { version } = emulationOf(context)
  if (context.subresource !== '' || !isAtLeast(version, '1.26')) return []
  const { spec = {} } = node
  return [
    ...(spec.externalID ? ['spec.externalID: deprecated and without function'] : []),
    ...(isAtLeast(version, '1.33') ? rangesOf(node).flatMap(([path, text]) => rangeWarnings(path, text)) : []),
  ]
}

function checkAddresses({ addresses = [] }: NodeStatus): FieldError[] {
  const repeated = repeatedAt(addresses.map(({ type = '', address = '' }) => `${type} ${address}`))
  return [...repeated].map((i) => duplicate(at('status.addresses', i), addresses[i]))
}

function checkSetOnce(next: NodeSpec, previous: NodeSpec): FieldError[] {
  const { podCIDRs: ranges = [], providerID = '', externalID } = previous
  const sameRanges = ranges.length === 0 || sameJson(next.podCIDRs ?? [], ranges)
  return [
    ...(sameRanges ? [] : [forbidden('spec.podCIDRs', 'may not change once it is set')]),
    ...(providerID === '' || next.providerID === providerID
      ? []
      : [forbidden('spec.providerID', 'may not change once it is set')]),
    ...(next.externalID === externalID ? [] : [forbidden('spec.externalID', 'may not be updated')]),
  ]
}

/**
 * Validates the preferAvoidPods annotation. Its value is JSON that asks schedulers not to place pods of certain
 * controllers on the node.
 */
function checkAvoidedPods({ metadata }: Node, vendor: Vendor): FieldError[] {
  const key = vendorKey(vendor, 'preferAvoidPods', 'scheduler.alpha')
  const text = metadata.annotations?.[key] ?? ''
  if (text === '') return []
  const path = child('metadata.annotations', key)
  const entries = avoidedPods(text)
  if (entries === undefined)
    return [invalid('metadata.annotations.AvoidPods', key, 'must be a JSON document that lists the pods to avoid')]
  return entries.slice(0, maxFaults).flatMap((entry, i) => checkAvoided(entry, child(at(path, i), 'PodSignature')))
}

/**
 * Parses the preferAvoidPods annotation. Returns undefined if the text is not valid JSON with the expected structure.
 */
function avoidedPods(text: string): Json[] | undefined {
  try {
    const value = JSON.parse(text) as Json
    const entries = isObject(value) ? (value.preferAvoidPods ?? []) : undefined
    return Array.isArray(entries) ? entries : undefined
  } catch {
    return undefined
  }
}

function checkAvoided(entry: Json, path: FieldPath): FieldError[] {
  const signature = isObject(entry) ? entry.podSignature : undefined
  const owner = isObject(signature) ? signature.podController : undefined
  if (!isObject(owner)) return [required(path)]
  if (owner.controller === true) return []
  return [invalid(`${path}.PodController.Controller`, owner.controller, 'must point to a controller')]
}
