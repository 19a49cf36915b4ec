/** Determines the container and the node for a request to a pod. */
import type { Pod } from '../../api/kinds/core/pod.ts'
import { badRequest } from '../../api/model/api-error.ts'

/** Returns the name of the node that the pod is assigned to, or '' if there is none. */
export function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? ''
}

/**
 * Returns the requested container, or the only container of the pod. Throws an error if the container does not exist,
 * or if the request names no container and the pod has several.
 */
export function chooseContainer({ metadata, spec }: Pod, containerName: string): string {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {}
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name = '' }) => name)
  if (containerName !== '') {
    if (!names.includes(containerName))
      throw badRequest(`container ${containerName} is not valid for pod ${metadata.name}`)
    return containerName
  }
  const [sole] = containers
  if (containers.length === 1 && sole?.name !== undefined) return sole.name
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`)
}
