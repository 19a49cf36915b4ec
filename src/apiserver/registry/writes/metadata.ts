/** Validates and completes the metadata of objects of all kinds. */

import { randomUUID } from 'node:crypto'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  maxFaults,
  required,
} from '../../../api/model/field-error.ts'
import { checkFinalizerDomain, checkFinalizerForm } from '../../../api/model/finalizers.ts'
import type { NameCheck } from '../../../api/model/names.ts'
import { asPrefix, checkDnsLabel, checkPathSegment, checkStoredName } from '../../../api/model/names.ts'
import { type ApiObject, copyWithout, type ObjectMeta, type OwnerReference } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { RuleContext } from '../../../api/schema/context.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { checkAnnotations, checkLabels } from '../../../api/selectors/label-rules.ts'

/** Returns whether the object has a resourceVersion that acts as a precondition. Version 0 means any version. */
export function namesVersion({ metadata }: ApiObject): boolean {
  return !!metadata.resourceVersion && metadata.resourceVersion !== '0'
}

/** Returns the metadata of a new object, including the values that the server controls. */
export function systemMetadata(sent: ObjectMeta, creationTimestamp: string): ObjectMeta {
  const metadata = copyWithout(
    sent,
    'selfLink',
    'clusterName',
    'resourceVersion',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  )
  metadata.uid = randomUUID()
  metadata.creationTimestamp = creationTimestamp
  return metadata
}

export function validateMetadata(kind: NamedBy, metadata: ObjectMeta, context?: RuleContext): FieldError[] {
  const { generation = 0, labels, annotations, ownerReferences, finalizers } = metadata
  // Use spread syntax instead of `push`, because a very long list could exceed the maximum number of arguments of
  // `push`.
  return [
    ...validateName(kind, metadata, context),
    ...validateNamespace(metadata),
    ...(generation < 0 ? [invalid('metadata.generation', generation, 'must be greater than or equal to 0')] : []),
    ...(labels ? checkLabels(labels, 'metadata.labels') : []),
    ...(annotations ? checkAnnotations(annotations, 'metadata.annotations') : []),
    ...(ownerReferences ? validateOwners(ownerReferences) : []),
    ...(finalizers ? validateFinalizers(finalizers, kind.lifecycle.plainFinalizers ? undefined : context?.vendor) : []),
  ]
}

/** The properties of a kind that affect metadata validation. */
type NamedBy = Pick<Kind, 'nameFormat' | 'lifecycle'>

const anyKind: NamedBy = { nameFormat: checkPathSegment, lifecycle: { plainFinalizers: true } }

/** Validates the metadata of an embedded object, which may be of any kind and need not have a name. */
export function validateInnerMetadata(metadata: ObjectMeta, path: FieldPath): FieldError[] {
  const named = metadata.name ? metadata : { ...metadata, name: 'unnamed' }
  return validateMetadata(anyKind, named).map((fault) => ({
    ...fault,
    path: `${path}${fault.path.slice('metadata'.length)}`,
  }))
}

function validateName(
  kind: NamedBy,
  { name = '', generateName: prefix = '' }: ObjectMeta,
  context: RuleContext | undefined,
): FieldError[] {
  const format = (text: string) => kind.nameFormat(text, context)
  const errors: FieldError[] = []
  if (prefix !== '')
    errors.push(...asPrefix(format)(prefix).map((text) => invalid('metadata.generateName', prefix, text)))
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'))
  else errors.push(...nameFaults(format, name).map((text) => invalid('metadata.name', name, text)))
  return errors
}

/** Validates the namespace, which comes from the URL path and may be any string. */
function validateNamespace({ namespace }: ObjectMeta): FieldError[] {
  if (namespace === undefined) return []
  return checkDnsLabel(namespace).map((text) => invalid('metadata.namespace', namespace, text))
}

function nameFaults(format: NameCheck, name: string): string[] {
  const faults = format(name)
  return faults.length > 0 ? faults : [...checkPathSegment(name), ...checkStoredName(name)]
}

