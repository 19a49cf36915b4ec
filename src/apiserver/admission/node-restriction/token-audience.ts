/**
 * Checks the audience of a token that a node agent requests for a pod. The audience must be used by a projected volume
 * of the pod or by the CSI driver of one of the pod's volumes. Otherwise, the agent needs permission for the verb
 * `request-serviceaccounts-token-audience`. Without this check, a compromised node could obtain tokens of its pods'
 * service accounts for any other service.
 */

import { persistentVolume as persistentVolumes } from '../../../api/kinds/core/persistent-volume.ts'
import { persistentVolumeClaim as persistentVolumeClaims } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Volume } from '../../../api/kinds/core/types/volume.ts'
import { csiDriver as csiDrivers } from '../../../api/kinds/storage/csi-driver.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest } from '../admission.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly lookup: Lookup
  readonly authorizer: Authorizer
}

interface Requested {
  /** The pod that the token is bound to. */
  readonly pod: Pod
  readonly audiences: readonly string[]
}

/**
 * The verb that a node needs for an audience that its pods do not use. In the permission check, the audience takes the
 * place of the resource type, and the service account takes the place of the object name.
 */
const verb = 'request-serviceaccounts-token-audience'

/** Throws an error unless the node agent may request a token with these audiences. */
export async function assertAudience(
  parts: Parts,
  request: AdmissionRequest,
  { pod, audiences }: Requested,
): Promise<void> {
  if (audiences.length > 1) throw refusal(request, 'node may only request 0 or 1 audiences')
  const [audience = ''] = audiences
  if ((await usesAudience(parts.lookup, pod, audience)) || (await mayRequest(parts, request, audience))) return
  throw refusal(request, `audience ${JSON.stringify(audience)} not found in pod spec volume`)
}

async function usesAudience(lookup: Lookup, pod: Pod, audience: string): Promise<boolean> {
  const timeSlice = new TimeSlice()
  for (const volume of pod.spec?.volumes ?? []) {
    if (audiencesOf(lookup, pod, volume).includes(audience)) return true
    await timeSlice.yieldIfDue()
  }
  return false
}

/**
 * Returns the token audiences that a volume needs. An empty audience stands for the default audiences of the server.
 */
function audiencesOf(lookup: Lookup, pod: Pod, volume: Volume): string[] {
  const tokens = (volume.projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? [])
  const name = driverOf(lookup, pod, volume)
  const driver = name === '' ? undefined : lookup.getCached(csiDrivers, { namespace: '', name })
  return [...tokens, ...(driver?.object.spec?.tokenRequests ?? [])].map(({ audience = '' }) => audience)
}

/** Returns the name of the CSI driver of a volume, or '' if the volume has no CSI driver. */
function driverOf(lookup: Lookup, { metadata }: Pod, volume: Volume): string {
  if (volume.csi !== undefined) return volume.csi.driver ?? ''
  // The claim of an ephemeral volume is named `<pod>-<volume>`.
  const ofEphemeral = volume.ephemeral === undefined ? '' : `${metadata.name}-${volume.name}`
  const claimName = volume.persistentVolumeClaim?.claimName ?? ofEphemeral
  if (claimName === '') return ''
  const place = { namespace: metadata.namespace ?? '', name: claimName }
  const claim = lookup.getCached(persistentVolumeClaims, place)
  const name = claim?.object.spec?.volumeName ?? ''
  const bound = name === '' ? undefined : lookup.getCached(persistentVolumes, { namespace: '', name })
  return bound?.object.spec?.csi?.driver ?? ''
}

async function mayRequest(
  { authorizer }: Parts,
  { user, namespace, name }: AdmissionRequest,
  audience: string,
): Promise<boolean> {
  const attributes = {
    resource: true,
    verb,
    group: '',
    version: '',
    plural: audience,
    subresource: '',
    namespace,
    name,
  } as const
  return (await authorizer({ user, attributes })).verdict === 'allow'
}
