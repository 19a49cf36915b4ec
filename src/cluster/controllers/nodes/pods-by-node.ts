/** Index of pods by node, shared by all loops that use the same informer. */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Informer } from '../../../client/informers/informer.ts'

/** Returns an index of pods by the node to which they are bound. */
export const podsByNode = memoizeByObject((pods: Informer<Pod>) =>
  pods.index(({ spec }) => (spec?.nodeName ? [spec.nodeName] : [])),
)
