/**
 * Reports SimulationRules that have no effect because they select a real node, which runs real containers and ignores
 * them. The loop records an Event about each rule that selects a real node or a pod on a real node.
 */
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { SimulationRule } from '../../../api/kinds/ops/simulation-rule.ts'
import { simulatedNodeAnnotation } from '../../../api/model/simulated-failures.ts'
import { apiVersionOf, type Vendor, vendorKey } from '../../../api/model/vendor.ts'
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

export function simulationRulesLoop({ recorder, vendor, rules, nodes, pods }: SimulationRuleParts): Loop {
  const simulated = vendorKey(vendor, simulatedNodeAnnotation, 'simulation')
  const isReal = (node: Node | undefined) => node !== undefined && node.metadata.annotations?.[simulated] === undefined
  const ruleNames = () => Array.from(rules.objects(), ({ metadata }) => metadata.name ?? '')
  const ignoring = (rule: SimulationRule): string[] => {
    const [podRule, nodeRule] = [podRuleOf(rule), nodeRuleOf(rule)]
    const ignoredObjects: string[] = []
    if (nodeRule !== undefined)
      for (const node of nodes.objects())
        if (isReal(node) && nodeRule.matches(node)) ignoredObjects.push(`node ${node.metadata.name}`)
    if (podRule !== undefined && [...nodes.objects()].some(isReal))
      for (const pod of pods.objects())
        if (isReal(nodes.get({ name: pod.spec?.nodeName ?? '' })) && podRule.matches(pod))
          ignoredObjects.push(`pod ${pod.metadata.namespace}/${pod.metadata.name}`)
    return ignoredObjects
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
      const ignoredObjects = rule === undefined ? [] : ignoring(rule)
      if (rule === undefined || ignoredObjects.length === 0) return 'done'
      const names = ignoredObjects.slice(0, maxNames).join(', ')
      const others = ignoredObjects.length > maxNames ? ` and ${ignoredObjects.length - maxNames} more` : ''
      recorder.record(
        { ...rule, apiVersion: apiVersionOf(vendor, 'ops', 'v1'), kind: 'SimulationRule' },
        {
          type: 'Warning',
          reason: 'Ignored',
          message: `ignored for ${names}${others}: only simulated nodes follow simulation rules`,
        },
      )
      return 'done'
    },
  }
}
