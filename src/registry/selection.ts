/** Which objects a list, watch or deletecollection means: by namespace, name, labels and fields. */
import { shorten } from '../base/shorten.ts'
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
  const fields = parseFieldSelector(query.fieldSelector)
  for (const { path } of fields) assertSelectable(resource, path)
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

function assertSelectable(resource: Resource, path: string): void {
  const { kind, empty } = resource.stored ?? resource
  const own = Object.keys(kind.selectable?.(empty) ?? {})
  const known = ['metadata.name', ...(kind.scope === 'Namespaced' ? ['metadata.namespace'] : []), ...own]
  if (!known.includes(path)) {
    throw badRequest(
      `${JSON.stringify(shorten(path, 100))} is not a known field selector: only ${known.map((name) => `"${name}"`).join(', ')}`,
    )
  }
}
