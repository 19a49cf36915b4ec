/** Which objects a list, watch or deletecollection means: by namespace, name, labels and fields. */
import type { CachedObject } from '../cache/cached-object.ts'
import type { Matches } from '../cache/event.ts'
import type { LabelDemand } from '../cache/label-index.ts'
import type { Selection } from '../cache/watcher.ts'
import { badRequest } from '../model/api-error.ts'
import { type FieldRequirement, matchesFields, parseFieldSelector } from '../model/field-selector.ts'
import { matchesLabels, parseLabelSelector, type Requirement } from '../model/label-selector.ts'
import type { Resource } from './resource.ts'

export interface SelectionQuery {
  /** Undefined: all namespaces, or a kind without. */
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly labelSelector: string
  readonly fieldSelector: string
}

export interface ParsedSelection extends Selection {
  readonly labels: readonly Requirement[]
  readonly fields: readonly FieldRequirement[]
  /** The part of the labels that an index can answer. */
  readonly demand: LabelDemand | undefined
}

export function parseSelection(resource: Resource, query: SelectionQuery): ParsedSelection {
  const labels = parseLabelSelector(query.labelSelector)
  const fields = parseFieldSelector(query.fieldSelector).map((field) => storedField(resource, field))
  const byName = query.name ?? exactName(fields)
  return {
    namespace: query.namespace,
    name: byName,
    labels,
    fields,
    demand: labels.find((label) => label.op === 'in'),
    matches: matcher(labels, fields),
  }
}

function matcher(labels: readonly Requirement[], fields: readonly FieldRequirement[]): Matches | undefined {
  if (labels.length === 0 && fields.length === 0) return undefined
  return (object) =>
    matchesLabels(labels, object.selectable.labels) && matchesFields(fields, (path) => fieldOf(object, path))
}

function fieldOf(object: CachedObject, path: string): string | undefined {
  if (path === 'metadata.name') return object.name
  if (path === 'metadata.namespace') return object.namespace
  return object.selectable.fields?.[path]
}

/** `metadata.name=a` selects one object, which needs no search. */
function exactName(fields: readonly FieldRequirement[]): string | undefined {
  return fields.find(({ path, equal, value }) => path === 'metadata.name' && equal && value !== '')?.value
}

/** A selector as it is looked up: by the path of the stored version, if this version knows the one that it names. */
function storedField(resource: Resource, field: FieldRequirement): FieldRequirement {
  const names = selectorNames(resource)
  const path = names.get(field.path)
  if (path !== undefined) return { ...field, path }
  const known = [...names.keys()].map((name) => `"${name}"`).join(', ')
  throw badRequest(`${JSON.stringify(field.path.slice(0, 100))} is not a known field selector: only ${known}`)
}

/** What selectors may name, and what the stored version calls that. */
function selectorNames(resource: Resource): Map<string, string> {
  const { kind, empty } = resource.stored ?? resource
  const common = ['metadata.name', ...(kind.scope === 'Namespaced' ? ['metadata.namespace'] : [])]
  const own = resource.kind.selectorNames ?? sameNames(Object.keys(kind.selectable?.(empty) ?? {}))
  return new Map([...Object.entries(sameNames(common)), ...Object.entries(own)])
}

function sameNames(paths: readonly string[]): { [path: string]: string } {
  return Object.fromEntries(paths.map((path) => [path, path]))
}
