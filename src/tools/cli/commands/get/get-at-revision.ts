/** Implements `orchctl get --at`, which shows objects at a past revision or time in a short table. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { Target } from '../../arguments/targets.ts'
import { stateAt } from '../../connection/object-history.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import type { GetOptions, Getting } from './get-flags.ts'

/** Rejects flags that cannot be combined with `--at`. */
export function checkPast({ selector, fieldSelector, watch, watchOnly }: GetOptions): void {
  if (selector !== '' || fieldSelector !== '') throw new UsageError('--at cannot be combined with selectors')
  if (watch || watchOnly) throw new UsageError('--at cannot be combined with -w')
}

export async function fetchPast(getting: Getting, { type, name = '', namespace }: Target): Promise<ApiObject[]> {
  const { options } = getting
  const place = !type.namespaced || options.allNamespaces ? '' : (namespace ?? getting.namespace)
  return await stateAt(getting, { type, name, namespace: place }, options.at)
}

/** Builds the table locally, because the server does not build tables of past states. */
export async function showPast(getting: Getting, targets: readonly Target[]): Promise<void> {
  const { options, context } = getting
  const rows: string[][] = []
  for (const target of targets)
    for (const object of await fetchPast(getting, target)) {
      const { namespace = '', name = '', resourceVersion = '' } = object.metadata
      const nameText = targets.length > 1 ? `${target.type.singular || target.type.plural}/${name}` : name
      rows.push([...(options.allNamespaces ? [namespace] : []), nameText, resourceVersion].map(escapeLine))
    }
  const headings = [...(options.allNamespaces ? ['NAMESPACE'] : []), 'NAME', 'REVISION']
  if (rows.length === 0) return context.err('No resources found at that time.\n')
  context.out(new Columns().lines(options.noHeaders ? rows : [headings, ...rows]))
}
