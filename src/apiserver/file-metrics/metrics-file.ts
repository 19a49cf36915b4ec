/**
 * The `--metrics-file` file: values of custom metrics, which belong to objects of the API, and of external metrics.
 *
 *     custom:
 *     - { metric: http_requests, value: "120", kind: Pod, namespace: default, selector: app=web }
 *     external:
 *     - { metric: queue_depth, value: "30", labels: { queue: orders } }
 */
import { isObject, type Json } from '../../api/json/json.ts'
import { child, type FieldError, type FieldPath, invalid } from '../../api/model/field-error.ts'
import { checkPathSegment } from '../../api/model/names.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { ConfigurationFault, readFields } from '../../api/schema/read-configuration.ts'
import { field, type InferFields, s } from '../../api/schema/schema.ts'
import { LabelMatcher, parseLabelSelector } from '../../api/selectors/label-selector.ts'
import { messageOf } from '../../base/text/errors.ts'

const valueFields = {
  metric: field(1, s.string(), { required: true, doc: 'Name of the metric.' }),
  value: field(2, s.quantity(), { required: true, doc: 'Value of the metric.' }),
  labels: field(3, s.map(s.string()), {
    doc: 'Labels of the metric. Clients can select metrics by these labels.',
  }),
  namespace: field(4, s.string(), { doc: 'Namespace of the metric. Defaults to all namespaces.' }),
}

const customFields = {
  ...valueFields,
  apiVersion: field(5, s.string(), { doc: 'API version of the objects. Defaults to `v1`.' }),
  kind: field(6, s.string(), { doc: 'Kind of the objects. Defaults to `Pod`.' }),
  name: field(7, s.string(), { doc: 'Name of the object. Defaults to all objects.' }),
  selector: field(8, s.string(), { doc: 'Label selector for the objects. Defaults to all objects.' }),
}

const fields = {
  custom: field(1, s.list(s.object(customFields, { check: checkCustom })), {
    doc: 'Metrics of objects. If several entries match an object, the first entry applies.',
  }),
  external: field(2, s.list(s.object(valueFields, { check: checkName })), { doc: 'Metrics of external systems.' }),
}

type CustomFields = InferFields<typeof customFields>
type ValueFields = InferFields<typeof valueFields>

function checkName({ metric = '' }: ValueFields, path: FieldPath): FieldError[] {
  // The schema reports a missing name.
  return metric === '' ? [] : checkPathSegment(metric).map((fault) => invalid(child(path, 'metric'), metric, fault))
}

function checkCustom(entry: CustomFields, path: FieldPath): FieldError[] {
  const { selector = '' } = entry
  try {
    parseLabelSelector(selector)
    return checkName(entry, path)
  } catch (error) {
    return [invalid(child(path, 'selector'), selector, messageOf(error))]
  }
}

/** An entry of the file: the name of a metric, with its value and labels. */
export interface MetricEntry {
  readonly metric: string
  readonly value: string
  readonly labels: { readonly [key: string]: string }
  /** The namespace to which the entry applies. If undefined, the entry applies to all namespaces. */
  readonly namespace: string | undefined
}

/** An entry for a custom metric, with the objects that have this value. */
export interface CustomEntry extends MetricEntry {
  readonly apiVersion: string
  readonly kind: string
  /** The name of the object to which the entry applies. If undefined, the entry applies to all objects. */
  readonly name: string | undefined
  readonly selector: LabelMatcher
}

/** The metrics of a file or a URL. */
export interface MetricsFile {
  readonly custom: readonly CustomEntry[]
  readonly external: readonly MetricEntry[]
}

/** A file without entries. */
export const noMetrics: MetricsFile = { custom: [], external: [] }

const maxEntries = 1000

/** Reads the file. Throws ConfigurationFault. */
export function readMetricsFile(document: Json, vendor: Vendor): MetricsFile {
  if (!isObject(document)) throw new ConfigurationFault('', 'the file must contain an object')
  const { custom = [], external = [] } = readFields(document, { vendor, fields })
  if (custom.length + external.length > maxEntries)
    throw new ConfigurationFault('', `the file must have at most ${maxEntries} entries`)
  return {
    custom: custom.map((entry) => ({
      ...entryOf(entry),
      apiVersion: entry.apiVersion || 'v1',
      kind: entry.kind || 'Pod',
      name: entry.name || undefined,
      selector: new LabelMatcher(parseLabelSelector(entry.selector ?? '')),
    })),
    external: external.map(entryOf),
  }
}

function entryOf({ metric = '', value = '', labels = {}, namespace }: ValueFields): MetricEntry {
  return { metric, value, labels, namespace: namespace || undefined }
}
