/** The flags of `orchctl get`, and what they mean for one type: where to look, and for which objects. */
import { flag, type OptionsOf, oneOf, text, toggle, UsageError } from '../../../base/flags.ts'
import type { CallOptions, Client } from '../../../client/client.ts'
import type { ObjectName, ResourceType, Selection } from '../../../client/resource-type.ts'
import type { Context } from '../../command.ts'
import { connectionFlags } from '../../connection-flags.ts'

export const getFlags = {
  allNamespaces: toggle('A,all-namespaces', 'in all namespaces'),
  selector: flag('l,selector', 'SELECTOR', '', text, 'only objects with these labels: a=b,c!=d,e in (f,g),h,!i'),
  fieldSelector: flag('field-selector', 'SELECTOR', '', text, 'only objects with these fields: metadata.name=a'),
  output: flag('o,output', 'FORMAT', '', oneOf(['', 'wide', 'json', 'yaml', 'name']), 'wide, json, yaml or name'),
  watch: toggle('w,watch', 'show what there is, and then every change, until Ctrl-C'),
  chunkSize: flag('chunk-size', 'NUMBER', '500', readCount, 'how many objects to ask for at a time; 0: all at once'),
  noHeaders: toggle('no-headers', 'without the line of headings'),
  showLabels: toggle('show-labels', 'with a column of all labels'),
  showManagedFields: toggle('show-managed-fields', 'in json and yaml, with the record of who owns which field'),
  ...connectionFlags,
}

export type GetOptions = OptionsOf<typeof getFlags>

/** What all ways of getting need to know. */
export interface Getting {
  readonly context: Context
  readonly options: GetOptions
  readonly client: Client
  readonly namespace: string
}

function readCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a number of objects`)
  return Number(value)
}

/** Where an object is whose name is known. */
export function placeOf({ namespace }: Getting, { namespaced }: ResourceType, name: string): ObjectName {
  return namespaced ? { namespace, name } : { name }
}

/** Which objects of a type the flags select. */
export function selectionOf(
  { context, options, namespace }: Getting,
  { namespaced }: ResourceType,
): Selection & CallOptions {
  return {
    ...(namespaced && !options.allNamespaces ? { namespace } : {}),
    ...(options.selector === '' ? {} : { labelSelector: options.selector }),
    ...(options.fieldSelector === '' ? {} : { fieldSelector: options.fieldSelector }),
    signal: context.signal,
  }
}
