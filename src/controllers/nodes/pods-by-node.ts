/** The pods of a node. All loops that share an informer share the look-up. */
import { memoizeByObject } from '../../base/memoize-by-object.ts'
import type { Informer } from '../../client/informer.ts'
import type { Pod } from '../../kinds/core/pod.ts'

/** Pods by the name of the node that they are bound to. */
export const podsByNode = memoizeByObject((pods: Informer<Pod>) =>
  pods.index(({ spec }) => (spec?.nodeName ? [spec.nodeName] : [])),
)
