/** A profile: which plugins place the Pods of one `schedulerName`, and how much each score counts. */

import type { Plugin } from './plugin.ts'
import { allPlugins, type WeightedPlugin } from './plugins/all.ts'

/** How the Pods that name this scheduler are placed. */
export interface Profile {
  /** What Pods name in `spec.schedulerName`. */
  readonly schedulerName: string
  readonly filters: readonly Plugin[]
  readonly scores: readonly WeightedPlugin[]
  /** Whether less important Pods are moved off nodes for those that fit nowhere. */
  readonly preempts: boolean
}

/** The profile of Pods that name no scheduler. */
export const defaultProfile: Profile = profileOf('default-scheduler')

/** All plugins with their default weights. */
export function profileOf(schedulerName: string, plugins = allPlugins()): Profile {
  return {
    schedulerName,
    filters: plugins.flatMap(({ plugin }) => (plugin.filter === undefined ? [] : [plugin])),
    scores: plugins.filter(({ plugin, weight }) => plugin.score !== undefined && weight > 0),
    preempts: true,
  }
}
