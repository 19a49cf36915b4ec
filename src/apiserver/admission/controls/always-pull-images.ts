/**
 * AlwaysPullImages: forces the pull policy Always, so that a pod needs valid credentials to use a private image, even
 * if the image is already on the node.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { containersOf } from '../pod-security/check.ts'
import { refusal } from '../refusal.ts'

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

export function alwaysPullImages(): Control<Pod> {
  return {
    name: 'AlwaysPullImages',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [pods],
      subresources: ['', 'ephemeralcontainers'],
    },
    mutate: (request) => (newContainers(request).every(pulls) ? undefined : pulling(request)),
    validate: (request) => {
      const other = newContainers(request).find((one) => !pulls(one))
      if (other !== undefined)
        throw refusal(request, `spec: imagePullPolicy of container "${other.name}" must be Always`)
    },
  }
}

function specOf(object: Pod | undefined): PodSpec {
  return object?.spec ?? {}
}

function pulls({ imagePullPolicy }: Container): boolean {
  return imagePullPolicy === 'Always'
}

/**
 * Returns the containers that are new or have a new image. Only their pull policy is checked, because the pull
 * policy of the other containers is immutable.
 */
function newContainers({ object, oldObject }: AdmissionRequest<Pod>): Container[] {
  const previousImages = new Map(containersOf(specOf(oldObject)).map(({ name, image }) => [name, image]))
  return containersOf(specOf(object)).filter(
    ({ name, image }) => !previousImages.has(name) || previousImages.get(name) !== image,
  )
}

function pulling(request: AdmissionRequest<Pod>): Pod {
  const changed = new Set(newContainers(request))
  const spec = { ...specOf(request.object) }
  for (const list of lists) {
    const containers = spec[list] ?? []
    if (containers.some((one) => changed.has(one)))
      Object.assign(spec, {
        [list]: containers.map((one) => (changed.has(one) ? { ...one, imagePullPolicy: 'Always' } : one)),
      })
  }
  return { ...request.object, spec }
}
