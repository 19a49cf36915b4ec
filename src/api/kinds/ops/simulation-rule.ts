/**
 * A SimulationRule makes simulated pods or nodes fail on demand. Simulated nodes apply the rules
 * (`cluster/nodes/failures/`). Real nodes ignore them. The loop `simulation-rules` therefore records an Event about
 * each rule that selects a real node.
 */
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../model/field-error.ts'
import { nodeFailures, podFailures } from '../../model/simulated-failures.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { labelSelector } from '../meta/label-selector.ts'

/** Maximum number of names and of namespaces in one rule. A cluster can have more than one rule. */
const maxNames = 1000
const maxDelaySeconds = 86_400

const podNames: readonly string[] = podFailures
const nodeNames: readonly string[] = nodeFailures

const specFields = {
  failure: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Simulated failure. For pods: `crash-loop`, `image-pull-error`, `oom`, `slow-start`, `slow-volumes`, `not-ready`, or `none` to exempt the pods from all failures. For nodes: `down`, `partition` or `disk-pressure`.',
  }),
  namespaces: field(2, s.list(s.string()), {
    doc: 'Namespaces of the selected pods. At most 1000 namespaces. Defaults to all namespaces. Forbidden for node failures.',
  }),
  names: field(3, s.list(s.string()), {
    doc: 'Names of the selected pods or nodes. At most 1000 names. By default, objects are selected regardless of their names.',
  }),
  selector: field(4, labelSelector, {
    doc: 'Label selector for the pods or nodes. By default, objects are selected regardless of their labels.',
  }),
  probabilityPercent: field(5, s.int32(), {
    zeroValue: 'keep',
    default: 100,
    doc: 'Probability that the rule applies to a selected object, in percent from 0 to 100. Defaults to 100.',
  }),
  seed: field(6, s.int64(), {
    doc: 'Seed for the random choice. Rules with the same seed choose the same names. Defaults to 0.',
  }),
  delaySeconds: field(7, s.int32(), {
    doc: 'Delay in seconds, at most 86400. With `crash-loop` and `oom`, the containers exit after the delay, which defaults to 2. With `slow-start`, the containers start after the delay, and with `slow-volumes`, the volumes become available after the delay. In both cases, the delay defaults to 30.',
  }),
}

const spec = s.object(specFields, {
  name: 'SimulationRuleSpec',
  doc: 'Specification of a SimulationRule: a failure, and the pods or nodes that it affects.',
  check: checkSpec,
})

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Simulated failure, and the objects that it affects.' }),
}

export type SimulationRule = ObjectOf<typeof fields>

const columns: readonly Column<SimulationRule>[] = [
  nameColumn,
  column('Failure', 'Simulated failure.', ({ spec: { failure = '' } = {} }) => failure),
  column('Names', 'Names of the affected pods or nodes.', ({ spec: { names = [] } = {} }) =>
    names.length > 3 ? `${names.slice(0, 3).join(',')},...` : names.join(',') || '<any>',
  ),
  {
    ...column(
      'Percent',
      'Probability that the rule applies to a selected object, in percent.',
      ({ spec: { probabilityPercent = 100 } = {} }) => probabilityPercent,
    ),
    type: 'integer',
  },
  ageColumn,
]

export const simulationRule = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'SimulationRule', plural: 'simulationrules', scope: 'Cluster' },
  doc: 'A simulated failure of simulated nodes or of the pods that run on them.',
  fields,
  views: { columns },
})

function checkSpec(value: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const { failure = '', namespaces = [], names = [], probabilityPercent = 100, delaySeconds = 0 } = value
  const isOfNode = nodeNames.includes(failure)
  const at = (name: string) => child(path, name)
  return [
    ...(failure === '' ? [required(at('failure'))] : []),
    ...(failure !== '' && !isOfNode && !podNames.includes(failure)
      ? [notSupported(at('failure'), failure, [...podNames, ...nodeNames])]
      : []),
    ...(isOfNode && namespaces.length > 0 ? [forbidden(at('namespaces'), 'nodes have no namespace')] : []),
    ...[{ namespaces }, { names }].flatMap((list) =>
      Object.entries(list).flatMap(([name, { length }]) =>
        length > maxNames ? [tooMany(at(name), length, maxNames)] : [],
      ),
    ),
    ...(probabilityPercent < 0 || probabilityPercent > 100
      ? [invalid(at('probabilityPercent'), probabilityPercent, 'must be between 0 and 100')]
      : []),
    ...(delaySeconds < 0 || delaySeconds > maxDelaySeconds
      ? [invalid(at('delaySeconds'), delaySeconds, `must be between 0 and ${maxDelaySeconds}`)]
      : []),
  ]
}
