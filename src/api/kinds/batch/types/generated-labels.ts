/**
 * The selector and the pod labels that the server generates for a Job. The labels contain the name and the UID of the
 * Job. Since 1.27, there are also labels whose keys have a prefix.
 */
import { at, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkLabelValue } from '../../../model/names.ts'
import type { ObjectMeta } from '../../../model/object.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { selects } from '../../meta/selecting.ts'
import type { JobSpec } from './job-spec.ts'

interface LabeledJob {
  metadata: ObjectMeta
  spec?: JobSpec
}

/** Keys of the labels for the name and the UID of the Job. */
interface LabelKeys {
  readonly name: string
  readonly uid: string
}

const plainKeys: LabelKeys = { name: 'job-name', uid: 'controller-uid' }

function prefixedKeys(vendor: Vendor): LabelKeys {
  return { name: vendorKey(vendor, plainKeys.name, 'batch'), uid: vendorKey(vendor, plainKeys.uid, 'batch') }
}

/** Returns the label keys for a new Job. The selector uses the first pair of keys. */
function keysFor(context: RuleContext): readonly LabelKeys[] {
  return isAtLeast(emulationOf(context).version, '1.27') ? [prefixedKeys(context.vendor), plainKeys] : [plainKeys]
}

/** Returns the labels that identify the pods of a Job. */
function ownLabels({ metadata }: LabeledJob, keys: readonly LabelKeys[]): { [key: string]: string } {
  const { name = '', uid = '' } = metadata
  return Object.fromEntries(keys.flatMap((key) => [[key.name, name] as const, [key.uid, uid] as const]))
}

/**
 * Generates the selector and the pod labels of a Job. User-specified labels and selectors are preserved, and validation
 * rejects them if they differ from the generated ones. If the labels of the Job are a copy of the template's labels,
 * the copy is also updated.
 */
export function generateLabels(object: LabeledJob, context: RuleContext): void {
  const { spec = {}, metadata } = object
  const { template = {} } = spec
  const keys = keysFor(context)
  const labels = { ...ownLabels(object, keys), ...template.metadata?.labels }
  const matchLabels = { [keys[0]!.uid]: metadata.uid ?? '', ...spec.selector?.matchLabels }
  object.spec = {
    ...spec,
    selector: { ...spec.selector, matchLabels },
    template: { ...template, metadata: { ...template.metadata, labels } },
  }
  const follows = metadata.labels === undefined || metadata.labels === template.metadata?.labels
  // Copy the labels only if the Job's name is a valid label value. Otherwise, the same error would be reported for both
  // the Job and the template.
  if (follows && checkLabelValue(metadata.name ?? '').length === 0)
    object.metadata = { ...metadata, labels: { ...labels } }
}

/** Requires the generated selector and pod labels, unless the user manages them. */
export function checkGeneratedLabels(job: LabeledJob, previous: LabeledJob | undefined, context: RuleContext) {
  const { spec = {} } = job
  if (spec.manualSelector || spec.selector === undefined) return []
  const own = ownLabels(job, previous === undefined ? keysFor(context) : keysOf(previous, context))
  const labels = spec.template?.metadata?.labels ?? {}
  const path = 'spec.template.metadata.labels'
  return [
    ...(selects(spec.selector, own) === false
      ? [invalid('spec.selector', spec.selector, '`selector` not auto-generated')]
      : []),
    ...Object.entries(own).flatMap(([key, value]) => checkOwnLabel(labels[key], value, at(path, key))),
  ]
}

/** Returns the label keys of an existing Job, which may have been created before the keys had a prefix. */
function keysOf({ spec = {} }: LabeledJob, { vendor }: RuleContext): readonly LabelKeys[] {
  const labels = spec.template?.metadata?.labels ?? {}
  const prefixed = prefixedKeys(vendor)
  const hasBoth = Object.hasOwn(labels, prefixed.name) && Object.hasOwn(labels, prefixed.uid)
  return hasBoth ? [prefixed, plainKeys] : [plainKeys]
}

function checkOwnLabel(label: string | undefined, expected: string, path: FieldPath): FieldError[] {
  if (label === expected) return []
  const why = `must be '${expected}'`
  return [label === undefined ? required(path, why) : invalid(path, label, why)]
}
