/** The types of objects that nodes read and write, as a client addresses them. */

import type { Node } from '../../api/kinds/core/node.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { ResourceType } from '../../client/requests/resource-type.ts'

/** Pods. */
export const pods: ResourceType<Pod> = { group: '', version: 'v1', plural: 'pods', namespaced: true, kind: 'Pod' }
/** Nodes. */
export const nodes: ResourceType<Node> = { group: '', version: 'v1', plural: 'nodes', namespaced: false, kind: 'Node' }
