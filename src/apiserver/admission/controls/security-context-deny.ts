/**
 * SecurityContextDeny: rejects pods that set users, groups or SELinux options. Other settings, such as `privileged`,
 * are not checked.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import { isExplicitlyEmpty } from '../../../api/schema/explicit-empty.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { containersOf } from '../pod-security/check.ts'
import { refusal } from '../refusal.ts'

const ofPods = ['supplementalGroups', 'seLinuxOptions', 'runAsUser', 'fsGroup'] as const
const ofContainers = ['seLinuxOptions', 'runAsUser'] as const

export function securityContextDeny(): Control<Pod> {
  return {
    name: 'SecurityContextDeny',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [pods],
      subresources: ['', 'ephemeralcontainers'],
    },
    validate: refuseContexts,
  }
}

function refuseContexts(request: AdmissionRequest<Pod>): void {
  const spec = request.object.spec ?? {}
  const { securityContext: context } = spec
  const ofPod = ofPods.find((field) => context?.[field] !== undefined || isExplicitlyEmpty(context, field))
  if (ofPod !== undefined) throw refusal(request, `spec.securityContext.${ofPod} is forbidden`)
  for (const { name, securityContext } of containersOf(spec)) {
    const field = ofContainers.find((one) => securityContext?.[one] !== undefined)
    if (field !== undefined) throw refusal(request, `securityContext.${field} of container "${name}" is forbidden`)
  }
}