/**
 * Validates owner references. As in Kubernetes, errors contain the path of the list rather than the path of the
 * element.
 */
function validateOwners(owners: readonly OwnerReference[]): FieldError[] {
  const path = 'metadata.ownerReferences'
  const errors = owners.flatMap((owner) => [
    ...(versionOf(owner.apiVersion) === ''
      ? [invalid(child(path, 'apiVersion'), owner.apiVersion, 'version must not be empty')]
      : []),
    ...(owner.apiVersion === 'v1' && owner.kind === 'Event'
      ? [invalid(path, { ...owner }, `${owner.kind} is disallowed from being an owner`)]
      : []),
    ...(['kind', 'name', 'uid'] as const)
      .filter((name) => owner[name] === '')
      .map((name) => invalid(child(path, name), '', `${name} must not be empty`)),
  ])
  const controllers = owners.filter((owner) => owner.controller)
  if (controllers.length < 2) return errors
  const names = controllers.map((owner) => owner.name).join(' and ')
  return [
    ...errors,
    invalid(
      path,
      owners,
      `Only one reference can have Controller set to true. Found "true" in references for ${names}`,
    ),
  ]
}

/** Returns the version in an apiVersion such as `apps/v1` or `v1`, or '' if the apiVersion is malformed. */
function versionOf(apiVersion: string): string {
  const parts = apiVersion.split('/')
  return parts.length > 2 ? '' : parts.at(-1)!
}

/**
 * Validates finalizers. As in Kubernetes, the error for a malformed name has the path of the list, and the error for a
 * missing domain has the path of the element. If `vendor` is undefined, finalizers need no domain.
 */
function validateFinalizers(finalizers: readonly string[], vendor: Vendor | undefined): FieldError[] {
  const path = 'metadata.finalizers'
  const errors: FieldError[] = []
  for (const [i, name] of finalizers.entries()) {
    if (errors.length >= maxFaults) break
    for (const text of checkFinalizerForm(name)) errors.push(invalid(path, name, text))
    if (vendor === undefined) continue
    for (const text of checkFinalizerDomain(name, vendor)) errors.push(invalid(at(path, i), name, text))
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizers orphan and foregroundDeletion cannot be both set'))
  }
  return errors
}

/** Returns the metadata of an update, with the stored values of fields that the client omitted or may not change. */
export function keptMetadata(next: ObjectMeta, previous: ObjectMeta): ObjectMeta {
  const end = previous.deletionTimestamp === undefined ? next : previous
  const preserved = copyWithout(
    next,
    'selfLink',
    'clusterName',
    'generation',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  )
  preserved.uid ??= previous.uid!
  preserved.creationTimestamp = previous.creationTimestamp!
  if (previous.generation !== undefined) preserved.generation = previous.generation
  if (end.deletionTimestamp !== undefined) preserved.deletionTimestamp = end.deletionTimestamp
  if (end.deletionGracePeriodSeconds !== undefined)
    preserved.deletionGracePeriodSeconds = end.deletionGracePeriodSeconds
  return preserved
}

const fixed = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

/** Validates that the immutable metadata is unchanged. */
export function validateMetadataUpdate(next: ObjectMeta, previous: ObjectMeta): FieldError[] {
  const errors = validateNewFinalizers(next, previous)
  for (const name of fixed)
    if (next[name] !== previous[name]) errors.push(invalid(`metadata.${name}`, next[name], 'field is immutable'))
  return errors
}

/**
 * Validates the finalizers of a terminating object. Clients can remove finalizers from such an object but cannot add
 * any.
 */
function validateNewFinalizers(next: ObjectMeta, previous: ObjectMeta): FieldError[] {
  if (previous.deletionTimestamp === undefined) return []
  const previousFinalizers = new Set(previous.finalizers)
  const extra = (next.finalizers ?? []).filter((name) => !previousFinalizers.has(name))
  if (extra.length === 0) return []
  return [
    forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(extra)}`,
    ),
  ]
}
