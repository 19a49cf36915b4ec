/** Validation of a PersistentVolumeClaim's status: its sizes, and the progress of a resize. */
import { at, type FieldError, invalid, maxFaults, notSupported } from '../../../model/field-error.ts'
import { checkQualifiedName } from '../../../model/names.ts'
import type { Vendor } from '../../../model/vendor.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import type { ClaimStatus } from './claim-fields.ts'
import type { ResourceList } from './resource-list.ts'
import { isNative, isStorageSize } from './resource-names.ts'

/** Whether a claim may reduce its request after a failed resize. */
export function mayRecover(context: RuleContext): boolean {
  return emulationOf(context).gates.has('RecoverVolumeExpansionFailure')
}

const resizeStates = [
  '',
  'ControllerExpansionFailed',
  'ControllerExpansionInProgress',
  'NodeExpansionFailed',
  'NodeExpansionInProgress',
  'NodeExpansionPending',
]

/**
 * States of a resize, per resource. Since 1.28, Kubernetes reports them in the status of a claim. Until 1.30, a failure
 * could be temporary.
 */
const stepsOfResize = ['ControllerResizeInProgress', 'NodeResizeInProgress', 'NodeResizePending']
const failuresOfResize = ['ControllerResizeInfeasible', 'NodeResizeInfeasible']
const earlierFailuresOfResize = ['ControllerResizeFailed', 'NodeResizeFailed']

export function checkStatus(status: ClaimStatus, context: RuleContext): FieldError[] {
  const sizes = checkSizes(status.capacity, 'status.capacity')
  if (!mayRecover(context)) return sizes
  const { version } = emulationOf(context)
  return [...sizes, ...(isAtLeast(version, '1.28') ? checkResize(status, context) : checkSingleResize(status))]
}

function checkResize(
  { allocatedResourceStatuses = {}, allocatedResources = {} }: ClaimStatus,
  context: RuleContext,
): FieldError[] {
  const path = 'status.allocatedResourceStatuses'
  const isFinal = isAtLeast(emulationOf(context).version, '1.31')
  const states = [...stepsOfResize, ...(isFinal ? failuresOfResize : earlierFailuresOfResize)].sort()
  return [
    ...Object.entries(allocatedResourceStatuses)
      .slice(0, maxFaults)
      .flatMap(([name, state]) => [
        ...checkClaimResource(name, path, context.vendor),
        ...(states.includes(state) ? [] : [notSupported(path, name, states)]),
      ]),
    ...Object.entries(allocatedResources)
      .slice(0, maxFaults)
      .flatMap(([name, amount]) => {
        const faults = checkClaimResource(name, 'status.allocatedResources', context.vendor)
        return faults.length > 0 ? faults : checkSizes({ [name]: amount }, 'status.allocatedResources')
      }),
  ]
}

/** Validates the resource name in the status of a claim: `storage`, or a name outside the vendor's domain. */
function checkClaimResource(name: string, path: string, vendor: Vendor): FieldError[] {
  const faults = checkQualifiedName(name)
  if (faults.length > 0) return faults.map((fault) => invalid(path, name, fault))
  return name !== 'storage' && isNative(name, vendor) ? [notSupported(path, name, ['storage'])] : []
}

function checkSingleResize({ resizeStatus, allocatedResources = {} }: ClaimStatus): FieldError[] {
  const { storage, ...others } = allocatedResources
  const path = 'status.allocatedResources'
  return [
    ...(resizeStatus === undefined || resizeStates.includes(resizeStatus)
      ? []
      : [notSupported('status.resizeStatus', resizeStatus, resizeStates)]),
    ...Object.keys(others)
      .slice(0, maxFaults)
      .map((name) => notSupported(path, name, ['storage'])),
    ...checkSizes(storage === undefined ? {} : { storage }, path),
  ]
}

function checkSizes(list: ResourceList = {}, path: string): FieldError[] {
  return Object.entries(list)
    .filter(([, amount]) => !isStorageSize(amount))
    .slice(0, maxFaults)
    .map(([name, amount]) => invalid(at(path, name), amount, 'must be a valid resource quantity'))
}
