/**
 * Implements the machine-readable output of `orchctl get`: prints objects as JSON or YAML, or fills templates with
 * them.
 */

import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { isNotFound } from '../../../../client/requests/status-error.ts'
import { selectionOf } from '../../arguments/subjects.ts'
import type { Target } from '../../arguments/targets.ts'
import { singularName } from '../../connection/find-type.ts'
import { objectNameIn } from '../../connection/session.ts'
import { withNameSuggestion } from '../../connection/suggest-name.ts'
import { bytesToWrite } from '../../printers/byte-text.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { listOf, printDocument, withoutManagedFields } from '../../printers/objects.ts'
import { customRows, type Output } from '../../printers/output.ts'
import { fillTemplate, type TemplateOptions } from '../../printers/templates.ts'
import { SeveralErrors } from '../../program/explain-error.ts'
import type { Getting } from './get-flags.ts'

/** Prints objects as documents. A single object is printed unchanged, and several objects are printed as a List. */
export async function getObjects(getting: Getting, targets: readonly Target[], output: Output): Promise<void> {
  const { context, options } = getting
  const { foundObjects, errors } = await fetchAll(getting, targets)
  const one = targets.length === 1 && targets[0]!.name !== undefined
  const sorted = options.sortBy === '' ? foundObjects : await sortFound(foundObjects, options.sortBy)
  context.out(bytesToWrite(await print({ foundObjects: sorted, one }, output, options)))
  if (errors.length > 0) throw new SeveralErrors(errors)
}

interface Found {
  readonly type: DiscoveredType
  readonly object: ApiObject
}

async function sortFound(foundObjects: readonly Found[], path: string): Promise<Found[]> {
  const { sortedBy } = await import('./sort.ts')
  return sortedBy(foundObjects, path, ({ object }) => asJson(object))
}

interface Result {
  readonly foundObjects: readonly Found[]
  /** Whether the user requested a single object by name. */
  readonly one: boolean
}

async function print(
  { foundObjects, one }: Result,
  output: Output,
  options: TemplateOptions & { readonly noHeaders: boolean },
): Promise<string> {
  if (output.form === 'name') return foundObjects.map(({ type, object }) => nameLine(type, object)).join('')
  const objects = foundObjects.map(({ object }) => object)
  if (output.form === 'custom-columns') {
    if (one && objects.length === 0) return ''
    const rows = await customRows(output.columns, objects.map(asJson))
    return new Columns().lines(
      [...(options.noHeaders ? [] : [output.columns.map(({ heading }) => heading)]), ...rows].map((row) =>
        row.map(escapeLine),
      ),
    )
  }
  if (one && objects.length === 0) return ''
  const document = one ? asJson(objects[0]!) : listOf(objects)
  if (output.form === 'template') return await fillTemplate(output, document, options)
  return await printDocument(document, output.form === 'json' ? 'json' : 'yaml')
}

async function fetchAll(
  getting: Getting,
  targets: readonly Target[],
): Promise<{ foundObjects: Found[]; errors: unknown[] }> {
  const foundObjects: Found[] = []
  const errors: unknown[] = []
  for (const target of targets) {
    try {
      for (const object of (await fetchObjects(getting, target)).items)
        foundObjects.push({ type: target.type, object: trimmed(getting, object) })
    } catch (error) {
      getting.context.signal.throwIfAborted()
      if (!(getting.options.ignoreNotFound && isNotFound(error)))
        errors.push(await withNameSuggestion(getting, target, error))
    }
  }
  return { foundObjects, errors }
}

/** Fetches the objects of a target. Also returns the resourceVersion at which they were read. */
export async function fetchObjects(
  getting: Getting,
  { type, name, namespace = getting.namespace }: Target,
): Promise<{ items: ApiObject[]; resourceVersion: string }> {
  const { client, context, options } = getting
  if (options.at !== '') {
    const { fetchPast } = await import('./get-at-revision.ts')
    return { items: await fetchPast(getting, { type, name, namespace }), resourceVersion: '' }
  }
  if (name === undefined)
    return await client.list(type, {
      ...selectionOf(getting, type, options),
      ...(options.fields !== '' && { fields: options.fields }),
      ...(options.serverSort !== '' && { sort: options.serverSort }),
      limit: options.chunkSize,
    })
  const part = options.subresource === '' ? {} : { subresource: options.subresource }
  const object = await client.get(type, objectNameIn({ namespace }, type, name), { signal: context.signal, ...part })
  return { items: [object], resourceVersion: object.metadata.resourceVersion ?? '' }
}

/** Returns the object to print. In JSON and YAML, omits managed fields unless the user requests them. */
export function trimmed({ options }: Getting, object: ApiObject): ApiObject {
  const isDocument = options.output.form === 'json' || options.output.form === 'yaml'
  return isDocument && !options.showManagedFields ? withoutManagedFields(object) : object
}

/** Returns the `-o name` line for an object, for example `configmap/a`. */
export function nameLine(type: DiscoveredType, { metadata }: ApiObject): string {
  return `${singularName(type)}/${escapeLine(metadata.name ?? '')}\n`
}
