/**
 * PodResizeValidator: rejects a pod resize that the pod's node could never satisfy, because the node is too small or
 * does not run Linux.
 */
import { sameJson } from '../../../api/json/json.ts'
import { type Node, node as nodes } from '../../../api/kinds/core/node.ts'
import { type Pod, pod as pods } from '../../../api/kinds/core/pod.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import { compareQuantities, formatQuantity } from '../../../api/model/quantity.ts'
import { type Amounts, add, readAmounts, wholes } from '../../../api/model/quota/amounts.ts'
import { podAmounts } from '../../../api/model/quota/counted-pod.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

interface ResizeParts {
  readonly lookup: Lookup
  readonly emulation: Emulation
}

export function podResizeValidator({ lookup, emulation: { gates } }: ResizeParts): Control<Pod> {
  return {
    name: 'PodResizeValidator',
    handles: { operations: ['UPDATE'], types: [pods], subresources: ['resize'] },
    validate: (request) => {
      const { object, oldObject } = request
      const name = object.spec?.nodeName ?? ''
      const isChange = name !== '' && !sameJson(object.spec, oldObject?.spec)
      if (!isChange || !gates.has('InPlacePodVerticalScaling')) return undefined
      const node = lookup.getLatest(nodes, { namespace: '', name })
      return node instanceof Promise ? node.then((later) => assertFits(request, later)) : assertFits(request, node)
    },
  }
}

function assertFits(request: AdmissionRequest<Pod>, node: StoredObject<Node> | undefined): void {
  if (node === undefined) throw refusal(request, `node "${request.object.spec?.nodeName}" not found`)
  request.dependOn?.(node)
  const { metadata, status = {} } = node.object
  const requested = add(podAmounts(request.object, 'requests'), readAmounts(request.object.spec?.overhead))
  const available = readAmounts(status.allocatable)
  const missing = ['cpu', 'memory'].flatMap((name) => shortage(requested, available, name))
  if (missing.length > 0)
    throw withCause(
      request,
      'NodeCapacity',
      `the node does not have enough allocatable resources: ${missing.join('; ')}`,
    )
  const system = metadata.labels?.[vendorKey(request.vendor, 'os')] ?? ''
  if (system !== 'linux')
    throw withCause(request, 'UnsupportedPlatform', `only pods on linux nodes can be resized; the node has "${system}"`)
}

/**
 * Returns a list with a description of the shortage if the pod requests more of a resource than the node has.
 * Otherwise, returns an empty list.
 */
function shortage(requested: Amounts, available: Amounts, name: string): string[] {
  const asked = requested.get(name)
  const most = available.get(name) ?? wholes(0)
  if (asked === undefined || compareQuantities(asked, most) <= 0) return []
  return [`${name}, requested: ${formatQuantity(asked)}, allocatable: ${formatQuantity(most)}`]
}

function withCause(request: AdmissionRequest<Pod>, reason: string, why: string): ApiError {
  const error = refusal(request, why)
  const causes = [{ reason, message: why }]
  return new ApiError(error.code, error.reason, error.message, { ...error.details, causes })
}
