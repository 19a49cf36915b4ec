/** IDs of simulated containers. */
import type { Pod } from '../../../api/kinds/core/pod.ts'

/** Returns an ID that is unique for each start of a container. */
export function idOf({ metadata }: Pod, name: string, restartCount: number): string {
  return `simulated://${metadata.uid}-${name}-${restartCount}`
}
