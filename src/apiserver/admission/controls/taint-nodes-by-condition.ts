/**
 * TaintNodesByCondition: adds the not-ready taint to new nodes, so that no pod is scheduled to a node before it is
 * ready. A controller removes the taint when the node is ready.
 */
import type { Node } from '../../../api/kinds/core/node.ts'
import { node as nodes } from '../../../api/kinds/core/node.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Control } from '../admission.ts'

export function taintNodesByCondition({ vendor }: { readonly vendor: Vendor }): Control<Node> {
  const notReady = { key: vendorKey(vendor, 'not-ready', 'node'), effect: 'NoSchedule' }
  return {
    name: 'TaintNodesByCondition',
    handles: { operations: ['CREATE'], types: [nodes], subresources: [''] },
    mutate: ({ object }) => {
      const { spec = {} } = object
      const { taints = [] } = spec
      const tainted = taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)
      return tainted ? undefined : { ...object, spec: { ...spec, taints: [...taints, notReady] } }
    },
  }
}
