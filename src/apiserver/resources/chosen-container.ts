/** Which container of a pod a request means, and which node the pod is on. */
import type { Pod } from '../../api/kinds/core/pod.ts'
import { badRequest } from '../../api/model/api-error.ts'

/** The node that a pod is on; '' before it is on any. */
export function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? ''
}

/** The one that is asked for; of a pod with one container that one. Any other pod must be asked for one of its own. */
export function chooseContainer({ metadata, spec }: Pod, wanted: string): string {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {}
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name = '' }) => name)
  if (wanted !== '') {
    if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${metadata.name}`)
    return wanted
  }
  const [sole] = containers
  if (containers.length === 1 && sole?.name !== undefined) return sole.name
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`)
}
