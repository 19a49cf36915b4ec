/** A scheduling profile: the plugins for Pods with one `schedulerName`, and the weights of their scores. */

import type { Plugin } from './plugin.ts'
import { allPlugins, type WeightedPlugin } from './plugins/all.ts'

/** The plugins and weights for Pods with a given scheduler name. */
export interface Profile {
  /** Value of `spec.schedulerName` that selects the profile. */
  readonly schedulerName: string
  readonly filters: readonly Plugin[]
  readonly scores: readonly WeightedPlugin[]
  /** Whether Pods that fit on no node may preempt Pods of lower priority. */
  readonly preempts: boolean
}

/** The profile for Pods that specify no scheduler name. */
export const defaultProfile: Profile = profileOf('default-scheduler')

/** Creates a profile with all plugins and their default weights. */
export function profileOf(schedulerName: string, plugins = allPlugins()): Profile {
  return {
    schedulerName,
    filters: plugins.flatMap(({ plugin }) => (plugin.filter === undefined ? [] : [plugin])),
    scores: plugins.filter(({ plugin, weight }) => plugin.score !== undefined && weight > 0),
    preempts: true,
  }
}
