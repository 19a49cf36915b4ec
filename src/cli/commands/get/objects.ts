/** `orchctl get` for programs: the objects themselves as JSON or YAML, or their names. */
import type { DiscoveredType } from '../../../client/discovery.ts'
import type { ApiObject } from '../../../model/object.ts'
import { asJson } from '../../../model/object.ts'
import { SeveralErrors } from '../../explain-error.ts'
import { singularName } from '../../find-type.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type DocumentFormat, listOf, printDocument, withoutManagedFields } from '../../printers/objects.ts'
import type { Target } from '../../targets.ts'
import type { Getting } from './getting.ts'
import { placeOf, selectionOf } from './getting.ts'

export type ObjectFormat = DocumentFormat | 'name'

/** Prints objects as documents: one as itself, several as a List. */
export async function getObjects(getting: Getting, targets: readonly Target[], format: ObjectFormat): Promise<void> {
  const { context } = getting
  const { found, errors } = await fetchAll(getting, targets)
  const one = targets.length === 1 && targets[0]!.name !== undefined
  if (format === 'name') context.out(found.map(({ type, object }) => nameLine(type, object)).join(''))
  else if (!one) context.out(await printDocument(listOf(found.map(({ object }) => object)), format))
  else if (found.length === 1) context.out(await printDocument(asJson(found[0]!.object), format))
  if (errors.length > 0) throw new SeveralErrors(errors)
}

interface Found {
  readonly type: DiscoveredType
  readonly object: ApiObject
}

async function fetchAll(getting: Getting, targets: readonly Target[]): Promise<{ found: Found[]; errors: unknown[] }> {
  const found: Found[] = []
  const errors: unknown[] = []
  for (const target of targets) {
    try {
      for (const object of (await fetchObjects(getting, target)).items)
        found.push({ type: target.type, object: trimmed(getting, object) })
    } catch (error) {
      getting.context.signal.throwIfAborted()
      errors.push(error)
    }
  }
  return { found, errors }
}

/** The objects of a target, and the version they were read at. */
export async function fetchObjects(
  getting: Getting,
  { type, name }: Target,
): Promise<{ items: ApiObject[]; resourceVersion: string }> {
  const { client, context, options } = getting
  if (name === undefined) return await client.list(type, { ...selectionOf(getting, type), limit: options.chunkSize })
  const object = await client.get(type, placeOf(getting, type, name), context)
  return { items: [object], resourceVersion: object.metadata.resourceVersion ?? '' }
}

/** The object as it is shown: without managed fields unless they are asked for. */
export function trimmed({ options }: Getting, object: ApiObject): ApiObject {
  return options.showManagedFields ? object : withoutManagedFields(object)
}

/** One line of `-o name`. */
export function nameLine(type: DiscoveredType, { metadata }: ApiObject): string {
  return `${singularName(type)}/${escapeLine(metadata.name ?? '')}\n`
}
