/**
 * Implements `orchctl get --count`, which counts objects. The command requests a single object, and the server reports
 * the number of remaining objects. A server without support for the `count` parameter reports that number only for
 * lists without selectors. For lists with selectors, the command then lists the metadata of all objects and counts
 * them.
 */

import { groupName, profileNames, vendorOf } from '../../../../api/model/vendor.ts'
import { collectionPath } from '../../../../client/requests/resource-type.ts'
import { selectionOf } from '../../arguments/subjects.ts'
import type { Target } from '../../arguments/targets.ts'
import { singularName } from '../../connection/find-type.ts'
import { Columns } from '../../printers/columns.ts'
import type { Getting } from './get-flags.ts'

export async function countTargets(getting: Getting, targets: readonly Target[]): Promise<void> {
  const counts: [string, number][] = []
  for (const target of targets) counts.push([singularName(target.type), await countOf(getting, target)])
  const { context } = getting
  if (counts.length === 1) context.out(`${counts[0]![1]}\n`)
  else context.out(new Columns().lines([['TYPE', 'COUNT'], ...counts.map(([type, count]) => [type, String(count)])]))
}

interface Page {
  readonly metadata?: { readonly continue?: string; readonly remainingItemCount?: number }
  readonly items?: readonly unknown[] | null
}

const metadataOnly = [
  ...profileNames.map(
    (name) => `application/json;as=PartialObjectMetadataList;g=${groupName(vendorOf(name), 'meta')};v=v1`,
  ),
  'application/json',
].join(',')

async function countOf(getting: Getting, { type }: Target): Promise<number> {
  const { client, context, options } = getting
  const { namespace, ...selection } = selectionOf(getting, type, options) as { namespace?: string }
  const path = collectionPath(type, namespace)
  let count = 0
  let continueToken: string | undefined
  for (let limit = 1; ; limit = options.chunkSize || 500) {
    const query = { ...selection, signal: undefined, count: 'true', limit, continue: continueToken }
    const page = await client.read<Page>(path, { accept: metadataOnly, query, signal: context.signal })
    count += page.items?.length ?? 0
    continueToken = page.metadata?.continue || undefined
    if (page.metadata?.remainingItemCount !== undefined) return count + page.metadata.remainingItemCount
    if (continueToken === undefined) return count
  }
}
