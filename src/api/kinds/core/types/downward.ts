/** Selectors of what a container may learn about its own pod: fields of the pod, resources of its containers. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../../model/field-error.ts'
import { checkQualifiedName } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const fieldSelectorFields = {
  apiVersion: field(1, s.string(), { default: 'v1', doc: 'The API version that the path belongs to.' }),
  fieldPath: field(2, s.string(), { zero: 'write', doc: 'The path of the field, such as metadata.name.' }),
}

export type ObjectFieldSelector = InferFields<typeof fieldSelectorFields>

export const objectFieldSelector = s.object(fieldSelectorFields, {
  name: 'ObjectFieldSelector',
  doc: 'A field of the pod.',
  atomic: true,
})

const resourceSelectorFields = {
  containerName: field(1, s.string(), { doc: 'The container; needed in volumes.' }),
  resource: field(2, s.string(), { zero: 'write', doc: 'Which amount, such as limits.cpu or requests.memory.' }),
  divisor: field(3, s.quantity(), {
    zero: 'write',
    published: 'optional',
    doc: 'The unit in which it is written; 0 is 1.',
  }),
}

export type ResourceFieldSelector = InferFields<typeof resourceSelectorFields>

export const resourceFieldSelector = s.object(resourceSelectorFields, {
  name: 'ResourceFieldSelector',
  doc: 'A request or limit of a container, in units of the divisor.',
  atomic: true,
})

/** Fields that can become the value of an environment variable. */
export const fieldsForEnvironment = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
]

/** Fields that can become a file. */
export const fieldsForVolumes = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

const knownFields = new Set([
  ...fieldsForEnvironment,
  ...fieldsForVolumes,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])

const resources = ['cpu', 'ephemeral-storage', 'memory']
const selectableResources = ['limits', 'requests'].flatMap((list) => resources.map((name) => `${list}.${name}`))
const hugePages = /^(?:limits|requests)\.hugepages-/

/** `allowed`: what is asked for must be among these; single labels and annotations always are. */
export function checkFieldSelector(
  { apiVersion = '', fieldPath = '' }: ObjectFieldSelector,
  allowed: readonly string[],
  path: FieldPath,
): FieldError[] {
  const place = child(path, 'fieldPath')
  if (apiVersion === '') return [required(child(path, 'apiVersion'))]
  if (fieldPath === '') return [required(place)]
  if (apiVersion !== 'v1') return [invalid(place, fieldPath, `pods have no version ${apiVersion}`)]
  const bracket = fieldPath.indexOf("['", 1)
  if (bracket > 0 && fieldPath.endsWith("']") && bracket + 4 <= fieldPath.length)
    return checkSubscript(fieldPath.slice(0, bracket), fieldPath.slice(bracket + 2, -2), path)
  if (!knownFields.has(fieldPath)) return [invalid(place, fieldPath, 'this field of a pod cannot be selected')]
  return allowed.includes(fieldPath) ? [] : [notSupported(place, fieldPath, allowed)]
}

function checkSubscript(field: string, key: string, path: FieldPath): FieldError[] {
  if (field === 'metadata.labels') return checkQualifiedName(key).map((text) => invalid(path, key, text))
  if (field === 'metadata.annotations')
    return checkQualifiedName(key.toLowerCase()).map((text) => invalid(path, key, text))
  return [invalid(child(path, 'fieldPath'), `${field}['${key}']`, 'this field has no subscripts')]
}

/** `named`: the container must be named, as there is none that is meant by itself. */
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
  const known = selectableResources.includes(resource) || hugePages.test(resource)
  const allowed = resource.endsWith('.cpu') ? ['1m', '1'] : powers
  if (!known || allowed.includes(divisor)) return []
  return [invalid(child(path, 'divisor'), divisor, `with ${resource} it is one of ${allowed.join(', ')}`)]
}
