/** The pods of a node. All loops that share an informer share the look-up. */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Informer } from '../../../client/informers/informer.ts'

/** Pods by the name of the node that they are bound to. */
export const podsByNode = memoizeByObject((pods: Informer<Pod>) =>
  pods.index(({ spec }) => (spec?.nodeName ? [spec.nodeName] : [])),
)
