/**
 * TaintNodesByCondition: taints new nodes as not ready, so that no pod is scheduled there yet. A controller removes the
 * taint once the node is ready.
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
