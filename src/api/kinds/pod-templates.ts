/**
 * What kinds share that make pods from a template: how the template and the selector of its pods must fit together,
 * what is warned of, and the columns that show what is run.
 */
import { at, child, type FieldError, type FieldPath, forbidden, invalid, notSupported } from '../model/field-error.ts'
import type { Vendor } from '../model/vendor.ts'
import { type Column, column } from '../schema/columns.ts'
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

/** The pods that are made from the template are selected. A selector that makes no sense is for others to refuse. */
export function checkMatches({ selector, template }: Selecting, path: FieldPath): FieldError[] {
  const labels = template?.metadata?.labels
  if (selects(selector, labels) !== false) return []
  const place = child(path, 'template.metadata.labels')
  return [invalid(place, labels ?? {}, '`selector` does not match template `labels`')]
}

/** A selector of pods chooses some, not all. `kind` is for messages. */
export function checkNotEmpty(selector: LabelSelector | undefined, path: FieldPath, kind: string): FieldError[] {
  if (selector === undefined || !isEmptySelector(selector)) return []
  return [invalid(path, {}, `empty selector is invalid for ${kind.toLowerCase()}`)]
}

/** Both, for kinds that also report a selector that makes no sense as a whole. */
export function checkSelected(spec: Selecting, path: FieldPath, kind: string): FieldError[] {
  const { selector } = spec
  const place = child(path, 'selector')
  const malformed = isMalformed(selector)
  return [
    ...checkNotEmpty(selector, place, kind),
    ...(malformed ? [invalid(place, selector, 'invalid label selector')] : checkMatches(spec, path)),
  ]
}

/** With a selector that makes no sense there is no telling what the template should be: it is not judged. */
export function templateUnjudged({ selector }: Selecting): readonly string[] {
  return isMalformed(selector) ? ['template'] : []
}

function isMalformed(selector: LabelSelector | undefined): boolean {
  return selector !== undefined && requirementsOf(selector) === undefined
}

/** Pods that are kept running never end by themselves. */
export function checkRunsForever(spec: PodSpec = {}, path: FieldPath, kind: string): FieldError[] {
  const { restartPolicy = 'Always', activeDeadlineSeconds } = spec
  return [
    ...(restartPolicy === 'Always' ? [] : [notSupported(child(path, 'restartPolicy'), restartPolicy, ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [forbidden(child(path, 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ]
}

/** What pods on several nodes share of these disks they can only read. */
export function checkSharedDisks(volumes: readonly Volume[] = [], path: FieldPath): FieldError[] {
  const why = 'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
  return volumes.flatMap(({ gcePersistentDisk: disk }, i) =>
    disk && !disk.readOnly ? [invalid(child(at(path, i), 'gcePersistentDisk.readOnly'), false, why)] : [],
  )
}

/** The warnings about the template of an object that asks for something new. */
export function templateWarnings(
  template: PodTemplateSpec | undefined,
  { path, vendor }: { path: FieldPath; vendor: Vendor },
): string[] {
  return podWarnings({ spec: template?.spec, annotations: template?.metadata?.annotations }, path, vendor)
}

/** The names and the images of the containers; in wide tables alone. */
export function containerColumns<T>(templateOf: (object: T) => PodTemplateSpec | undefined): Column<T>[] {
  const listed = (part: 'name' | 'image') => (object: T) =>
    (templateOf(object)?.spec?.containers ?? []).map((one) => one[part] ?? '').join(',')
  return [
    column('Containers', 'The names of the containers.', listed('name'), 1),
    column('Images', 'The images of the containers.', listed('image'), 1),
  ]
}

/** The pods that count; in wide tables alone. */
export function selectorColumn<T>(selectorOf: (object: T) => LabelSelector | undefined): Column<T> {
  const doc = 'The labels of the pods that count.'
  return column('Selector', doc, (object: T) => selectorText(selectorOf(object)) || '<none>', 1)
}

export function countColumn<T>(name: string, doc: string, count: (object: T) => number | undefined): Column<T> {
  return { ...column(name, doc, (object: T) => count(object) ?? 0), type: 'integer' }
}
