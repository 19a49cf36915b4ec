/** The types of objects that nodes read and write, as a client addresses them. */
import type { ResourceType } from '../client/resource-type.ts'
import type { Node } from '../kinds/core/node.ts'
import type { Pod } from '../kinds/core/pod.ts'

/** Pods. */
export const pods: ResourceType<Pod> = { group: '', version: 'v1', plural: 'pods', namespaced: true, kind: 'Pod' }
/** Nodes. */
export const nodes: ResourceType<Node> = { group: '', version: 'v1', plural: 'nodes', namespaced: false, kind: 'Node' }
