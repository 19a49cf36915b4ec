/** Parses the selection of a list, watch or deletecollection request: namespace, name, labels and fields. */

import { parseOwnJson } from '../../../api/codec/json.ts'
import { badRequest } from '../../../api/model/api-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { FieldMatcher, type FieldRequirement, parseFieldSelector } from '../../../api/selectors/field-selector.ts'
import { LabelMatcher, parseLabelSelector } from '../../../api/selectors/label-selector.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Matches } from '../../../storage/cache/event.ts'
import type { IndexDemand } from '../../../storage/cache/selector-index.ts'
import type { Selection } from '../../../storage/cache/watcher.ts'
import type { Resource } from '../catalogue/resource.ts'

export interface SelectionQuery {
  /** The namespace. Undefined for all namespaces, or for a cluster-scoped kind. */
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly labelSelector: string
  readonly fieldSelector: string
}

/** A selection with selectors that are prepared for matching and for the index. */
export interface ParsedSelection extends Selection {
  /**
   * The label or field values that the selectors require. They allow an index to narrow the search. Undefined if no
   * index can help.
   */
  readonly demand: IndexDemand | undefined
}

/** Returns whether the selection restricts anything besides the namespace and may therefore exclude objects. */
export function isSelective({ name, matches }: Selection): boolean {
  return name !== undefined || matches !== undefined
}

/** Parses the label and field selectors. Throws 400 if a selector is invalid or uses an unsupported field. */
export function parseSelection(resource: Resource, query: SelectionQuery): ParsedSelection {
  const requirements = parseLabelSelector(query.labelSelector)
  const labels = new LabelMatcher(requirements)
  const fields = storedFields(resource, parseFieldSelector(query.fieldSelector))
  const byName = query.name ?? exactName(fields)
  return {
    namespace: query.namespace,
    name: byName,
    demand: demandOf(labels, fields),
    matches:
      requirements.length + fields.length === 0 ? undefined : matcher(resource, labels, new FieldMatcher(fields)),
  }
}

/**
 * Returns a label or field requirement that an index can evaluate, or undefined if there is none. Labels are preferred
 * because they usually match fewer objects.
 */
function demandOf({ choice }: LabelMatcher, fields: readonly FieldRequirement[]): IndexDemand | undefined {
  if (choice !== undefined) return { source: 'labels', ...choice }
  const field = fields.find(({ path, equal }) => equal && !placePaths.has(path))
  return field && { source: 'fields', key: field.path, values: new Set([field.value]) }
}

/** Fields that are part of an object's key and therefore need no index. */
const placePaths: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace'])

function matcher(resource: Resource, labels: LabelMatcher, fields: FieldMatcher): Matches {
  const { kind } = resource.stored ?? resource
  return (object) => labels.matches(object.selectable.labels) && fields.matches((path) => fieldOf(kind, object, path))
}

function fieldOf(kind: Kind, object: CachedObject, path: string): string | undefined {
  if (path === 'metadata.name') return object.name
  if (path === 'metadata.namespace') return object.namespace
  const { fields } = object.selectable
  if (fields !== undefined && Object.hasOwn(fields, path)) return fields[path]
  return kind.origin === 'custom' ? laterFields(kind, object)[path] : undefined
}

/** Caches the selectable fields of objects that were stored before their definition declared these fields. */
const computedFields = new WeakMap<CachedObject, { readonly kind: Kind; readonly fields: { [path: string]: string } }>()

function laterFields(kind: Kind, object: CachedObject): { readonly [path: string]: string } {
  const cachedFields = computedFields.get(object)
  if (cachedFields?.kind === kind) return cachedFields.fields
  const fields = kind.views.selectable?.(parseOwnJson(object.json) as unknown as ApiObject) ?? {}
  computedFields.set(object, { kind, fields })
  return fields
}

/**
 * Returns the name that a selector such as `metadata.name=a` requires. The object can then be looked up without a
 * search.
 */
function exactName(fields: readonly FieldRequirement[]): string | undefined {
  return fields.find(({ path, equal, value }) => path === 'metadata.name' && equal && value !== '')?.value
}

function storedFields(resource: Resource, fields: readonly FieldRequirement[]): readonly FieldRequirement[] {
  if (fields.length === 0) return fields
  const names = selectorNames(resource)
  return fields.map((field) => storedField(names, field))
}

/**
 * Converts the field of a requirement to its path in the storage version. Throws an error if the kind does not support
 * the field in selectors.
 */
function storedField(names: ReadonlyMap<string, string>, field: FieldRequirement): FieldRequirement {
  const path = names.get(field.path)
  if (path !== undefined) return path === field.path ? field : { ...field, path }
  const selectableNames = [...names.keys()].map((name) => `"${name}"`).join(', ')
  throw badRequest(`${JSON.stringify(shorten(field.path, 100))} is not a known field selector: only ${selectableNames}`)
}

/** Returns the fields that selectors support, with their paths in the storage version. */
function selectorNames(resource: Resource): Map<string, string> {
  const { kind, empty } = resource.stored ?? resource
  // A kind without selectable fields accepts `metadata.namespace` even if it is cluster-scoped. The value is then
  // empty.
  const placed = kind.scope === 'Namespaced' || kind.views.selectable === undefined
  const common = ['metadata.name', ...(placed ? ['metadata.namespace'] : [])]
  const own = resource.kind.selectorNames ?? sameNames(Object.keys(kind.views.selectable?.(empty) ?? {}))
  return new Map([...Object.entries(sameNames(common)), ...Object.entries(own)])
}

function sameNames(paths: readonly string[]): { [path: string]: string } {
  return Object.fromEntries(paths.map((path) => [path, path]))
}
