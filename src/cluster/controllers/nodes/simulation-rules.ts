/**
 * Reports SimulationRules that have no effect because they select a real node. Such a node runs real containers and
 * ignores the rules. The loop records an Event about each rule that selects a real node or a pod on a real node.
 */
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { SimulationRule } from '../../../api/kinds/ops/simulation-rule.ts'
import { simulatedNodeAnnotation } from '../../../api/model/simulated-failures.ts'
import { apiVersionOf, type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { nodeRuleOf, podRuleOf } from '../../failures/compile-rule.ts'

export interface SimulationRuleParts {
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly rules: Informer<SimulationRule>
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
}

/** Maximum number of objects that an Event names. */
const maxNames = 5
/** Estimated time for comparing one rule with one object, in microseconds. */
const matchCost = 4

/** The objects for which a rule is ignored: the first few names, and the total number of objects. */
interface Ignoring {
  readonly names: readonly string[]
  readonly count: number
}

export function simulationRulesLoop({ recorder, vendor, rules, nodes, pods }: SimulationRuleParts): Loop {
  const simulated = vendorKey(vendor, simulatedNodeAnnotation, 'simulation')
  const isReal = (node: Node | undefined) => node !== undefined && node.metadata.annotations?.[simulated] === undefined
  const ruleNames = () => Array.from(rules.objects(), ({ metadata }) => metadata.name ?? '')
  const ignoring = async (rule: SimulationRule): Promise<Ignoring> => {
    const [podRule, nodeRule] = [podRuleOf(rule), nodeRuleOf(rule)]
    const timeSlice = new TimeSlice()
    const names: string[] = []
    let count = 0
    const note = (name: string) => {
      if (count++ < maxNames) names.push(name)
    }
    if (nodeRule !== undefined)
      for (const node of nodes.objects()) {
        if (timeSlice.charge(matchCost)) await timeSlice.yieldIfDue()
        if (isReal(node) && nodeRule.matches(node)) note(`node ${node.metadata.name}`)
      }
    if (podRule !== undefined && [...nodes.objects()].some(isReal))
      for (const pod of pods.objects()) {
        if (timeSlice.charge(matchCost)) await timeSlice.yieldIfDue()
        if (isReal(nodes.get({ name: pod.spec?.nodeName ?? '' })) && podRule.matches(pod))
          note(`pod ${pod.metadata.namespace}/${pod.metadata.name}`)
      }
    return { names, count }
  }
  return {
    name: 'simulation-rules',
    sources: [
      fromInformer(rules, ({ key, object }) => (object === undefined ? [] : [key])),
      fromInformer(nodes, ({ previous, object }) => (isReal(object) && !isReal(previous) ? ruleNames() : [])),
      fromInformer(pods, ({ previous, object }) => {
        const node = object?.spec?.nodeName
        const isPlaced = node !== undefined && node !== previous?.spec?.nodeName
        return isPlaced && isReal(nodes.get({ name: node })) ? ruleNames() : []
      }),
    ],
    reconcile: async (key) => {
      const rule = rules.get(nameOfKey(key))
      const { names, count } = rule === undefined ? { names: [], count: 0 } : await ignoring(rule)
      if (rule === undefined || count === 0) return 'done'
      const others = count > names.length ? ` and ${count - names.length} more` : ''
      recorder.record(
        { ...rule, apiVersion: apiVersionOf(vendor, 'ops', 'v1'), kind: 'SimulationRule' },
        {
          type: 'Warning',
          reason: 'Ignored',
          message: `ignored for ${names.join(', ')}${others}: only simulated nodes follow simulation rules`,
        },
      )
      return 'done'
    },
  }
}
