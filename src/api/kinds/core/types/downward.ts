/** Downward API selectors: fields of the pod and resources of its containers that a container can read. */
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkQualifiedName } from '../../../model/names.ts'
import { isEnabled, isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const fieldSelectorFields = {
  apiVersion: field(1, s.string(), {
    default: 'v1',
    doc: 'API version against which the path is resolved. Defaults to `v1`.',
  }),
  fieldPath: field(2, s.string(), { zeroValue: 'write', doc: 'Path of the field, such as `metadata.name`.' }),
}

export type ObjectFieldSelector = InferFields<typeof fieldSelectorFields>

export const objectFieldSelector = s.object(fieldSelectorFields, {
  name: 'ObjectFieldSelector',
  doc: 'Selects a field of the pod.',
  atomic: true,
})

const resourceSelectorFields = {
  containerName: field(1, s.string(), {
    doc: 'Name of the container. Required in volumes. In environment variables, defaults to the container that declares the variable.',
  }),
  resource: field(2, s.string(), {
    zeroValue: 'write',
    doc: 'Resource to select, such as `limits.cpu` or `requests.memory`.',
  }),
  divisor: field(3, s.quantity(), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Unit of the exposed value, such as `1m` or `1Mi`. If unset or 0, the unit is 1.',
  }),
}

export type ResourceFieldSelector = InferFields<typeof resourceSelectorFields>

export const resourceFieldSelector = s.object(resourceSelectorFields, {
  name: 'ResourceFieldSelector',
  doc: "Selects a container's resource request or limit.",
  atomic: true,
})

/** Returns the pod fields that environment variables can refer to. */
export function fieldsForEnvironment(context: RuleContext): readonly string[] {
  return isSince('1.28', context) ? environmentFields : environmentFields.filter((name) => name !== hostAddresses)
}

const hostAddresses = 'status.hostIPs'

const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  hostAddresses,
  'status.podIP',
  'status.podIPs',
]

/** Pod fields that downward API volumes can refer to. */
export const fieldsForVolumes = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

const knownFields = new Set([
  ...environmentFields,
  ...fieldsForVolumes,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])

const resources = ['cpu', 'ephemeral-storage', 'memory']
const selectableResources = ['limits', 'requests'].flatMap((list) => resources.map((name) => `${list}.${name}`))
const hugePages = /^(?:limits|requests)\.hugepages-/

/**
 * Requires `allowed` to contain the field. Individual labels and annotations, such as `metadata.labels['app']`, are
 * always allowed.
 */
export function checkFieldSelector(
  { apiVersion = '', fieldPath = '' }: ObjectFieldSelector,
  allowed: readonly string[],
  path: FieldPath,
): FieldError[] {
  const place = child(path, 'fieldPath')
  if (apiVersion === '') return [required(child(path, 'apiVersion'))]
  if (fieldPath === '') return [required(place)]
  if (apiVersion !== 'v1') return [invalid(place, fieldPath, `Pods are not available in the API version ${apiVersion}`)]
  const bracket = fieldPath.indexOf("['", 1)
  if (bracket > 0 && fieldPath.endsWith("']") && bracket + 4 <= fieldPath.length)
    return checkSubscript(fieldPath.slice(0, bracket), fieldPath.slice(bracket + 2, -2), path)
  if (!knownFields.has(fieldPath) || (fieldPath === hostAddresses && !allowed.includes(fieldPath)))
    return [invalid(place, fieldPath, 'must be the path of a pod field that can be referenced')]
  return allowed.includes(fieldPath) ? [] : [notSupported(place, fieldPath, allowed)]
}

/** Rejects the fields for node addresses if their feature is disabled. */
export function checkHostAddresses({ fieldPath }: ObjectFieldSelector, path: FieldPath, context: RuleContext) {
  if (fieldPath !== hostAddresses || !isSince('1.28', context) || isEnabled('PodHostIPs', context)) return []
  return [forbidden(path, "may not be set when feature gate 'PodHostIPs' is not enabled")]
}

function checkSubscript(field: string, key: string, path: FieldPath): FieldError[] {
  if (field === 'metadata.labels') return checkQualifiedName(key).map((text) => invalid(path, key, text))
  if (field === 'metadata.annotations')
    return checkQualifiedName(key.toLowerCase()).map((text) => invalid(path, key, text))
  return [invalid(child(path, 'fieldPath'), `${field}['${key}']`, 'this field has no subscripts')]
}

/**
 * Validates a reference to a container resource. `named` requires a container name, as for volumes, which do not belong
 * to a single container.
 */
export function checkResourceSelector(
  { containerName = '', resource = '', divisor = '0' }: ResourceFieldSelector,
  named: boolean,
  path: FieldPath,
): FieldError[] {
  const errors = checkDivisor(resource, divisor, path)
  if (named && containerName === '') return [required(child(path, 'containerName')), ...errors]
  if (resource === '') return [required(child(path, 'resource')), ...errors]
  if (selectableResources.includes(resource) || hugePages.test(resource)) return errors
  return [notSupported(child(path, 'resource'), resource, selectableResources), ...errors]
}

const powers = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

function checkDivisor(resource: string, divisor: string, path: FieldPath): FieldError[] {
  if (divisor === '0') return []
  const isKnownResource = selectableResources.includes(resource) || hugePages.test(resource)
  const allowed = resource.endsWith('.cpu') ? ['1m', '1'] : powers
  if (!isKnownResource || allowed.includes(divisor)) return []
  return [invalid(child(path, 'divisor'), divisor, `with ${resource} it is one of ${allowed.join(', ')}`)]
}
