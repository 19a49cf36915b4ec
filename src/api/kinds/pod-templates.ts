/**
 * Code shared by the kinds that have a pod template: a check that the selector matches the template, warnings, and
 * table columns.
 */
import { at, child, type FieldError, type FieldPath, forbidden, invalid, notSupported } from '../model/field-error.ts'
import { checkDnsLabel } from '../model/names.ts'
import type { ObjectMeta } from '../model/object.ts'
import { type Column, column } from '../schema/columns.ts'
import { emulationOf, type RuleContext } from '../schema/context.ts'
import { isAtLeast } from '../versions/emulated-version.ts'
import type { PodSpec } from './core/types/pod-spec.ts'
import type { PodTemplateSpec } from './core/types/pod-template-spec.ts'
import { podWarnings } from './core/types/pod-warnings.ts'
import type { Volume } from './core/types/volume.ts'
import type { LabelSelector } from './meta/label-selector.ts'
import { isEmptySelector, requirementsOf, selectorText, selects } from './meta/selecting.ts'

interface Selecting {
  selector?: LabelSelector
  template?: PodTemplateSpec
}

/**
 * Rejects a selector that does not match the template's labels. An invalid selector is accepted because other checks
 * report it.
 */
export function checkMatches({ selector, template }: Selecting, path: FieldPath): FieldError[] {
  const labels = template?.metadata?.labels
  if (selects(selector, labels) !== false) return []
  const place = child(path, 'template.metadata.labels')
  return [invalid(place, labels ?? {}, '`selector` does not match template `labels`')]
}

/** Rejects an empty selector, which would match all pods. The error message contains `kind`. */
export function checkNotEmpty(selector: LabelSelector | undefined, path: FieldPath, kind: string): FieldError[] {
  if (selector === undefined || !isEmptySelector(selector)) return []
  return [invalid(path, {}, `empty selector is invalid for ${kind.toLowerCase()}`)]
}

/**
 * Requires a selector that is valid, is not empty and matches the template, for kinds that reject an invalid selector
 * as a whole.
 */
export function checkSelected(spec: Selecting, path: FieldPath, kind: string): FieldError[] {
  const { selector } = spec
  const place = child(path, 'selector')
  const malformed = isMalformed(selector)
  return [
    ...checkNotEmpty(selector, place, kind),
    ...(malformed ? [invalid(place, selector, 'invalid label selector')] : checkMatches(spec, path)),
  ]
}

/**
 * Returns the fields to skip in validation: the template, if its required labels are unknown because the selector is
 * invalid.
 */
export function templateUnjudged({ selector }: Selecting): readonly string[] {
  return isMalformed(selector) ? ['template'] : []
}

function isMalformed(selector: LabelSelector | undefined): boolean {
  return selector !== undefined && requirementsOf(selector) === undefined
}

/** Requires the pods to run indefinitely: restart policy `Always` and no deadline. */
export function checkRunsForever(spec: PodSpec = {}, path: FieldPath, kind: string): FieldError[] {
  const { restartPolicy = 'Always', activeDeadlineSeconds } = spec
  return [
    ...(restartPolicy === 'Always' ? [] : [notSupported(child(path, 'restartPolicy'), restartPolicy, ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [forbidden(child(path, 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ]
}

/**
 * Requires read-only GCE disks, because several nodes can mount such a disk only if it is read-only. Later Kubernetes
 * versions do not have this rule.
 */
export function checkSharedDisks(volumes: readonly Volume[] = [], path: FieldPath, context: RuleContext): FieldError[] {
  if (isAtLeast(emulationOf(context).version, '1.29')) return []
  const why = 'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
  return volumes.flatMap(({ gcePersistentDisk: disk }, i) =>
    disk && !disk.readOnly ? [invalid(child(at(path, i), 'gcePersistentDisk.readOnly'), false, why)] : [],
  )
}

/** Returns warnings about the pod template of a new or changed object. */
export function templateWarnings(
  template: PodTemplateSpec | undefined,
  path: FieldPath,
  context: RuleContext,
): string[] {
  return podWarnings({ spec: template?.spec, annotations: template?.metadata?.annotations }, path, context)
}

/** Returns a warning about the name of a new object if the hostnames of its pods would not be DNS labels. */
export function nameWarnings({ name = '' }: ObjectMeta, previous: object | undefined, context: RuleContext): string[] {
  if (previous !== undefined || !isAtLeast(emulationOf(context).version, '1.27')) return []
  const faults = checkDnsLabel(name)
  if (faults.length === 0) return []
  const why = 'this is used in Pod names and hostnames, which can result in surprising behavior'
  return [`metadata.name: ${why}; a DNS label is recommended: ${faults.join(', ')}`]
}

/** Returns the columns for container names and images, which only wide tables show. */
export function containerColumns<T>(templateOf: (object: T) => PodTemplateSpec | undefined): Column<T>[] {
  const listed = (part: 'name' | 'image') => (object: T) =>
    (templateOf(object)?.spec?.containers ?? []).map((one) => one[part] ?? '').join(',')
  return [
    column('Containers', 'Names of the containers.', listed('name'), 1),
    column('Images', 'Images of the containers.', listed('image'), 1),
  ]
}

/** Returns the column of the pod selector, which only wide tables show. */
export function selectorColumn<T>(selectorOf: (object: T) => LabelSelector | undefined): Column<T> {
  const doc = 'Label selector for the pods.'
  return column('Selector', doc, (object: T) => selectorText(selectorOf(object)) || '<none>', 1)
}

export function countColumn<T>(name: string, doc: string, count: (object: T) => number | undefined): Column<T> {
  return { ...column(name, doc, (object: T) => count(object) ?? 0), type: 'integer' }
}
