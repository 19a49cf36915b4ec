/**
 * Adds the service account token volume to a pod. The volume contains the token (which the node renews), the server's
 * CA certificate and the namespace. The volume is mounted at the same path in every container that does not already use
 * the path.
 */
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { Container } from '../../api/kinds/core/types/container.ts'
import type { Volume } from '../../api/kinds/core/types/volume.ts'
import { generateName } from '../../api/model/generate-name.ts'
import { volumeTokenSeconds } from '../../api/model/service-account.ts'
import type { Vendor } from '../../api/model/vendor.ts'

type PodSpec = NonNullable<Pod['spec']>

const prefix = 'kube-api-access-'

/**
 * Returns the pod spec's volumes and containers with the token volume added. An existing volume whose name starts with
 * the default prefix counts as the token volume.
 */
export function mountToken(spec: PodSpec, vendor: Vendor): Partial<PodSpec> {
  const { volumes = [], initContainers = [], containers = [] } = spec
  const mountPath = `/var/run/secrets/${vendor.keyDomain}/serviceaccount`
  const isFree = ({ volumeMounts = [] }: Container) => !volumeMounts.some((mount) => mount.mountPath === mountPath)
  if (![...initContainers, ...containers].some(isFree)) return {}
  const existingName = volumes.find(({ name = '' }) => name.startsWith(prefix))?.name
  const name = existingName ?? generateName(prefix)
  const mount = (one: Container): Container =>
    isFree(one) ? { ...one, volumeMounts: [...(one.volumeMounts ?? []), { mountPath, name, readOnly: true }] } : one
  return {
    containers: containers.map(mount),
    ...(initContainers.length === 0 ? {} : { initContainers: initContainers.map(mount) }),
    ...(existingName === undefined ? { volumes: [...volumes, tokenVolume(name)] } : {}),
  }
}

/**
 * Returns the token volume. The volume's fields have the same order as in stored objects, so that the server need not
 * reorder them in every pod.
 */
function tokenVolume(name: string): Volume {
  const items = [{ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' }]
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: volumeTokenSeconds, path: 'token' } },
        { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
        { downwardAPI: { items } },
      ],
    },
  }
}
